/**
 * ReplicaSet: keeps spec.replicas pods that match the selector; adopts orphans, releases strangers, deletes the least useful first.
 * Mirrors upstream `pkg/controller/replicaset`.
 *
 * Invariant: it never makes a pod that would be one more than spec.replicas. Its own writes are always seen before it counts again (freshness),
 * terminating pods do not count, and a pass that adopts or releases does nothing else.
 */

import { deepEqual } from '../machinery/api/equality.ts';
import { controllerOf, splitKey } from '../machinery/api/object.ts';
import { selectorOf } from '../machinery/api/selector.ts';
import type { ReplicaSet, ReplicaSetStatus } from '../machinery/api/types/apps.v1.ts';
import type { Pod } from '../machinery/api/types/core.v1.ts';
import { BY_OWNER, UNCONTROLLED } from '../machinery/client/informer.ts';
import { pods, replicasets } from '../machinery/client/resource-type.ts';
import type { PlannedController, View } from '../machinery/loop/controller.ts';
import type { Action, Plan, PlannedEvent, UpdateAction } from '../machinery/loop/plan.ts';
import { watchFor } from '../machinery/loop/watches.ts';
import { type Claim, claim, claimActions, controllerReference, watchClaimed } from './ownership.ts';
import { availableFrom, isActive, isTerminating } from './pods.ts';
import { podsToDelete } from './replicaset/ranking.ts';
import { isNamespaceTerminating, replicaSetStatus } from './replicaset/status.ts';

/** At most so many creates or deletes in one pass (upstream's BurstReplicas). */
const BURST = 500;

export interface ObservedReplicaSet {
  readonly rs: ReplicaSet;
  readonly claim: Claim<Pod>;
  /** Active pods of all ReplicaSets with the same controller, this one's included; looked for only while there are too many. */
  readonly related: readonly Pod[];
}

export function replicasetController(workers?: number): PlannedController<ObservedReplicaSet> {
  return {
    name: 'replicaset',
    component: 'replicaset-controller',
    ...(workers !== undefined && { workers }),
    watches: [watchFor(replicasets), watchClaimed(pods, replicasets)],
    observe: observeReplicaSet,
    compare: compareReplicaSet,
  };
}

export function observeReplicaSet(key: string, view: View): ObservedReplicaSet | undefined {
  const rs = view.of(replicasets).get(key);
  if (rs === undefined) return undefined;
  const { namespace } = splitKey(key);
  const podsOf = (owner: ReplicaSet): readonly Pod[] => view.of(pods).byIndex(BY_OWNER, owner.metadata.uid ?? '');
  const own = podsOf(rs);
  const orphans = view.of(pods).byIndex(UNCONTROLLED, namespace).filter(isActive);
  const related = own.length > (rs.spec.replicas ?? 1) ? siblingsOf(rs, view).flatMap((sibling) => activePodsOf(sibling, podsOf)) : [];
  return { rs, claim: claim(rs, selectorOf(rs.spec.selector), [...own, ...orphans]), related };
}

function siblingsOf(rs: ReplicaSet, view: View): readonly ReplicaSet[] {
  const controller = controllerOf(rs);
  return controller === undefined ? [rs] : view.of(replicasets).byIndex(BY_OWNER, controller.uid);
}

const activePodsOf = (rs: ReplicaSet, podsOf: (owner: ReplicaSet) => readonly Pod[]): readonly Pod[] =>
  podsOf(rs).filter((pod) => isActive(pod) && controllerOf(pod)?.uid === rs.metadata.uid);

export function compareReplicaSet({ rs, claim: found, related }: ObservedReplicaSet, now: Date): Plan {
  const counted = { active: found.owned.filter(isActive), terminating: found.owned.filter(isTerminating) };
  const claims = claimActions(replicasets, rs, pods, { ...found, release: found.release.filter(isActive) });
  if (claims.length > 0) return { actions: claims };
  const surplus = counted.active.length - (rs.spec.replicas ?? 1);
  const { actions, events } =
    rs.metadata.deletionTimestamp !== undefined ? { actions: [], events: [] } : correct(rs, counted.active, related, surplus, now);
  const reason = surplus < 0 ? 'FailedCreate' : 'FailedDelete';
  const failed = (error: Error): UpdateAction | undefined =>
    statusUpdate(rs, replicaSetStatus(rs, counted, now, isNamespaceTerminating(error) ? undefined : { reason, error }));
  return {
    actions,
    events,
    status: statusUpdate(rs, replicaSetStatus(rs, counted, now)),
    statusOnFailure: failed,
    ...nextLook(rs, counted.active, now),
  };
}

/** The creates or deletes that bring the number of pods to spec.replicas. */
function correct(
  rs: ReplicaSet,
  active: readonly Pod[],
  related: readonly Pod[],
  surplus: number,
  now: Date,
): { actions: Action[]; events: PlannedEvent[] } {
  const actions: Action[] = [];
  const events: PlannedEvent[] = [];
  const tell = (reason: string, failure: string, done: string, wrong: string): void => {
    const index = actions.length - 1;
    events.push({ about: rs, type: 'Normal', reason, message: done, after: index });
    events.push({ about: rs, type: 'Warning', reason: failure, message: wrong, onFailure: index });
  };
  for (let missing = Math.min(-surplus, BURST); missing > 0; missing--) {
    actions.push({ do: 'create', type: pods, object: newPod(rs), tolerate: ['NamespaceTerminating'] });
    tell('SuccessfulCreate', 'FailedCreate', 'Created pod: {name}', 'Error creating: {error}');
  }
  if (surplus > 0) {
    for (const pod of podsToDelete(active, related, Math.min(surplus, BURST), now)) {
      const name = { namespace: pod.metadata.namespace ?? '', name: pod.metadata.name ?? '' };
      // only as it was when chosen: a pod that became ready meanwhile must not go in the place of one that is not; its change wakes us
      const { uid = '', resourceVersion = '' } = pod.metadata;
      actions.push({ do: 'delete', type: pods, name, uid, options: { resourceVersion }, tolerate: ['Conflict'] });
      tell('SuccessfulDelete', 'FailedDelete', `Deleted pod: ${name.name}`, 'Error deleting: {error}');
    }
  }
  return { actions, events };
}

/** A pod from the template (controller_utils.go GetPodFromTemplate); the server completes the name. */
export function newPod(rs: ReplicaSet): Pod {
  const template = rs.spec.template;
  const { labels, annotations, finalizers } = template?.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${rs.metadata.name}-`,
      ...(rs.metadata.namespace && { namespace: rs.metadata.namespace }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [controllerReference(replicasets, rs)],
    },
    spec: template?.spec ?? { containers: [] },
  };
}

function statusUpdate(rs: ReplicaSet, status: ReplicaSetStatus): UpdateAction | undefined {
  if (deepEqual(rs.status ?? {}, status)) return undefined;
  return { do: 'update', type: replicasets, object: { ...rs, status } as ReplicaSet, subresource: 'status' };
}

/** Pods that are ready and not yet available become so without anybody telling us. */
function nextLook(rs: ReplicaSet, active: readonly Pod[], now: Date): { requeueAfterMs?: number } {
  const minReadySeconds = rs.spec.minReadySeconds ?? 0;
  const waits = active.map((pod) => (availableFrom(pod, minReadySeconds) ?? 0) - now.getTime()).filter((wait) => wait > 0);
  return waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : {};
}
