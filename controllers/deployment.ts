/**
 * Deployment: one ReplicaSet per pod template, rolled from one to the next within its bounds. Mirrors upstream `pkg/controller/deployment`.
 *
 * Invariant: each single write keeps at most replicas + maxSurge pods possible and at least replicas - maxUnavailable available pods sure (deployment/bounds.ts),
 * so the loop may be killed between any two writes. What to do is decided from the sets and pods there are; the only memory is in their annotations.
 */

import { deepEqual } from '../machinery/api/equality.ts';
import { controllerOf, objectKey, splitKey } from '../machinery/api/object.ts';
import { matches, selectorOf } from '../machinery/api/selector.ts';
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '../machinery/api/types/apps.v1.ts';
import type { Pod } from '../machinery/api/types/core.v1.ts';
import { REVISION } from '../machinery/api/well-known-labels.ts';
import { BY_OWNER } from '../machinery/client/informer.ts';
import { deployments, pods, replicasets } from '../machinery/client/resource-type.ts';
import type { PlannedController, View, Watch } from '../machinery/loop/controller.ts';
import type { Action, Plan, PlannedEvent, UpdateAction } from '../machinery/loop/plan.ts';
import { watchFor } from '../machinery/loop/watches.ts';
import { currentSetAnnotations, maxRevision, revisionOf, sizeAnnotations } from './deployment/annotations.ts';
import { isRollingUpdate, replicasOf, type Standing, standingOf } from './deployment/bounds.ts';
import { setsToForget } from './deployment/history.ts';
import { isScaled, recreateSizes, rollingSizes, type Sets, scaledSizes } from './deployment/sizes.ts';
import {
  condition,
  conditionOf,
  countedStatus,
  deadlineCheckMs,
  hasProgressDeadline,
  isComplete,
  pausedConditions,
  rolloutStatus,
  withCondition,
} from './deployment/status.ts';
import { byCreation, findCurrentSet, newSet, setName } from './deployment/template.ts';
import { type Claim, claim, claimActions, watchClaimed } from './ownership.ts';
import { isActive } from './pods.ts';
import { isNamespaceTerminating } from './replicaset/status.ts';

export interface ObservedDeployment {
  readonly deployment: Deployment;
  readonly claim: Claim<ReplicaSet>;
  /** By uid of the owning set. */
  readonly pods: ReadonlyMap<string, readonly Pod[]>;
  /** Active matching pods whose set is gone. */
  readonly strays: number;
  /** Whatever has the name that a new set would get. */
  readonly occupant: ReplicaSet | undefined;
}

export function deploymentController(workers?: number): PlannedController<ObservedDeployment> {
  return {
    name: 'deployment',
    component: 'deployment-controller',
    ...(workers !== undefined && { workers }),
    watches: [watchFor(deployments), watchClaimed(replicasets, deployments), podWatch],
    observe: observeDeployment,
    compare: compareDeployment,
  };
}

/** A pod concerns the Deployment of its ReplicaSet; when that is gone, those that select it. */
const podWatch: Watch<Pod> = {
  type: pods,
  *keysOf({ object, old }, view) {
    const pod = object ?? old;
    const ref = pod && controllerOf(pod);
    if (pod === undefined || ref?.kind !== 'ReplicaSet') return;
    const rs = view.of(replicasets).get(`${pod.metadata.namespace}/${ref.name}`);
    if (rs !== undefined && rs.metadata.uid === ref.uid) {
      const owner = controllerOf(rs);
      if (owner?.kind === 'Deployment') yield `${pod.metadata.namespace}/${owner.name}`;
      return;
    }
    for (const d of view.of(deployments).list(pod.metadata.namespace)) {
      if (matches(selectorOf(d.spec.selector), pod.metadata.labels ?? {})) yield objectKey(d);
    }
  },
};

export function observeDeployment(key: string, view: View): ObservedDeployment | undefined {
  const deployment = view.of(deployments).get(key);
  if (deployment === undefined) return undefined;
  const { namespace } = splitKey(key);
  const selector = selectorOf(deployment.spec.selector);
  const found = claim(deployment, selector, view.of(replicasets).list(namespace));
  const podsBySet = new Map<string, readonly Pod[]>();
  for (const rs of found.owned) {
    const uid = rs.metadata.uid ?? '';
    const owned = view.of(pods).byIndex(BY_OWNER, uid);
    podsBySet.set(
      uid,
      owned.filter((pod) => controllerOf(pod)?.uid === uid),
    );
  }
  const isStray = (pod: Pod): boolean => {
    const ref = controllerOf(pod);
    if (ref === undefined || podsBySet.has(ref.uid)) return false;
    if (ref.kind !== 'ReplicaSet' || !isActive(pod) || !matches(selector, pod.metadata.labels ?? {})) return false;
    return view.of(replicasets).get(`${namespace}/${ref.name}`)?.metadata.uid !== ref.uid;
  };
  const strays = view
    .of(pods)
    .byLabels(namespace, deployment.spec.selector.matchLabels ?? {})
    .filter(isStray).length;
  return { deployment, claim: found, pods: podsBySet, strays, occupant: view.of(replicasets).get(`${namespace}/${setName(deployment)}`) };
}

