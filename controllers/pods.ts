/**
 * What the loops ask about a pod: does it count, is it ready, since when is it available.
 * Mirrors upstream `pkg/api/v1/pod` and `controller_utils.go`. Pure; times are milliseconds since the epoch.
 */
import { formatTime } from '../machinery/api/time.ts';
import type { Pod, PodCondition } from '../machinery/api/types/core.v1.ts';
import { pods } from '../machinery/client/resource-type.ts';
import type { PatchAction } from '../machinery/loop/plan.ts';

export function podCondition(pod: Pod, type: string): PodCondition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

/** The part of a status patch that sets one condition from now on. The strategic merge keeps the others. */
export function conditionsPatch(
  condition: Omit<PodCondition, 'lastTransitionTime'>,
  now: Date,
): { readonly conditions: readonly PodCondition[] } {
  return { conditions: [{ ...condition, lastTransitionTime: formatTime(now) }] };
}

/** Sets one condition of this very pod; a pod that has gone meanwhile needs none. */
export function patchCondition(pod: Pod, condition: Omit<PodCondition, 'lastTransitionTime'>, now: Date): PatchAction {
  const { namespace = '', name = '', uid } = pod.metadata;
  return {
    do: 'patch',
    type: pods,
    name: { namespace, name },
    patchType: 'application/strategic-merge-patch+json',
    patch: { metadata: { uid }, status: conditionsPatch(condition, now) },
    subresource: 'status',
    tolerate: ['NotFound'],
  };
}

/** Succeeded or Failed: it will not run again. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Counts towards the replicas of its controller: neither finished nor on its way out. */
export function isActive(pod: Pod): boolean {
  return !isFinished(pod) && pod.metadata.deletionTimestamp === undefined;
}

/** Being deleted and not finished yet. */
export function isTerminating(pod: Pod): boolean {
  return !isFinished(pod) && pod.metadata.deletionTimestamp !== undefined;
}

export function isReady(pod: Pod): boolean {
  return podCondition(pod, 'Ready')?.status === 'True';
}

/** When the pod became ready; undefined while it is not, or when the kubelet gave no time. */
export function readySince(pod: Pod): number | undefined {
  const condition = podCondition(pod, 'Ready');
  if (condition?.status !== 'True' || !condition.lastTransitionTime) return undefined;
  return Date.parse(condition.lastTransitionTime);
}

/** When a ready pod counts as available: `minReadySeconds` after it became ready. Undefined while it is not ready. */
export function availableFrom(pod: Pod, minReadySeconds: number): number | undefined {
  if (!isReady(pod)) return undefined;
  if (minReadySeconds <= 0) return 0;
  const since = readySince(pod);
  return since === undefined ? undefined : since + minReadySeconds * 1000;
}

export function isAvailable(pod: Pod, minReadySeconds: number, now: Date): boolean {
  const from = availableFrom(pod, minReadySeconds);
  return from !== undefined && from <= now.getTime();
}
