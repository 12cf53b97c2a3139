/** Sizes, revisions and conditions of a Deployment, case by case. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deployment, ReplicaSet } from '../machinery/api/types/apps.v1.ts';
import { REVISION, REVISION_HISTORY } from '../machinery/api/well-known-labels.ts';
import { currentSetAnnotations } from './deployment/annotations.ts';
import { fenceposts, type Standing } from './deployment/bounds.ts';
import { recreateSizes, rollingSizes, type Sets, scaledSizes } from './deployment/sizes.ts';
import { rolloutStatus } from './deployment/status.ts';
import { sameTemplate, templateHash } from './deployment/template.ts';
import { compareDeployment } from './deployment.ts';

const NOW = new Date('2030-01-01T01:00:00Z');

const deployment = (replicas: number, maxSurge: number | string, maxUnavailable: number | string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'ns', uid: 'd', resourceVersion: '9', generation: 3, annotations: { note: 'x' } },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    progressDeadlineSeconds: 600,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});

interface Facts {
  readonly size: number;
  /** Default: as many as the size. */
  readonly active?: number;
  readonly ready?: number;
  readonly observed?: boolean;
  readonly maxReplicas?: number;
}

function standing(name: string, { size, active = size, ready = active, observed = true, maxReplicas }: Facts): Standing {
  const annotations: Record<string, string> =
    maxReplicas === undefined
      ? {}
      : { 'deployment.kubernetes.io/max-replicas': String(maxReplicas), 'deployment.kubernetes.io/desired-replicas': '10' };
  const rs: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, uid: name, annotations, creationTimestamp: name === 'old' ? '2030-01-01T00:00:00Z' : '2030-01-01T00:30:00Z' },
    spec: { replicas: size, selector: {} },
    status: { replicas: active },
  };
  return { rs, size, active, ready, available: ready, alive: active, observed };
}

const sets = (current: Facts, old: Facts, strays = 0): Sets => ({ current: standing('new', current), old: [standing('old', old)], strays });
const asObject = (sizes: ReadonlyMap<string, number>): Record<string, number> => Object.fromEntries([...sizes].sort());

const rolling: readonly (readonly [why: string, d: Deployment, sets: Sets, want: Record<string, number>])[] = [
  ['the surge is used first', deployment(4, 1, 0), sets({ size: 0 }, { size: 4 }), { new: 1 }],
  ['what may be missing is given at once', deployment(10, 3, 2), sets({ size: 0 }, { size: 10 }), { new: 3, old: 8 }],
  [
    'nobody grows beside a set that has not acted',
    deployment(10, 3, 2),
    sets({ size: 3, ready: 0 }, { size: 8, active: 10, observed: false }),
    { new: 3 },
  ],
  ['pods not gone yet take room', deployment(4, 1, 1), sets({ size: 1, ready: 0 }, { size: 3, active: 4 }), { new: 1 }],
  ['room is used when they are gone', deployment(4, 1, 1), sets({ size: 1, ready: 0 }, { size: 3 }), { new: 2 }],
  ['a stuck new set keeps the old one serving', deployment(4, 1, 0), sets({ size: 1, ready: 0 }, { size: 4 }), { new: 1 }],
  ['pods that serve nobody go for free', deployment(3, 1, 0), sets({ size: 0 }, { size: 4, ready: 1 }), { new: 0, old: 3 }],
  [
    'an old set that has not acted gives nothing that costs',
    deployment(4, 1, 1),
    sets({ size: 2 }, { size: 3, observed: false }),
    { new: 2 },
  ],
  ['strays count', deployment(3, 1, 0), sets({ size: 0 }, { size: 0 }, 2), { new: 2 }],
  ['a set above the wanted size is cut', deployment(2, 1, 0), sets({ size: 5 }, { size: 0 }), { new: 2 }],
];
for (const [why, d, given, want] of rolling) test(`rolling: ${why}`, () => assert.deepEqual(asObject(rollingSizes(d, given)), want));

test('Recreate: old sets are emptied, and the new one waits for the last pod', () => {
  const d = deployment(3, 1, 0);
  assert.deepEqual(asObject(recreateSizes(d, sets({ size: 0 }, { size: 3 }))), { old: 0 });
  assert.deepEqual(asObject(recreateSizes(d, sets({ size: 0 }, { size: 0, active: 1 }))), {});
  assert.deepEqual(asObject(recreateSizes(d, sets({ size: 0 }, { size: 0 }))), { new: 3 });
});

