/** Controllers killed at any moment of a rollout: it completes after the restart, never with more pods than allowed, none orphaned. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployments, pods, replicasets } from '../../machinery/client/resource-type.ts';
import { seededRandom } from '../../machinery/process/random.ts';
import { startTestCluster } from '../fixtures/cluster.ts';
import { watchPodBound } from '../fixtures/pod-bound.ts';
import { complete, deployment } from '../fixtures/workloads.ts';

const REPLICAS = 8;
const SURGE = 2; // 25% of 8
const ROUNDS = 5;

test('a rollout survives its controllers being killed at random moments', async (t) => {
  const seed = Number(process.env.FLYBALL_SEED ?? Date.now() % 1e6);
  t.diagnostic(`seed ${seed}`);
  const random = seededRandom(seed);
  const { cluster, client } = await startTestCluster(t);
  await client.create(deployments, deployment('web', { replicas: REPLICAS }));
  await complete(client, 'web');
  const bound = await watchPodBound(client, 'web');

  for (let round = 1; round <= ROUNDS; round++) {
    const patch = { spec: { template: { spec: { containers: [{ name: 'web', image: `registry.example/web:${round + 1}` }] } } } };
    await client.patch(deployments, { namespace: 'default', name: 'web' }, 'application/strategic-merge-patch+json', patch);
    for (let kill = 0; kill < 2; kill++) {
      await new Promise((resolve) => setTimeout(resolve, random.integer(150)));
      await cluster.kill('controllers');
      await cluster.start('controllers');
    }
    const live = await complete(client, 'web');
    assert.ok(
      live.every((pod) => pod.spec.containers[0]!.image === `registry.example/web:${round + 1}`),
      `round ${round} arrived`,
    );
  }

  const { items } = await client.list(pods, { namespace: 'default' });
  await bound.reached(Math.max(...items.map((pod) => Number(pod.metadata.resourceVersion))));
  await bound.stop();
  assert.ok(bound.most() <= REPLICAS + SURGE, `at most ${REPLICAS + SURGE} pods at any revision, there were ${bound.most()}`);

  const sets = new Set((await client.list(replicasets, { namespace: 'default' })).items.map((set) => set.metadata.uid));
  const orphans = (await client.list(pods, { namespace: 'default' })).items.filter(
    (pod) => !pod.metadata.ownerReferences?.some((owner) => sets.has(owner.uid)),
  );
  assert.deepEqual(
    orphans.map((pod) => pod.metadata.name),
    [],
  );
});
