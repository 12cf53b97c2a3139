/** The scheduler and kubelets against a real API server, all in this process: pods are placed, run, log, survive a restart of their kubelet, and go. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type KubeletOptions, kubeletOptions } from '../../kubelet/options.ts';
import { startKubelet } from '../../kubelet/start.ts';
import type { Node, Pod } from '../../machinery/api/types/core.v1.ts';
import { leases, nodes, pods, serviceaccounts } from '../../machinery/client/resource-type.ts';
import { systemClock } from '../../machinery/process/clock.ts';
import type { RunningComponent } from '../../machinery/process/component.ts';
import { silentLogger } from '../../machinery/process/logger.ts';
import { optionsWith } from '../../machinery/process/options.ts';
import { systemRandom } from '../../machinery/process/random.ts';
import { schedulerOptions } from '../../scheduler/options.ts';
import { startScheduler } from '../../scheduler/start.ts';
import { startTestApiServer, type TestApiServer } from '../fixtures/apiserver.ts';
import { eventually } from '../fixtures/eventually.ts';

const NAMES = ['n-0', 'n-1', 'n-2'];

function deps() {
  return { clock: systemClock, random: systemRandom, logger: silentLogger, signal: new AbortController().signal };
}

async function kubelet(server: TestApiServer, name: string, options: Partial<KubeletOptions> = {}): Promise<RunningComponent> {
  const running = await startKubelet(
    optionsWith(kubeletOptions, {
      kubeconfig: join(server.dataDir, 'kubeconfigs', `${name}.kubeconfig`),
      nodeName: name,
      rootDir: join(server.dataDir, 'kubelet'),
      port: 0,
      healthzPort: 0,
      ...options,
    }),
    deps(),
  );
  await running.ready;
  return running;
}

async function setUp(t: TestContext) {
  const server = await startTestApiServer(t, { issueKubeconfigs: NAMES });
  await server.client.create(serviceaccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { namespace: 'default', name: 'default' },
  });
  const kubelets = new Map<string, RunningComponent>();
  for (const name of NAMES) kubelets.set(name, await kubelet(server, name));
  // No controllers here: what would take the taint of new nodes away.
  for (const name of NAMES) await server.client.patch(nodes, { name }, 'application/merge-patch+json', { spec: { taints: null } });
  const scheduler = await startScheduler(
    optionsWith(schedulerOptions, { kubeconfig: server.kubeconfigPath, securePort: 0, leaderElect: false }),
    deps(),
  );
  await scheduler.ready;
  t.after(async () => {
    await scheduler.stop();
    for (const running of kubelets.values()) await running.stop();
    await server.stop();
  });
  return { server, kubelets };
}

const makePod = (name: string, spec: Partial<Pod['spec']> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name, labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: 'registry.example/web:1' }], ...spec },
});

test('pods are placed over the nodes, run, and go when deleted; a kubelet that was away finds its own again', async (t) => {
  const { server, kubelets } = await setUp(t);
  const { client } = server;
  const spreading = [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'DoNotSchedule' as const,
      labelSelector: { matchLabels: { app: 'web' } },
    },
  ];
  for (let i = 0; i < 6; i++) await client.create(pods, makePod(`p-${i}`, { topologySpreadConstraints: spreading }));
  const running = async (): Promise<Pod[]> =>
    (await client.list(pods, { namespace: 'default' })).items.filter((pod) => pod.status?.phase === 'Running');
  const all = await eventually('six pods run', async () => {
    const found = await running();
    return found.length === 6 && found;
  });
  for (const name of NAMES) assert.equal(all.filter((pod) => pod.spec.nodeName === name).length, 2, name);
  assert.equal(new Set(all.map((pod) => pod.status?.podIP)).size, 6, 'every pod has an address of its own');

  const log = await client.raw({ method: 'GET', path: '/api/v1/namespaces/default/pods/p-0/log' });
  assert.equal(log.body.toString(), 'c of pod p-0 started\n');

  const home = all[0]?.spec.nodeName as string;
  await kubelets.get(home)?.stop();
  const gone = all.find((pod) => pod.spec.nodeName === home && pod !== all[0]) as Pod;
  await client.delete(pods, { namespace: 'default', name: gone.metadata.name as string });
  kubelets.set(home, await kubelet(server, home));
  await eventually('the pod deleted meanwhile is gone', async () => (await client.list(pods, { namespace: 'default' })).items.length === 5);
  const same = await client.get(pods, { namespace: 'default', name: all[0]?.metadata.name as string });
  assert.deepEqual(same.status?.containerStatuses, all[0]?.status?.containerStatuses);

  await client.deleteCollection(pods, { namespace: 'default' });
  await eventually('all pods are gone', async () => (await client.list(pods, { namespace: 'default' })).items.length === 0);
});

test('a pod that fits nowhere says why, and is placed once a node has room', async (t) => {
  const { server } = await setUp(t);
  const { client } = server;
  await client.create(
    pods,
    makePod('big', {
      containers: [{ name: 'c', image: 'web', resources: { requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '1' } } }],
    }),
  );
  const message = await eventually('it says why', async () => {
    const pod = await client.get(pods, { namespace: 'default', name: 'big' });
    return pod.status?.conditions?.find((condition) => condition.reason === 'Unschedulable')?.message;
  });
  assert.equal(
    message,
    '0/3 nodes are available: 3 Insufficient example.com/gpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
  );
  const patch = { status: { capacity: { 'example.com/gpu': '1' }, allocatable: { 'example.com/gpu': '1' } } };
  await client.patch<Node>(nodes, { name: 'n-1' }, 'application/merge-patch+json', patch, { subresource: 'status' });
  const placed = await eventually('it is placed', async () => {
    const pod = await client.get(pods, { namespace: 'default', name: 'big' });
    return pod.status?.phase === 'Running' && pod;
  });
  assert.equal(placed.spec.nodeName, 'n-1');
});

test('a Node made by hand is run by one of the kubelets that adopt', async (t) => {
  const { server, kubelets } = await setUp(t);
  const { client } = server;
  for (const name of NAMES) {
    await kubelets.get(name)?.stop();
    kubelets.set(name, await kubelet(server, name, { adoptNodes: true }));
  }
  const node: Node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'by-hand', labels: { 'kubernetes.io/hostname': 'by-hand' } },
    spec: {},
    status: { capacity: { cpu: '2', pods: '5' }, allocatable: { cpu: '1', pods: '5' } },
  };
  await client.create(nodes, node);
  const ready = await eventually('it is ready', async () => {
    const found = await client.get(nodes, { name: 'by-hand' });
    return found.status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') && found;
  });
  assert.equal(ready.status?.allocatable?.['cpu'], '1', 'what it was said to have is kept');
  const { holderIdentity } = (await client.get(leases, { namespace: 'kube-node-lease', name: 'by-hand' })).spec ?? {};
  assert.ok(NAMES.includes(holderIdentity ?? ''), holderIdentity);
  await client.create(pods, makePod('p', { nodeName: 'by-hand' }));
  await eventually('its pod runs', async () => (await client.get(pods, { namespace: 'default', name: 'p' })).status?.phase === 'Running');
  const log = await client.raw({ method: 'GET', path: '/api/v1/namespaces/default/pods/p/log' });
  assert.equal(log.body.toString(), 'c of pod p started\n');
});
