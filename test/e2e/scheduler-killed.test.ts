/** A dead scheduler: what runs keeps running, what is new waits, and nobody has to tell the restarted one anything. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployments } from '../../machinery/client/resource-type.ts';
import { startTestCluster } from '../fixtures/cluster.ts';
import { eventually } from '../fixtures/eventually.ts';
import { complete, deployment, isReady, podsOf } from '../fixtures/workloads.ts';

test('with the scheduler killed running pods stay Ready and new ones stay Pending; started again, they run', async (t) => {
  const { cluster, client } = await startTestCluster(t);
  await client.create(deployments, deployment('web'));
  const before = new Set((await complete(client, 'web')).map((pod) => pod.metadata.uid));

  await cluster.kill('scheduler');
  await client.patch(deployments, { namespace: 'default', name: 'web' }, 'application/merge-patch+json', { spec: { replicas: 5 } });
  const all = await eventually('there are two more pods', async () => {
    const items = await podsOf(client, 'web');
    return items.length === 5 && items;
  });
  for (const pod of all) {
    if (before.has(pod.metadata.uid)) assert.ok(isReady(pod), `${pod.metadata.name} kept running`);
    else assert.equal(`${pod.status?.phase} ${pod.spec.nodeName ?? 'nowhere'}`, 'Pending nowhere');
  }

  await cluster.start('scheduler');
  const after = await complete(client, 'web');
  assert.equal(after.filter((pod) => before.has(pod.metadata.uid)).length, 3, 'the first three were left alone');
});
