/**
 * The status of a Deployment: counts from the statuses of its ReplicaSets, conditions with upstream's reasons and texts.
 * Mirrors upstream `deployment/sync.go` (calculateStatus) and `progress.go`.
 */
import { formatTime } from '../../machinery/api/time.ts';
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '../../machinery/api/types/apps.v1.ts';
import { maxUnavailable, replicasOf, sum } from './bounds.ts';

type Conditions = readonly DeploymentCondition[];
const NO_DEADLINE = 2 ** 31 - 1;

export const hasProgressDeadline = (d: Deployment): boolean =>
  d.spec.progressDeadlineSeconds !== undefined && d.spec.progressDeadlineSeconds !== NO_DEADLINE;

export const conditionOf = (conditions: Conditions | undefined, type: string): DeploymentCondition | undefined =>
  conditions?.find((c) => c.type === type);

export const withoutCondition = (conditions: Conditions, type: string): DeploymentCondition[] => conditions.filter((c) => c.type !== type);

export function condition(type: string, status: string, reason: string, message: string, now: Date): DeploymentCondition {
  const time = formatTime(now);
  return { type, status: status as DeploymentCondition['status'], lastUpdateTime: time, lastTransitionTime: time, reason, message };
}

/** Same status and reason: nothing new. Same status: the time of the last transition stays. */
export function withCondition(conditions: Conditions, next: DeploymentCondition): DeploymentCondition[] {
  const before = conditionOf(conditions, next.type);
  if (before?.status === next.status && before.reason === next.reason) return [...conditions];
  const kept =
    before?.status === next.status && before.lastTransitionTime ? { ...next, lastTransitionTime: before.lastTransitionTime } : next;
  return [...withoutCondition(conditions, next.type), kept];
}

