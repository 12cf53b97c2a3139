/** What a ReplicaSet does about its pods, case by case. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forbidden } from '../machinery/api/status.ts';
import type { ReplicaSet } from '../machinery/api/types/apps.v1.ts';
import type { Pod } from '../machinery/api/types/core.v1.ts';
import type { Plan } from '../machinery/loop/plan.ts';
import { compareForDeletion, podsToDelete } from './replicaset/ranking.ts';
import { compareReplicaSet } from './replicaset.ts';

const NOW = new Date('2030-01-01T01:00:00Z');

const set = (replicas: number, more: Partial<ReplicaSet['metadata']> = {}): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'web', namespace: 'ns', uid: 'rs', resourceVersion: '7', generation: 1, ...more },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [] } },
  },
});

interface PodFacts {
  readonly name?: string;
  readonly node?: string;
  readonly phase?: 'Pending' | 'Running' | 'Failed';
  readonly ready?: boolean;
  readonly readyMinutes?: number;
  readonly cost?: string;
  readonly restarts?: number;
  readonly ageMinutes?: number;
  readonly deleted?: boolean;
}

const minutesAgo = (minutes: number): string => new Date(NOW.getTime() - minutes * 60_000).toISOString();

function pod({
  name = 'p',
  node = 'n1',
  phase = 'Running',
  ready = true,
  readyMinutes = 10,
  cost,
  restarts = 0,
  ageMinutes = 20,
  deleted,
}: PodFacts): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'ns',
      uid: `uid-${name}`,
      resourceVersion: '5',
      creationTimestamp: minutesAgo(ageMinutes),
      ...(deleted && { deletionTimestamp: NOW.toISOString() }),
      ...(cost && { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
      labels: { app: 'web' },
    },
    spec: { containers: [], ...(node && { nodeName: node }) },
    status: {
      phase,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: minutesAgo(readyMinutes) }],
      containerStatuses: [{ name: 'c', restartCount: restarts, ready, image: '', imageID: '' }],
    },
  };
}

const compare = (rs: ReplicaSet, owned: readonly Pod[]): Plan =>
  compareReplicaSet({ rs, claim: { owned, adopt: [], release: [] }, related: owned }, NOW);
const counts = (plan: Plan) => (plan.status!.object as ReplicaSet).status;

test('missing pods are made, surplus ones deleted, and those on their way out or finished do not count', () => {
  assert.deepEqual(
    compare(set(3), [pod({ name: 'a' })]).actions.map((action) => action.do),
    ['create', 'create'],
  );
  assert.deepEqual(
    compare(set(1), [pod({ name: 'a' }), pod({ name: 'b', deleted: true }), pod({ name: 'c', phase: 'Failed' })]).actions,
    [],
  );
  const [removal] = compare(set(1), [pod({ name: 'a' }), pod({ name: 'b', ready: false })]).actions;
  assert.deepEqual(removal, {
    do: 'delete',
    type: (removal as { type: unknown }).type,
    name: { namespace: 'ns', name: 'b' },
    uid: 'uid-b',
    options: { resourceVersion: '5' },
    tolerate: ['Conflict'],
  });
});

test('a set being deleted makes and deletes nothing', () => {
  assert.deepEqual(compare(set(3, { deletionTimestamp: NOW.toISOString() }), []).actions, []);
});

test('at most 500 pods are made in one pass', () => {
  assert.equal(compare(set(2000), []).actions.length, 500);
});

test('adopting and letting go come first and alone, with the owner checked before', () => {
  const plan = compareReplicaSet(
    { rs: set(3), claim: { owned: [], adopt: [pod({ name: 'a' })], release: [pod({ name: 'b' })] }, related: [] },
    NOW,
  );
  assert.deepEqual(
    plan.actions.map((action) => [action.do, action.type.resource, 'name' in action ? action.name.name : '']),
    [
      ['patch', 'pods', 'b'],
      ['patch', 'replicasets', 'web'],
      ['patch', 'pods', 'a'],
    ],
  );
  assert.equal(plan.status, undefined);
});

test('the status counts pods, and a failure shows until it is over', () => {
  const owned = [pod({ name: 'a' }), pod({ name: 'b', ready: false }), pod({ name: 'c', deleted: true })];
  assert.deepEqual(counts(compare(set(2), owned)), {
    replicas: 2,
    fullyLabeledReplicas: 2,
    readyReplicas: 1,
    availableReplicas: 1,
    terminatingReplicas: 1,
    observedGeneration: 1,
  });
  const failed = compare(set(3), owned).statusOnFailure?.(forbidden({ group: '', resource: 'pods' }, 'web-', 'exceeded quota: q'));
  const told = (failed!.object as ReplicaSet).status?.conditions?.[0];
  assert.deepEqual(
    [told?.type, told?.reason, told?.message],
    ['ReplicaFailure', 'FailedCreate', 'pods "web-" is forbidden: exceeded quota: q'],
  );
  const after = compare({ ...set(2), status: (failed!.object as ReplicaSet).status! }, owned);
  assert.equal(counts(after)?.conditions, undefined);
});

test('pods that will be available later are looked at again then', () => {
  const rs = set(1);
  rs.spec.minReadySeconds = 700;
  assert.equal(compare(rs, [pod({ readyMinutes: 10 })]).requeueAfterMs, 100_000);
});

const order: readonly (readonly [why: string, first: PodFacts, second: PodFacts])[] = [
  ['without a node before with', { node: '' }, { phase: 'Pending', ready: false }],
  ['pending before running', { phase: 'Pending', ready: false }, { ready: false }],
  ['not ready before ready', { ready: false }, { ready: true, cost: '-5' }],
  ['cheaper first', { cost: '-1' }, { cost: '2', node: 'crowded' }],
  ['a cost that is no number counts as 0', { cost: '01' }, { cost: '1' }],
  ['crowded node first', { node: 'crowded' }, { readyMinutes: 1 }],
  ['ready for a shorter time first', { readyMinutes: 1 }, { readyMinutes: 30, restarts: 5 }],
  ['more restarts first', { restarts: 3 }, { ageMinutes: 1 }],
  ['younger first', { ageMinutes: 1 }, { ageMinutes: 60 }],
];
for (const [why, first, second] of order) {
  test(`deletion order: ${why}`, () => {
    const [a, b] = [pod({ name: 'a', ...first }), pod({ name: 'b', ...second })];
    const rank = (p: Pod): number => (p.spec.nodeName === 'crowded' ? 5 : 1);
    assert(compareForDeletion(a, b, rank, NOW) < 0);
    assert(compareForDeletion(b, a, rank, NOW) > 0);
  });
}

test('the choice depends on the pods, not on their order', () => {
  const all = ['a', 'b', 'c', 'd'].map((name) => pod({ name }));
  const chosen = (pods: readonly Pod[]): string[] => podsToDelete(pods, pods, 2, NOW).map((p) => p.metadata.name ?? '');
  assert.deepEqual(chosen(all), chosen([...all].reverse()));
});