export function compareDeployment(observed: ObservedDeployment, now: Date): Plan {
  const { deployment: d, claim: found } = observed;
  if (selectsAll(d)) return selectingAll(d);
  const claims = claimActions(deployments, d, replicasets, found);
  if (claims.length > 0) return { actions: claims };
  const stored = findCurrentSet(d, found.owned);
  const rollout: Rollout = { d, stored, old: found.owned.filter((rs) => rs !== stored).sort(byCreation), observed, now };
  const conditions = pausedConditions(d, now);
  if (d.metadata.deletionTimestamp !== undefined) return finish(rollout, [], countedStatus(d, found.owned, stored, conditions, now));
  const sets = standings(rollout);
  if (d.spec.paused || isScaled(d, sets)) return scale(rollout, sets, conditions);
  if (stored === undefined && observed.occupant !== undefined) return collision(rollout, conditions);
  return roll(rollout, conditions, sets);
}

interface Rollout {
  readonly d: Deployment;
  /** The set of the present template, when there is one. */
  readonly stored: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
  readonly observed: ObservedDeployment;
  readonly now: Date;
}

function standings({ stored, old, observed, now }: Rollout, current = stored): Sets {
  const standing = (rs: ReplicaSet): Standing => standingOf(rs, observed.pods.get(rs.metadata.uid ?? '') ?? [], now);
  return { current: current && standing(current), old: old.map(standing), strays: observed.strays };
}

const selectsAll = (d: Deployment): boolean =>
  Object.keys(d.spec.selector?.matchLabels ?? {}).length === 0 && (d.spec.selector?.matchExpressions ?? []).length === 0;

function selectingAll(d: Deployment): Plan {
  const message = 'This deployment is selecting all pods. A non-empty selector is required.';
  const seen = (d.status?.observedGeneration ?? 0) >= (d.metadata.generation ?? 0);
  const status = { ...d.status, observedGeneration: d.metadata.generation ?? 0 };
  return {
    actions: [],
    status: seen ? undefined : statusUpdate(d, status),
    events: [{ about: d, type: 'Warning', reason: 'SelectingAll', message }],
  };
}

/** Paused, or scaled since the sets were sized: no template is rolled, only sizes change. */
function scale(rollout: Rollout, sets: Sets, conditions: readonly DeploymentCondition[]): Plan {
  const { d, stored, old, observed, now } = rollout;
  const { sizes, resized: resizedSets } = scaledSizes(d, sets);
  const steps = [...sets.old, ...(sets.current ? [sets.current] : [])].map(({ rs }): Step => {
    const synced = rs === stored ? withCurrentAnnotations(d, rs, maxRevision(old) + 1) : rs;
    const size = sizes.get(rs.metadata.name ?? '') ?? replicasOf(rs);
    const noted = size !== replicasOf(rs) || resizedSets.some((set) => set.rs === rs);
    return { before: rs, next: noted ? withSize(d, synced, size) : synced };
  });
  const forgotten = d.spec.paused ? setsToForget(d, old) : [];
  return finish(rollout, steps, countedStatus(d, observed.claim.owned, stored, conditions, now), forgotten);
}

/** The name of the new set belongs to somebody else: count it, which makes the next name another one. */
function collision({ d, observed, now }: Rollout, conditions: readonly DeploymentCondition[]): Plan {
  const status = countedStatus(d, observed.claim.owned, undefined, conditions, now);
  return { actions: [], status: statusUpdate(d, { ...status, collisionCount: (d.status?.collisionCount ?? 0) + 1 }) };
}

/** One step from the old template to the present one. */
function roll(rollout: Rollout, before: readonly DeploymentCondition[], found: Sets): Plan {
  const { d, stored, old, now } = rollout;
  const revision = maxRevision(old) + 1;
  const current = stored ?? newSet(d, revision);
  const sets = stored === undefined ? standings(rollout, current) : found;
  const sizes = isRollingUpdate(d) ? rollingSizes(d, sets) : recreateSizes(d, sets);
  const waits = stored === undefined && !isRollingUpdate(d) && !sizes.has(current.metadata.name ?? '');
  const steps: Step[] = old.map((rs) => ({ before: rs, next: resized(d, rs, sizes.get(rs.metadata.name ?? '')) }));
  if (!waits) {
    const synced = stored === undefined ? current : withCurrentAnnotations(d, { ...stored, spec: withMinReady(d, stored) }, revision);
    steps.push({ before: stored, next: resized(d, synced, sizes.get(current.metadata.name ?? '')) });
  }
  const shown = waits ? undefined : current;
  const told = shown === undefined ? [...before] : foundCondition(d, before, shown, stored === undefined, now);
  const all = shown === undefined ? old : [...old, shown === stored ? stored : { ...shown, status: { replicas: 0 } }];
  const status = rolloutStatus(d, all, shown, told, now);
  const recheck = deadlineCheckMs(d, status, now);
  const plan = finish(rollout, steps, status, isComplete(d, d.status) ? setsToForget(d, old) : []);
  return recheck === undefined ? plan : { ...plan, requeueAfterMs: recheck };
}

