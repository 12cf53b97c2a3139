/**
 * Deployment: one ReplicaSet per pod template, rolled from one to the next within its bounds. Mirrors upstream `pkg/controller/deployment`.
 *
 * Invariant: each single write keeps at most replicas + maxSurge pods possible and at least replicas - maxUnavailable available pods sure (deployment/bounds.ts),
 * so the loop may be killed between any two writes. What to do is decided from the sets and pods there are; the only memory is in their annotations.
 */

import { controllerOf, objectKey, splitKey } from '../machinery/api/object.ts';
import { matches, selectorOf } from '../machinery/api/selector.ts';
import type { Deployment, DeploymentCondition, ReplicaSet } from '../machinery/api/types/apps.v1.ts';
import type { Pod } from '../machinery/api/types/core.v1.ts';
import { BY_OWNER } from '../machinery/client/informer.ts';
import { deployments, pods, replicasets } from '../machinery/client/resource-type.ts';
import type { PlannedController, View, Watch } from '../machinery/loop/controller.ts';
import type { Plan } from '../machinery/loop/plan.ts';
import { watchFor } from '../machinery/loop/watches.ts';
import { maxRevision } from './deployment/annotations.ts';
import { isRollingUpdate, replicasOf, type Standing, standingOf } from './deployment/bounds.ts';
import { setsToForget } from './deployment/history.ts';
import { isScaled, recreateSizes, rollingSizes, type Sets, scaledSizes } from './deployment/sizes.ts';
import { countedStatus, deadlineCheckMs, foundCondition, isComplete, pausedConditions, rolloutStatus } from './deployment/status.ts';
import { byCreation, findCurrentSet, newSet, setName } from './deployment/template.ts';
import {
  finish,
  resized,
  type Step,
  statusUpdate,
  type Written,
  withCurrentAnnotations,
  withMinReady,
  withSize,
} from './deployment/writes.ts';
import { type Claim, claim, claimActions, watchClaimed } from './ownership.ts';
import { isActive } from './pods.ts';

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
  const { owned } = found;
  const rollout: Rollout = { d, stored, owned, old: owned.filter((rs) => rs !== stored).sort(byCreation), observed, now };
  const conditions = pausedConditions(d, now);
  if (d.metadata.deletionTimestamp !== undefined) return finish(rollout, [], countedStatus(d, found.owned, stored, conditions, now));
  const sets = standings(rollout);
  if (d.spec.paused || isScaled(d, sets)) return scale(rollout, sets, conditions);
  if (stored === undefined && observed.occupant !== undefined) return collision(rollout, conditions);
  return roll(rollout, conditions, sets);
}

interface Rollout extends Written {
  readonly old: readonly ReplicaSet[];
  readonly observed: ObservedDeployment;
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
  const { d, stored, old, owned, now } = rollout;
  const { sizes, resized: resizedSets } = scaledSizes(d, sets);
  const steps = [...sets.old, ...(sets.current ? [sets.current] : [])].map(({ rs }): Step => {
    const synced = rs === stored ? withCurrentAnnotations(d, rs, maxRevision(old) + 1) : rs;
    const size = sizes.get(rs.metadata.name ?? '') ?? replicasOf(rs);
    const noted = size !== replicasOf(rs) || resizedSets.some((set) => set.rs === rs);
    return { before: rs, next: noted ? withSize(d, synced, size) : synced };
  });
  const forgotten = d.spec.paused ? setsToForget(d, old) : [];
  return finish(rollout, steps, countedStatus(d, owned, stored, conditions, now), forgotten);
}

/** The name of the new set belongs to somebody else: count it, which makes the next name another one. */
function collision({ d, owned, now }: Rollout, conditions: readonly DeploymentCondition[]): Plan {
  const status = countedStatus(d, owned, undefined, conditions, now);
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
