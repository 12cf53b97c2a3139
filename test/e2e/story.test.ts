/** The whole story: one object becomes three Ready pods; what is deleted comes back or goes entirely. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../../machinery/api/types/core.v1.ts';
import { deployments, endpointslices, events, nodes, pods, replicasets, services } from '../../machinery/client/resource-type.ts';
import { startTestCluster } from '../fixtures/cluster.ts';
import { eventually } from '../fixtures/eventually.ts';
import { complete, deployment, isTerminating, podsOf } from '../fixtures/workloads.ts';

const service: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'hello', namespace: 'default' },
  spec: { selector: { app: 'hello' }, ports: [{ port: 80, targetPort: 8080 }] },
};

test('one Deployment becomes Ready pods on every node, heals, and goes with all that is its own', async (t) => {
  const { client } = await startTestCluster(t);
  await eventually('every node takes pods', async () => {
    const { items } = await client.list(nodes);
    return items.length === 3 && items.every((node) => (node.spec.taints ?? []).length === 0);
  });
  await client.create(services, service);
  await client.create(deployments, deployment('hello'));

  const first = await complete(client, 'hello');
  assert.deepEqual(new Set(first.map((pod) => pod.spec.nodeName)), new Set(['node-1', 'node-2', 'node-3']), 'one pod on each node');
  const ips = first.map((pod) => pod.status!.podIP!).sort();
  assert.equal(new Set(ips).size, 3, 'every pod has an address of its own');
  const available = (await client.get(deployments, { namespace: 'default', name: 'hello' })).status?.conditions?.find(
    (c) => c.type === 'Available',
  );
  assert.equal(available?.status, 'True');

  await eventually('the EndpointSlice lists the pods', async () => {
    const { items } = await client.list(endpointslices, { namespace: 'default', labelSelector: 'kubernetes.io/service-name=hello' });
    const listed = items.flatMap((slice) => (slice.endpoints ?? []).filter((e) => e.conditions?.ready).flatMap((e) => e.addresses));
    return listed.length === 3 && listed.sort().join() === ips.join();
  });

  await t.test('a deleted pod is replaced and placed', async () => {
    const victim = first[0]!;
    await client.delete(pods, { namespace: 'default', name: victim.metadata.name! });
    const now = await complete(client, 'hello');
    assert.ok(now.every((pod) => pod.metadata.uid !== victim.metadata.uid));
  });

  await t.test('orphan keeps the ReplicaSet and its pods, and a new Deployment adopts them', async () => {
    const before = new Set((await complete(client, 'hello')).map((pod) => pod.metadata.uid));
    await client.delete(deployments, { namespace: 'default', name: 'hello' }, { propagationPolicy: 'Orphan' });
    await eventually('the Deployment is gone and its ReplicaSet has no owner', async () => {
      const gone = (await client.list(deployments, { namespace: 'default' })).items.length === 0;
      const { items } = await client.list(replicasets, { namespace: 'default', labelSelector: 'app=hello' });
      return gone && items.length === 1 && (items[0]!.metadata.ownerReferences ?? []).length === 0;
    });
    await client.create(deployments, deployment('hello'));
    const after = await complete(client, 'hello');
    assert.deepEqual(new Set(after.map((pod) => pod.metadata.uid)), before, 'the same pods, not one restarted');
  });

  await t.test('foreground deletion ends only when the dependents are gone', async () => {
    await client.delete(deployments, { namespace: 'default', name: 'hello' }, { propagationPolicy: 'Foreground' });
    await eventually('the Deployment is gone', async () => (await client.list(deployments, { namespace: 'default' })).items.length === 0);
    assert.equal((await client.list(replicasets, { namespace: 'default', labelSelector: 'app=hello' })).items.length, 0);
    assert.equal((await podsOf(client, 'hello')).filter((pod) => !isTerminating(pod)).length, 0);
  });

  await t.test('background deletion takes ReplicaSet and pods along afterwards', async () => {
    await client.create(deployments, deployment('hello'));
    await complete(client, 'hello');
    await client.delete(deployments, { namespace: 'default', name: 'hello' });
    await eventually('nothing of it is left', async () => {
      const sets = await client.list(replicasets, { namespace: 'default', labelSelector: 'app=hello' });
      return sets.items.length === 0 && (await podsOf(client, 'hello')).length === 0;
    });
  });

  await t.test('a pod that fits nowhere stays Pending and says why', async () => {
    const big = deployment('big', { replicas: 1 });
    big.spec.template.spec!.containers[0]!.resources = { requests: { cpu: '1000' } };
    await client.create(deployments, big);
    const condition = await eventually('the pod has a PodScheduled condition', async () =>
      (await podsOf(client, 'big'))[0]?.status?.conditions?.find((c) => c.type === 'PodScheduled'),
    );
    assert.equal(condition.status, 'False');
    assert.equal(condition.reason, 'Unschedulable');
    assert.match(condition.message!, /^0\/3 nodes are available: 3 Insufficient cpu\./);
    await eventually('there is a FailedScheduling event', async () =>
      (await client.list(events, { namespace: 'default' })).items.some((event) => event.reason === 'FailedScheduling'),
    );
  });
});
