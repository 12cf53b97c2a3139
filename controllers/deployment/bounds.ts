/**
 * How many pods a rollout may have too many or too few, and how many there can be or will stay. Mirrors upstream `deployment_util.go`
 * (MaxSurge, MaxUnavailable, ResolveFenceposts), but counts pods where upstream trusts sizes and statuses.
 *
 * Two invariants of every single write rest on this file, so that a loop killed between any two writes breaks neither:
 * - growing: no size is raised unless all pods that may exist afterwards are at most replicas + maxSurge. A set may have as many pods as its size, as it
 *   still has in our copy or as its status last told, whichever is most (`potential`); while a set has not yet acted upon its last size nobody grows.
 * - shrinking: no size is lowered unless the available pods that surely stay are at least replicas - maxUnavailable (`surelyAvailable`).
 *
 * Example: 4 replicas, maxSurge 1; the old set was just lowered from 4 to 3 but its fourth pod is still alive. Sizes say 3, so upstream raises the new
 * set from 1 to 2 and six pods may run for a moment. Here the old set's potential is 4 until that pod is terminating.
 */
import { scaledValue } from '../../machinery/api/intstr.ts';
import type { Deployment, ReplicaSet } from '../../machinery/api/types/apps.v1.ts';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import { mutant } from '../../machinery/process/mutants.ts';
import { isActive, isAvailable, isFinished, isReady } from '../pods.ts';

export const replicasOf = (object: Deployment | ReplicaSet): number => object.spec.replicas ?? 1;

export const isRollingUpdate = (d: Deployment): boolean => (d.spec.strategy?.type ?? 'RollingUpdate') === 'RollingUpdate';

/** Surge is rounded up, unavailable down; when both come to zero one pod may be unavailable, or nothing could ever move. */
export function fenceposts(d: Deployment): { surge: number; unavailable: number } {
  const rolling = d.spec.strategy?.rollingUpdate;
  const surge = scaledValue(rolling?.maxSurge ?? 0, replicasOf(d), true);
  const unavailable = scaledValue(rolling?.maxUnavailable ?? 0, replicasOf(d), false);
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable };
}

export const maxSurge = (d: Deployment): number => (isRollingUpdate(d) ? fenceposts(d).surge : 0);

export function maxUnavailable(d: Deployment): number {
  if (!isRollingUpdate(d) || replicasOf(d) === 0) return 0;
  return Math.min(fenceposts(d).unavailable, replicasOf(d));
}

/** A ReplicaSet with what is known of its pods. */
export interface Standing {
  readonly rs: ReplicaSet;
  readonly size: number;
  /** Active pods in our copy. */
  readonly active: number;
  readonly ready: number;
  readonly available: number;
  /** Pods in our copy that are not finished, terminating ones included. */
  readonly alive: number;
  /** The set's own loop has acted upon the size it has now. */
  readonly observed: boolean;
}

export function standingOf(rs: ReplicaSet, pods: readonly Pod[], now: Date): Standing {
  const minReadySeconds = rs.spec.minReadySeconds ?? 0;
  const counts = { active: 0, ready: 0, available: 0, alive: 0 };
  for (const pod of pods) {
    if (isFinished(pod)) continue;
    counts.alive++;
    if (!isActive(pod)) continue;
    counts.active++;
    if (!isReady(pod)) continue;
    counts.ready++;
    if (isAvailable(pod, minReadySeconds, now)) counts.available++;
  }
  const observed = mutant('deployment.trusts-sizes') || (rs.status?.observedGeneration ?? 0) >= (rs.metadata.generation ?? 0);
  return { rs, size: replicasOf(rs), ...counts, observed };
}

/** The most active pods the set can have if its size were `size`. */
export function potential(standing: Standing, size = standing.size): number {
  if (mutant('deployment.trusts-sizes')) return size;
  return Math.max(size, standing.active, standing.rs.status?.replicas ?? 0);
}

/** The available pods that stay when the set is brought down to `size`: those not ready go first, then any ready one may. */
export function stayAvailable(standing: Standing, size: number): number {
  return Math.max(0, standing.available - Math.max(0, standing.ready - size));
}

/**
 * The available pods that surely stay at the present size. None of a set that has not acted upon that size yet: it may still be removing pods, for the size before.
 */
export const surelyAvailable = (standing: Standing, size = standing.size): number =>
  standing.observed ? stayAvailable(standing, size) : 0;

export const sum = <T>(items: readonly T[], value: (item: T) => number): number => items.reduce((total, item) => total + value(item), 0);