test('scaling in the middle of a rollout is spread by size', () => {
  const given = sets({ size: 5, ready: 0, maxReplicas: 13 }, { size: 8, maxReplicas: 13 });
  assert.deepEqual(asObject(scaledSizes(deployment(15, 3, 2), given).sizes), { new: 7, old: 11 });
  assert.deepEqual(asObject(scaledSizes(deployment(5, 3, 2), given).sizes), { new: 3, old: 5 });
});

test('when both bounds come to zero one pod may be unavailable', () => {
  assert.deepEqual(fenceposts(deployment(2, '0%', '10%')), { surge: 0, unavailable: 1 });
  assert.deepEqual(fenceposts(deployment(10, '25%', '25%')), { surge: 3, unavailable: 2 });
});

test('a template that returns takes the next revision and keeps its history', () => {
  const rs = standing('new', { size: 0 }).rs;
  rs.metadata.annotations = { [REVISION]: '1', other: 'y' };
  const annotations = currentSetAnnotations(deployment(1, 1, 0), rs, 3);
  assert.deepEqual(annotations, { [REVISION]: '3', [REVISION_HISTORY]: '1', other: 'y', note: 'x' });
  assert.equal(currentSetAnnotations(deployment(1, 1, 0), rs, 1)[REVISION], '1');
});

test('templates are the same whatever their hash label, and hashes differ by collision', () => {
  const { template } = deployment(1, 1, 0).spec;
  const labelled = { ...template, metadata: { labels: { app: 'web', 'pod-template-hash': 'x' } } };
  assert(sameTemplate(template, labelled));
  assert.match(templateHash(template, 0), /^[b-z2-9]{1,10}$/);
  assert.notEqual(templateHash(template, 0), templateHash(template, 1));
});

const observed = (d: Deployment, more: Partial<Parameters<typeof compareDeployment>[0]> = {}) => ({
  deployment: d,
  claim: { owned: [], adopt: [], release: [] },
  pods: new Map(),
  strays: 0,
  occupant: undefined,
  ...more,
});

test('a new Deployment makes its set at full size and says so', () => {
  const plan = compareDeployment(observed(deployment(3, 1, 0)), NOW);
  const [create] = plan.actions;
  assert(create?.do === 'create');
  const made = create.object as ReplicaSet;
  assert.equal(made.spec.replicas, 3);
  assert.deepEqual(made.metadata.annotations, {
    note: 'x',
    [REVISION]: '1',
    'deployment.kubernetes.io/desired-replicas': '3',
    'deployment.kubernetes.io/max-replicas': '4',
  });
  assert.equal(plan.events?.[0]?.message, `Scaled up replica set ${made.metadata.name} from 0 to 3`);
  const status = plan.status!.object as Deployment;
  assert.equal(status.metadata.annotations?.[REVISION], '1');
  assert.deepEqual(
    status.status?.conditions?.map((c) => [c.type, c.status, c.reason]),
    [
      ['Progressing', 'True', 'NewReplicaSetCreated'],
      ['Available', 'False', 'MinimumReplicasUnavailable'],
    ],
  );
});

test('a name that is taken counts a collision and makes nothing', () => {
  const plan = compareDeployment(observed(deployment(3, 1, 0), { occupant: standing('foreign', { size: 0 }).rs }), NOW);
  assert.deepEqual(plan.actions, []);
  assert.equal((plan.status!.object as Deployment).status?.collisionCount, 1);
});

test('a Deployment that selects everything is refused in an event', () => {
  const d = deployment(1, 1, 0);
  d.spec.selector = {};
  const plan = compareDeployment(observed(d), NOW);
  assert.equal(plan.events?.[0]?.reason, 'SelectingAll');
  assert.deepEqual(plan.actions, []);
});

test('no progress in time is told, and progress starts the clock again', () => {
  const d = deployment(2, 1, 0);
  const current = standing('new', { size: 1 }).rs;
  const stuck = {
    type: 'Progressing',
    status: 'True',
    reason: 'ReplicaSetUpdated',
    lastUpdateTime: '2030-01-01T00:49:00Z',
    lastTransitionTime: '2030-01-01T00:00:00Z',
  } as const;
  d.status = { replicas: 1, updatedReplicas: 1, conditions: [stuck] };
  const reasonOf = (given: Deployment): string | undefined =>
    rolloutStatus(given, [current], current, given.status?.conditions ?? [], NOW).conditions?.find((c) => c.type === 'Progressing')?.reason;
  assert.equal(reasonOf(d), 'ProgressDeadlineExceeded');
  assert.equal(reasonOf({ ...d, status: { ...d.status, updatedReplicas: 0 } }), 'ReplicaSetUpdated');
});
