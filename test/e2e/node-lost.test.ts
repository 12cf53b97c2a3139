/** A killed kubelet: its node goes NotReady after the grace period and its pods move; back within the grace period, nothing moves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node, Pod } from '../../machinery/api/types/core.v1.ts';
import { deployments, nodes } from '../../machinery/client/resource-type.ts';
import { startTestCluster } from '../fixtures/cluster.ts';
import { eventually } from '../fixtures/eventually.ts';
import { complete, deployment, isReady, isTerminating, podsOf } from '../fixtures/workloads.ts';

const GRACE_S = 8;

function tolerating(seconds: number): ReturnType<typeof deployment> {
  const web = deployment('web');
  const keys = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
  web.spec.template.spec!.tolerations = keys.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds }));
  return web;
}

const readyStatus = (node: Node): string | undefined => node.status?.conditions?.find((c) => c.type === 'Ready')?.status;
const on = (items: readonly Pod[], node: string): Pod[] => items.filter((pod) => pod.spec.nodeName === node);

test('pods of a lost node are evicted after their toleration and replaced elsewhere; a node back in time keeps its pods', async (t) => {
  const { cluster, client } = await startTestCluster(t, {
    flags: {
      controllers: [`--node-monitor-grace-period=${GRACE_S}s`, '--node-monitor-period=500ms', '--node-eviction-rate=10'],
      kubelet: ['--node-lease-duration-seconds=4', '--node-status-update-frequency=1s'],
    },
  });
  await client.create(deployments, tolerating(1));
  const before = await complete(client, 'web');

  await t.test('back within the grace period nothing moves', async () => {
    await cluster.kill('node-1');
    await cluster.start('node-1');
    await eventually(
      'the node has renewed its lease since',
      async () => readyStatus(await client.get(nodes, { name: 'node-1' })) === 'True',
    );
    const after = await complete(client, 'web');
    const identity = (items: readonly Pod[]): string[] =>
      items.map((p) => `${p.metadata.uid} ${p.status!.containerStatuses![0]!.restartCount}`).sort();
    assert.deepEqual(identity(after), identity(before), 'the same pods, not one container restarted');
  });

  await t.test('past the grace period the node is Unknown, tainted, and its pods move', async () => {
    await cluster.kill('node-1');
    const node = await eventually('node-1 is not Ready', async () => {
      const found = await client.get(nodes, { name: 'node-1' });
      return readyStatus(found) === 'Unknown' && found;
    });
    const ready = node.status!.conditions!.find((c) => c.type === 'Ready')!;
    assert.equal(ready.reason, 'NodeStatusUnknown');
    assert.equal(ready.message, 'Kubelet stopped posting node status.');
    await eventually('the pod of node-1 is terminating and three others are Ready', async () => {
      const items = await podsOf(client, 'web');
      const live = items.filter((pod) => !isTerminating(pod));
      return on(items, 'node-1').every(isTerminating) && live.length === 3 && live.every(isReady) && on(live, 'node-1').length === 0;
    });
  });

  await t.test('when the kubelet is back the node is Ready, untainted, and what was evicted is gone', async () => {
    await cluster.start('node-1');
    await eventually('node-1 is Ready without taints and the evicted pod is gone', async () => {
      const found = await client.get(nodes, { name: 'node-1' });
      const left = on(await podsOf(client, 'web'), 'node-1').filter(isTerminating);
      return readyStatus(found) === 'True' && (found.spec.taints ?? []).length === 0 && left.length === 0;
    });
  });
});
