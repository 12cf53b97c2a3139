/** A node: its status, heartbeats, admission and pod addresses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notFound } from '../../machinery/api/status.ts';
import type { Node } from '../../machinery/api/types/core.v1.ts';
import type { Client } from '../../machinery/client/client.ts';
import { silentLogger } from '../../machinery/process/logger.ts';
import { seededRandom } from '../../machinery/process/random.ts';
import { FakeClock } from '../../machinery/process/testing/fake-clock.ts';
import { createAddresses, derivedCidr } from '../runtime/addresses.ts';
import { makeContainer, makePod } from '../testing/pod-workers.ts';
import { admitPod } from './admission.ts';
import { type HeartbeatDeps, registerNode, renewLease, reportStatus } from './heartbeat.ts';
import { type NodeFacts, newlyHealthy, newNode, nodeStatus, nodeStatusDiffers } from './node-status.ts';

const facts: NodeFacts = {
  name: 'n-1',
  labels: {},
  taints: [],
  unschedulable: false,
  ip: '127.0.0.1',
  port: 10250,
  capacity: { cpu: '4', memory: '8Gi', pods: '2' },
  allocatable: {},
  architecture: 'amd64',
  version: 'v1.36.3',
  providerId: '',
};
const NOW = new Date('2026-01-01T00:00:00Z');

test('times of transitions stay while their status stays', () => {
  const first = nodeStatus(facts, undefined, NOW);
  const later = nodeStatus(facts, first, new Date(NOW.getTime() + 60_000));
  assert.equal(later.conditions?.[3]?.lastTransitionTime, '2026-01-01T00:00:00Z');
  assert.equal(later.conditions?.[3]?.lastHeartbeatTime, '2026-01-01T00:01:00Z');
  assert.equal(nodeStatusDiffers(first, later), false);
  const sick = { ...first, conditions: first.conditions?.map((condition) => ({ ...condition, status: 'Unknown' })) };
  assert.equal(nodeStatusDiffers(sick, nodeStatus(facts, sick, NOW)), true);
});

function makeDeps(): HeartbeatDeps & { clock: FakeClock; calls: string[]; told: string[]; stop: () => void } {
  const calls: string[] = [];
  const told: string[] = [];
  const abort = new AbortController();
  const clock = new FakeClock(NOW);
  let node: Node | undefined;
  const client = {
    create: async (type: { resource: string }, object: Node) => {
      calls.push(`create ${type.resource}`);
      if (type.resource === 'nodes') node = object;
      return object;
    },
    get: async (type: { group: string; resource: string }) => {
      throw notFound(type, 'n-1');
    },
    update: async (type: { resource: string }, object: unknown) => {
      calls.push(`update ${type.resource}`);
      return object;
    },
    patch: async () => {
      calls.push('patch status');
      return node;
    },
  } as unknown as Client;
  return {
    client,
    clock,
    random: seededRandom(1),
    logger: silentLogger,
    signal: abort.signal,
    facts,
    register: true,
    leaseDurationMs: 40_000,
    statusUpdateMs: 10_000,
    statusReportMs: 300_000,
    node: () => node,
    tell: (reason) => told.push(reason),
    calls,
    told,
    stop: () => abort.abort(new Error('stop')),
  };
}

test('the lease is renewed every 10 s, the status written every 5 minutes when nothing changes', async () => {
  const deps = makeDeps();
  await registerNode(deps);
  const loops = Promise.all([renewLease(deps), reportStatus(deps).catch(() => undefined)]);
  await deps.clock.advance(100_000);
  assert.deepEqual(deps.calls, ['create nodes', 'create leases', ...Array.from({ length: 10 }, () => 'update leases')]);
  await deps.clock.advance(210_000);
  assert.equal(deps.calls.filter((call) => call === 'patch status').length, 1);
  deps.stop();
  await loops;
});

test('a new node tells that it is healthy, and so does one that was taken for dead; a restart tells nothing of it', async () => {
  const deps = makeDeps();
  await registerNode(deps);
  assert.deepEqual(deps.told.splice(0), ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID', 'NodeReady']);
  const healthy = nodeStatus(facts, undefined, NOW);
  assert.deepEqual(newlyHealthy(healthy), []);
  const silent = { ...healthy, conditions: healthy.conditions?.map((c) => (c.type === 'Ready' ? { ...c, status: 'Unknown' } : c)) };
  assert.deepEqual(newlyHealthy(silent), ['NodeReady']);
});

test('a pod past the scheduler that does not fit is refused in upstream’s words', () => {
  const node = newNode(facts, NOW);
  const pod = (name: string, cpu?: string) =>
    makePod({ name, spec: { containers: [makeContainer(cpu ? { resources: { requests: { cpu } } } : {})] } });
  assert.equal(admitPod(pod('a', '4'), [], node), undefined);
  assert.deepEqual(admitPod(pod('b', '2'), [pod('a', '3')], node), {
    reason: 'OutOfcpu',
    message: "Pod was rejected: Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000",
  });
  assert.equal(admitPod(pod('c'), [pod('a'), pod('b')], node)?.reason, 'OutOfpods');
});

test('addresses are unique, reused only when free, and never the network, the bridge or the broadcast', () => {
  const addresses = createAddresses(() => '10.0.0.0/29');
  const all = [1, 2, 3, 4, 5].map(() => addresses.allocate());
  assert.deepEqual(all, ['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6']);
  assert.throws(() => addresses.allocate(), /no free pod address/);
  addresses.release('10.0.0.4');
  assert.equal(addresses.allocate(), '10.0.0.4');
});

test('nodes that were given no range have ranges of their own', () => {
  const ranges = new Set(Array.from({ length: 1000 }, (_, i) => derivedCidr(`n-${i}`)));
  assert.equal(ranges.size, 1000);
});
