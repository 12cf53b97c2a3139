/** Silence, taints and evictions, case by case. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node, Pod, Taint, Toleration } from '../machinery/api/types/core.v1.ts';
import { compareRanges } from './node-ipam.ts';
import { SignsOfLife } from './nodelifecycle/signs-of-life.ts';
import { wantedTaints } from './nodelifecycle/taints.ts';
import { evictionRate, ZoneCounts, type ZoneState } from './nodelifecycle/zones.ts';
import { compareNode, type ObservedNode } from './nodelifecycle.ts';
import { podsToRemove } from './podgc.ts';
import { compareTaintedPod, staysMs } from './tainteviction.ts';
import { compareTtl } from './ttl.ts';

const NOW = new Date('2030-01-01T01:00:00Z');

function node(name: string, ready: 'True' | 'False' | 'Unknown' | undefined, taints?: Taint[]): Node {
  const conditions = ready === undefined ? [] : [{ type: 'Ready', status: ready }];
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: name, resourceVersion: '4' },
    spec: { ...(taints && { taints }) },
    status: { conditions },
  };
}
const texts = (taints: readonly Taint[]): string[] => taints.map((taint) => `${taint.key.split('/')[1]}:${taint.effect}`);
const observed = (n: Node, more: Partial<ObservedNode> = {}): ObservedNode => ({
  node: n,
  last: undefined,
  isNew: false,
  silent: false,
  readyPods: [],
  evict: 'now',
  periodMs: 5000,
  ...more,
});

test('a silent node becomes Unknown, once, and what its kubelet never told is told as such', () => {
  const plan = compareNode(observed(node('n', 'True'), { silent: true }), NOW);
  const [update] = plan.actions as readonly unknown[] as { object: Node; subresource?: string }[];
  assert.equal(update?.subresource, 'status');
  assert.deepEqual(
    update?.object.status?.conditions?.map((c) => [c.type, c.status, c.reason]),
    [
      ['Ready', 'Unknown', 'NodeStatusUnknown'],
      ['MemoryPressure', 'Unknown', 'NodeStatusNeverUpdated'],
      ['DiskPressure', 'Unknown', 'NodeStatusNeverUpdated'],
      ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated'],
    ],
  );
  assert.equal(plan.events?.[0]?.reason, 'NodeNotReady');
  const again = compareNode(observed({ ...update!.object, spec: { taints: [] } }, { silent: true, evict: 'never' }), NOW);
  assert.equal(
    again.actions.some((action) => 'subresource' in action),
    false,
  );
});

test('a new node is told of before anything is written, for a write that fails would take the event with it', () => {
  const plan = compareNode(
    observed(node('n', 'True', [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]), { isNew: true }),
    NOW,
  );
  assert.deepEqual(plan.actions, []);
  assert.deepEqual(
    plan.events?.map((event) => event.message),
    ['Node n event: Registered Node n in Controller'],
  );
  assert.equal(plan.requeueAfterMs, 0, 'and looked at again at once');
});

test('pods of an unreachable node are told not to be ready', () => {
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'ns', uid: 'p' }, spec: { containers: [] } };
  const taints: Taint[] = ['NoSchedule', 'NoExecute'].map((effect) => ({ key: 'node.kubernetes.io/unreachable', effect }) as Taint);
  const plan = compareNode(observed(node('n', 'Unknown', taints), { readyPods: [pod] }), NOW);
  assert.deepEqual(
    plan.actions.map((action) => [action.do, action.type.resource]),
    [['patch', 'pods']],
  );
});

const taintCases: readonly (readonly [string, Node, 'now' | 'hold' | 'never', string[]])[] = [
  [
    'a ready node loses ours and keeps others',
    node('n', 'True', [
      { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
      { key: 'a/own', effect: 'NoSchedule' },
    ]),
    'now',
    ['own:NoSchedule'],
  ],
  ['not ready', node('n', 'False'), 'now', ['not-ready:NoSchedule', 'not-ready:NoExecute']],
  ['unreachable', node('n', 'Unknown'), 'now', ['unreachable:NoSchedule', 'unreachable:NoExecute']],
  ['evictions on hold', node('n', 'Unknown'), 'hold', ['unreachable:NoSchedule']],
  [
    'no evictions when everybody is gone',
    node('n', 'Unknown', [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }]),
    'never',
    ['unreachable:NoSchedule'],
  ],
  [
    'never reported: as registered',
    node('n', undefined, [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]),
    'now',
    ['not-ready:NoSchedule'],
  ],
  ['cordoned', { ...node('n', 'True'), spec: { unschedulable: true } }, 'now', ['unschedulable:NoSchedule']],
];
for (const [why, given, evict, want] of taintCases)
  test(`taints: ${why}`, () => assert.deepEqual(texts(wantedTaints(given, evict, NOW)), want));

test("time in which the API server said nothing is nobody's silence", () => {
  let ms = 0;
  const signs = new SignsOfLife({ monotonicMs: () => ms }, 20_000);
  const n = node('n', 'True');
  let revision = 1;
  const silenceAt = (at: number, told: boolean): number => {
    ms = at;
    signs.heardServer(told ? ++revision : revision);
    return signs.silenceMs(n, undefined);
  };
  assert.equal(silenceAt(0, true), 0);
  assert.equal(silenceAt(15_000, true), 15_000);
  assert.equal(silenceAt(600_000, false), 15_000);
  assert.equal(silenceAt(601_000, true), 0);
  assert.equal(silenceAt(616_000, true), 15_000);
});

function zoneStates(nodes: readonly Node[]): ReadonlyMap<string, ZoneState> {
  const zones = new ZoneCounts();
  for (const each of nodes) zones.change(each, undefined);
  return zones.states(0.55);
}

test('zones: three quarters gone stops evictions in a small cluster and slows them in a large one; all gone stops all', () => {
  const nodes = [node('a', 'True'), node('b', 'Unknown'), node('c', 'Unknown'), node('d', 'False')];
  assert.deepEqual([...zoneStates(nodes).values()], ['partial-disruption']);
  assert.deepEqual([...zoneStates(nodes.slice(1)).values()], ['full-disruption']);
  assert.deepEqual([...zoneStates(nodes.slice(0, 3)).values()], ['normal']);
  const rates = { nodeEvictionRate: 0.1, secondaryNodeEvictionRate: 0.01, unhealthyZoneThreshold: 0.55, largeClusterSizeThreshold: 50 };
  const rate = (state: ZoneState, all: ZoneState[], size: number): number => evictionRate(state, all, size, rates);
  assert.equal(rate('partial-disruption', ['partial-disruption'], 4), 0);
  assert.equal(rate('partial-disruption', ['partial-disruption'], 400), 0.01);
  assert.equal(rate('full-disruption', ['full-disruption', 'normal'], 4), 0.1);
  assert.equal(rate('full-disruption', ['full-disruption'], 4), 0);
});

test('zones are counted by the changes of their nodes', () => {
  const zones = new ZoneCounts();
  const states = (): string[] => [...zones.states(0.55).values()];
  zones.change(node('a', 'True'), undefined);
  zones.change(node('a', 'True'), undefined); // told again by a new copy
  assert.deepEqual([states(), zones.clusterSize], [['normal'], 1]);
  zones.change(node('b', 'Unknown'), undefined);
  zones.change(node('a', 'Unknown'), node('a', 'True'));
  assert.deepEqual([states(), zones.clusterSize], [['full-disruption'], 2]);
  zones.change(undefined, node('b', 'Unknown'));
  zones.change(undefined, node('a', 'Unknown'));
  assert.deepEqual([states(), zones.clusterSize], [[], 0]);
});

const OUT: Taint = { key: 'out', value: 'yes', effect: 'NoExecute' };
const tolerationCases: readonly (readonly [string, Toleration[], number | undefined])[] = [
  ['none: at once', [], 0],
  ['for ever', [{ key: 'out', operator: 'Exists' }], undefined],
  ['another value: at once', [{ key: 'out', value: 'no' }], 0],
  ['equal value for a time', [{ key: 'out', value: 'yes', tolerationSeconds: 30 }], 30_000],
  [
    'the shortest counts',
    [
      { operator: 'Exists', tolerationSeconds: 300 },
      { key: 'out', operator: 'Exists', tolerationSeconds: 5 },
    ],
    5000,
  ],
  ['another effect: at once', [{ key: 'out', operator: 'Exists', effect: 'NoSchedule' }], 0],
];
const tainted = (tolerations: Toleration[]): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'ns', uid: 'p' },
  spec: { containers: [], tolerations },
});
for (const [why, tolerations, want] of tolerationCases)
  test(`tolerations: ${why}`, () => assert.equal(staysMs(tainted(tolerations), [OUT]), want));

test('eviction waits for its time, marks the pod and deletes it; a taint taken off is told', () => {
  const pod = tainted([{ key: 'out', operator: 'Exists', tolerationSeconds: 30 }]);
  assert.equal(compareTaintedPod({ pod, taints: [OUT], seenMs: 10_000, reprieved: false }, NOW).requeueAfterMs, 20_000);
  const due = compareTaintedPod({ pod, taints: [OUT], seenMs: 30_000, reprieved: false }, NOW);
  assert.deepEqual(
    due.actions.map((action) => action.do),
    ['patch', 'delete'],
  );
  assert.equal(due.events?.[0]?.message, 'Marking for deletion Pod ns/p');
  assert.equal(
    compareTaintedPod({ pod, taints: [], seenMs: 1, reprieved: true }, NOW).events?.[0]?.message,
    'Cancelling deletion of Pod ns/p',
  );
});

test('pods are removed whose node is gone, that were deleted before they had one, and the oldest finished ones', () => {
  const pod = (name: string, more: Partial<Pod['metadata']>, nodeName?: string, phase = 'Running'): Pod =>
    ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, ...more },
      spec: { containers: [], ...(nodeName && { nodeName }) },
      status: { phase },
    }) as Pod;
  const all = [
    pod('lost', {}, 'gone'),
    pod('leaving', { deletionTimestamp: 'x' }),
    pod('kept', {}, 'there'),
    pod('old', { creationTimestamp: '2030-01-01T00:00:00Z' }, 'there', 'Succeeded'),
    pod('young', { creationTimestamp: '2030-01-02T00:00:00Z' }, 'there', 'Failed'),
  ];
  const removed = podsToRemove(all, new Map([['there', node('there', 'True')]]), new Set(['gone']), 1);
  assert.deepEqual(
    removed.map(({ pod: p, why }) => `${p.metadata.name} ${why}`),
    ['lost orphaned', 'leaving unscheduled', 'old terminated'],
  );
});

test('every node gets a range of its own and keeps one it brought', () => {
  const nodes = [
    node('a', 'True'),
    { ...node('b', 'True'), spec: { podCIDR: '10.244.0.0/24', podCIDRs: ['10.244.0.0/24'] } },
    node('c', 'True'),
  ];
  const given = compareRanges(nodes, { clusterCidr: '10.244.0.0/16', nodeCidrMaskSize: 24 }).actions.map(
    (action) => (action as { patch: { spec: { podCIDR: string } } }).patch.spec.podCIDR,
  );
  assert.deepEqual(given, ['10.244.1.0/24', '10.244.2.0/24']);
  const full = compareRanges(nodes, { clusterCidr: '10.244.0.0/24', nodeCidrMaskSize: 24 });
  assert.deepEqual([full.actions.length, full.events?.map((event) => event.reason)], [0, ['CIDRNotAvailable', 'CIDRNotAvailable']]);
});

test('the ttl annotation grows with the cluster and does not flutter at a limit', () => {
  const withTtl = (seconds: string) => ({
    ...node('a', 'True'),
    metadata: { name: 'a', annotations: { 'node.alpha.kubernetes.io/ttl': seconds } },
  });
  assert.equal(compareTtl({ node: node('a', 'True'), clusterSize: 3 }).actions.length, 1);
  assert.equal(compareTtl({ node: withTtl('0'), clusterSize: 95 }).actions.length, 0);
  assert.equal(compareTtl({ node: withTtl('15'), clusterSize: 95 }).actions.length, 0);
  assert.equal(compareTtl({ node: withTtl('0'), clusterSize: 101 }).actions.length, 1);
});