/** Counts and availability; `conditions` are those to start from. */
export function countedStatus(
  d: Deployment,
  sets: readonly ReplicaSet[],
  current: ReplicaSet | undefined,
  conditions: Conditions,
  now: Date,
): DeploymentStatus {
  const available = sum(sets, (rs) => rs.status?.availableReplicas ?? 0);
  const unavailable = Math.max(0, sum(sets, replicasOf) - available);
  const terminating = terminatingReplicas(sets);
  const enough = available >= replicasOf(d) - maxUnavailable(d);
  const availability = enough
    ? condition('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.', now)
    : condition('Available', 'False', 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.', now);
  return {
    observedGeneration: d.metadata.generation ?? 0,
    ...counted(
      'replicas',
      sum(sets, (rs) => rs.status?.replicas ?? 0),
    ),
    ...counted('updatedReplicas', current?.status?.replicas ?? 0),
    ...counted(
      'readyReplicas',
      sum(sets, (rs) => rs.status?.readyReplicas ?? 0),
    ),
    ...counted('availableReplicas', available),
    ...counted('unavailableReplicas', unavailable),
    ...(terminating !== undefined && { terminatingReplicas: terminating }),
    conditions: withCondition(conditions, availability),
    ...(d.status?.collisionCount !== undefined && { collisionCount: d.status.collisionCount }),
  };
}

const counted = (name: string, count: number): Record<string, number> => (count === 0 ? {} : { [name]: count });

/** Unknown when a set that was synced does not tell; a set never synced counts as none. */
function terminatingReplicas(sets: readonly ReplicaSet[]): number | undefined {
  const synced = sets.filter((rs) => rs.status?.terminatingReplicas !== undefined || (rs.status?.observedGeneration ?? 0) !== 0);
  if (synced.some((rs) => rs.status?.terminatingReplicas === undefined)) return undefined;
  return sum(synced, (rs) => rs.status?.terminatingReplicas ?? 0);
}

export function isComplete(d: Deployment, status: DeploymentStatus | undefined): boolean {
  const wanted = replicasOf(d);
  const counts = [status?.updatedReplicas ?? 0, status?.replicas ?? 0, status?.availableReplicas ?? 0];
  return counts.every((count) => count === wanted) && (status?.observedGeneration ?? 0) >= (d.metadata.generation ?? 0);
}

/** More updated, ready or available pods, or fewer old ones, than last told. */
function isProgressing(d: Deployment, status: DeploymentStatus): boolean {
  const old = (s: DeploymentStatus | undefined): number => (s?.replicas ?? 0) - (s?.updatedReplicas ?? 0);
  const grown = (name: 'updatedReplicas' | 'readyReplicas' | 'availableReplicas'): boolean => (status[name] ?? 0) > (d.status?.[name] ?? 0);
  return grown('updatedReplicas') || old(status) < old(d.status) || grown('readyReplicas') || grown('availableReplicas');
}

function isTimedOut(d: Deployment, conditions: Conditions, now: Date): boolean {
  const progressing = conditionOf(conditions, 'Progressing');
  if (progressing === undefined || progressing.reason === 'NewReplicaSetAvailable') return false;
  return progressing.reason === 'ProgressDeadlineExceeded' || deadlineInMs(d, progressing, now) < 0;
}

function deadlineInMs(d: Deployment, progressing: DeploymentCondition, now: Date): number {
  return Date.parse(progressing.lastUpdateTime ?? formatTime(now)) + (d.spec.progressDeadlineSeconds ?? 0) * 1000 - now.getTime();
}

/** The status of a rollout under way: counts, and how far it has come (syncRolloutStatus). */
export function rolloutStatus(
  d: Deployment,
  sets: readonly ReplicaSet[],
  current: ReplicaSet | undefined,
  conditions: Conditions,
  now: Date,
): DeploymentStatus {
  const status = countedStatus(d, sets, current, conditions, now);
  const progressing = conditionOf(conditions, 'Progressing');
  let next = [...(status.conditions ?? [])];
  if (!hasProgressDeadline(d)) next = withoutCondition(next, 'Progressing');
  const wasComplete = (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && progressing?.reason === 'NewReplicaSetAvailable';
  if (hasProgressDeadline(d) && !wasComplete) {
    const subject = current === undefined ? `Deployment "${d.metadata.name}"` : `ReplicaSet "${current.metadata.name}"`;
    if (isComplete(d, status)) {
      next = withCondition(
        next,
        condition('Progressing', 'True', 'NewReplicaSetAvailable', `${subject} has successfully progressed.`, now),
      );
    } else if (isProgressing(d, status)) {
      const moved = condition('Progressing', 'True', 'ReplicaSetUpdated', `${subject} is progressing.`, now);
      const since = progressing?.status === 'True' ? progressing.lastTransitionTime : undefined;
      next = [...withoutCondition(next, 'Progressing'), since === undefined ? moved : { ...moved, lastTransitionTime: since }];
    } else if (isTimedOut(d, next, now)) {
      next = withCondition(
        next,
        condition('Progressing', 'False', 'ProgressDeadlineExceeded', `${subject} has timed out progressing.`, now),
      );
    }
  }
  return { ...status, conditions: withReplicaFailure(next, sets, current) };
}

/** A ReplicaFailure of the current set, else of any, shows on the Deployment. */
function withReplicaFailure(conditions: Conditions, sets: readonly ReplicaSet[], current: ReplicaSet | undefined): DeploymentCondition[] {
  const failureOf = (rs: ReplicaSet | undefined) => rs?.status?.conditions?.find((c) => c.type === 'ReplicaFailure' && c.status === 'True');
  const failure = failureOf(current) ?? sets.map(failureOf).find((c) => c !== undefined);
  if (failure === undefined) return withoutCondition(conditions, 'ReplicaFailure');
  return withCondition(conditions, { ...failure, ...(failure.lastTransitionTime && { lastUpdateTime: failure.lastTransitionTime }) });
}

/** Pausing stops the clock of the deadline, and the condition says so; one already exceeded is left as it is. */
export function pausedConditions(d: Deployment, now: Date): DeploymentCondition[] {
  const conditions = d.status?.conditions ?? [];
  const progressing = conditionOf(conditions, 'Progressing');
  if (!hasProgressDeadline(d) || progressing?.reason === 'ProgressDeadlineExceeded') return [...conditions];
  const toldPaused = progressing?.reason === 'DeploymentPaused';
  if (d.spec.paused && !toldPaused)
    return withCondition(conditions, condition('Progressing', 'Unknown', 'DeploymentPaused', 'Deployment is paused', now));
  if (!d.spec.paused && toldPaused)
    return withCondition(conditions, condition('Progressing', 'Unknown', 'DeploymentResumed', 'Deployment is resumed', now));
  return [...conditions];
}

/** Milliseconds until the progress deadline must be looked at again; undefined when nothing is pending. */
export function deadlineCheckMs(d: Deployment, status: DeploymentStatus, now: Date): number | undefined {
  const progressing = conditionOf(status.conditions, 'Progressing');
  if (!hasProgressDeadline(d) || progressing === undefined || isComplete(d, status)) return undefined;
  if (['ProgressDeadlineExceeded', 'NewReplicaSetAvailable', 'DeploymentPaused'].includes(progressing.reason ?? '')) return undefined;
  return Math.max(deadlineInMs(d, progressing, now) + 1, 100);
}

/** What is said of the set of the present template when it is made, or first seen. */
export function foundCondition(d: Deployment, conditions: Conditions, rs: ReplicaSet, isNew: boolean, now: Date): DeploymentCondition[] {
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
