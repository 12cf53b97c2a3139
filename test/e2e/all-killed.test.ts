/** Everything killed at once and started in any order: it converges. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployments } from '../../machinery/client/resource-type.ts';
import { seededRandom } from '../../machinery/process/random.ts';
import { startTestCluster } from '../fixtures/cluster.ts';
import { complete, deployment } from '../fixtures/workloads.ts';

test('everything killed in the middle of a rollout and started in a random order converges', async (t) => {
  const seed = Number(process.env.FLYBALL_SEED ?? Date.now() % 1e6);
  t.diagnostic(`seed ${seed}`);
  const random = seededRandom(seed);
  const { cluster, client } = await startTestCluster(t);
  await client.create(deployments, deployment('web', { replicas: 6 }));
  await complete(client, 'web');

  for (let round = 1; round <= 2; round++) {
    const image = `registry.example/web:${round + 1}`;
    await client.patch(deployments, { namespace: 'default', name: 'web' }, 'application/strategic-merge-patch+json', {
      spec: { template: { spec: { containers: [{ name: 'web', image }] } } },
    });
    await new Promise((resolve) => setTimeout(resolve, random.integer(200)));
    const names = (await cluster.processes()).map((process) => process.name);
    await Promise.all(names.map((name) => cluster.kill(name)));
    assert.ok((await cluster.processes()).every((process) => process.state === 'dead'));

    const order = names.map((name) => ({ name, at: random.next() })).sort((a, b) => a.at - b.at);
    t.diagnostic(`order ${order.map(({ name }) => name).join(' ')}`);
    // not awaited one by one: a component is ready only when the API server is
    await Promise.all(order.map(({ name }) => cluster.start(name)));
    const live = await complete(client, 'web');
    assert.ok(live.every((pod) => pod.spec.containers[0]!.image === image));
  }
});