/** A set to be written: `before` undefined makes it. */
interface Step {
  readonly before: ReplicaSet | undefined;
  readonly next: ReplicaSet;
}

function resized(d: Deployment, rs: ReplicaSet, size: number | undefined): ReplicaSet {
  return size === undefined || size === replicasOf(rs) ? rs : withSize(d, rs, size);
}

const withCurrentAnnotations = (d: Deployment, rs: ReplicaSet, revision: number): ReplicaSet => ({
  ...rs,
  metadata: { ...rs.metadata, annotations: { ...currentSetAnnotations(d, rs, revision) } },
});

function withSize(d: Deployment, rs: ReplicaSet, size: number): ReplicaSet {
  return {
    ...rs,
    metadata: { ...rs.metadata, annotations: { ...rs.metadata.annotations, ...sizeAnnotations(d) } },
    spec: { ...rs.spec, replicas: size },
  };
}

function withMinReady(d: Deployment, rs: ReplicaSet): ReplicaSet['spec'] {
  const { minReadySeconds: _, ...spec } = rs.spec;
  return d.spec.minReadySeconds ? { ...spec, minReadySeconds: d.spec.minReadySeconds } : spec;
}

function foundCondition(
  d: Deployment,
  conditions: readonly DeploymentCondition[],
  rs: ReplicaSet,
  isNew: boolean,
  now: Date,
): DeploymentCondition[] {
  if (!hasProgressDeadline(d)) return [...conditions];
  if (isNew) {
    return withCondition(
      conditions,
      condition('Progressing', 'True', 'NewReplicaSetCreated', `Created new replica set "${rs.metadata.name}"`, now),
    );
  }
  if (conditionOf(conditions, 'Progressing') !== undefined) return [...conditions];
  return withCondition(
    conditions,
    condition('Progressing', 'True', 'FoundNewReplicaSet', `Found new replica set "${rs.metadata.name}"`, now),
  );
}

/** Turns sizes and status into writes and events. */
function finish(rollout: Rollout, steps: readonly Step[], status: DeploymentStatus, forgotten: readonly ReplicaSet[] = []): Plan {
  const { d } = rollout;
  const actions: Action[] = [];
  const events: PlannedEvent[] = [];
  let created: ReplicaSet | undefined;
  for (const { before, next } of steps) {
    if (before !== undefined && deepEqual(before, next)) continue;
    if (before === undefined) created = next;
    actions.push(
      before === undefined
        ? { do: 'create', type: replicasets, object: next, tolerate: ['NamespaceTerminating'] }
        : { do: 'update', type: replicasets, object: next },
    );
    const after = actions.length - 1;
    const [from, to] = [before === undefined ? 0 : replicasOf(before), replicasOf(next)];
    const direction = to > from ? 'up' : 'down';
    if (from !== to)
      events.push({
        about: d,
        type: 'Normal',
        reason: 'ScalingReplicaSet',
        message: `Scaled ${direction} replica set ${next.metadata.name} from ${from} to ${to}`,
        after,
      });
    if (before === undefined)
      events.push({
        about: d,
        type: 'Warning',
        reason: 'ReplicaSetCreateError',
        message: `Failed to create new replica set "${next.metadata.name}": {error}`,
        onFailure: after,
      });
  }
  for (const rs of forgotten) {
    actions.push({
      do: 'delete',
      type: replicasets,
      name: { namespace: rs.metadata.namespace ?? '', name: rs.metadata.name ?? '' },
      uid: rs.metadata.uid ?? '',
    });
  }
  const current = steps.find((step) => step.before === rollout.stored)?.next;
  const revision = current === undefined ? undefined : String(revisionOf(current));
  const plan: Plan = { actions, events, status: statusUpdate(d, status, revision) };
  return created === undefined ? plan : { ...plan, statusOnFailure: (error) => createFailed(rollout, created.metadata.name ?? '', error) };
}

function createFailed({ d, observed, now }: Rollout, name: string, error: Error): UpdateAction | undefined {
  if (isNamespaceTerminating(error) || !hasProgressDeadline(d)) return undefined;
  const failed = condition(
    'Progressing',
    'False',
    'ReplicaSetCreateError',
    `Failed to create new replica set "${name}": ${error.message}`,
    now,
  );
  return statusUpdate(d, countedStatus(d, observed.claim.owned, undefined, withCondition(d.status?.conditions ?? [], failed), now));
}

/** The status, and with it the revision annotation; undefined when both are there already. */
function statusUpdate(d: Deployment, status: DeploymentStatus, revision?: string): UpdateAction | undefined {
  const sameRevision = revision === undefined || d.metadata.annotations?.[REVISION] === revision;
  if (sameRevision && deepEqual(d.status ?? {}, status)) return undefined;
  const metadata = sameRevision ? d.metadata : { ...d.metadata, annotations: { ...d.metadata.annotations, [REVISION]: revision } };
  return { do: 'update', type: deployments, object: { ...d, metadata, status } as Deployment, subresource: 'status' };
}
