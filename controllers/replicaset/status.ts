/** The status of a ReplicaSet as a pure function of its pods. Mirrors upstream `replica_set_utils.go` calculateStatus. */
import { isReason } from '../../machinery/api/status.ts';
import { formatTime } from '../../machinery/api/time.ts';
import type { ReplicaSet, ReplicaSetCondition, ReplicaSetStatus } from '../../machinery/api/types/apps.v1.ts';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import { isAvailable, isReady } from '../pods.ts';

export interface CountedPods {
  readonly active: readonly Pod[];
  readonly terminating: readonly Pod[];
}

/** `failure` is what went wrong in carrying out the plan, if anything did. */
export function replicaSetStatus(
  rs: ReplicaSet,
  pods: CountedPods,
  now: Date,
  failure?: { reason: string; error: Error },
): ReplicaSetStatus {
  const minReadySeconds = rs.spec.minReadySeconds ?? 0;
  const labels = Object.entries(rs.spec.template?.metadata?.labels ?? {});
  const counts = { fullyLabeled: 0, ready: 0, available: 0 };
  for (const pod of pods.active) {
    if (labels.every(([key, value]) => pod.metadata.labels?.[key] === value)) counts.fullyLabeled++;
    if (!isReady(pod)) continue;
    counts.ready++;
    if (isAvailable(pod, minReadySeconds, now)) counts.available++;
  }
  const conditions = withFailure(rs.status?.conditions ?? [], now, failure);
  return {
    replicas: pods.active.length,
    ...counted('fullyLabeledReplicas', counts.fullyLabeled),
    ...counted('readyReplicas', counts.ready),
    ...counted('availableReplicas', counts.available),
    terminatingReplicas: pods.terminating.length,
    observedGeneration: Math.max(rs.metadata.generation ?? 0, rs.status?.observedGeneration ?? 0),
    ...(conditions.length > 0 && { conditions }),
  };
}

/** Counts of nothing are not written. */
const counted = (name: string, count: number): Record<string, number> => (count === 0 ? {} : { [name]: count });

/** The condition stays as first set while failures go on, and goes with the first success. */
function withFailure(
  conditions: readonly ReplicaSetCondition[],
  now: Date,
  failure?: { reason: string; error: Error },
): ReplicaSetCondition[] {
  const others = conditions.filter((condition) => condition.type !== 'ReplicaFailure');
  if (failure === undefined) return others;
  const before = conditions.find((condition) => condition.type === 'ReplicaFailure');
  if (before !== undefined) return [...conditions];
  const { reason, error } = failure;
  return [...others, { type: 'ReplicaFailure', status: 'True', lastTransitionTime: formatTime(now), reason, message: error.message }];
}

/** A namespace on its way out takes no pods: nothing to tell about. */
export function isNamespaceTerminating(error: Error): boolean {
  return isReason(error, 'Forbidden') && (error.status.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating');
}
