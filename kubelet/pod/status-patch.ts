/**
 * Writing a pod's status as upstream's status manager does: a strategic merge patch of `/status` guarded by the uid, which leaves the conditions of others alone.
 */
import { isReason, type StatusError } from '../../machinery/api/status.ts';
import type { Pod, PodCondition, PodStatus } from '../../machinery/api/types/core.v1.ts';
import { OWNED_CONDITIONS } from '../conditions.ts';
import { RESIZE_CONDITIONS } from './resize.ts';

/** The members of a status that the kubelet decides; one that is absent is taken away. */
const OWNED = [
  'observedGeneration',
  'phase',
  'message',
  'reason',
  'hostIP',
  'hostIPs',
  'podIP',
  'podIPs',
  'startTime',
  'initContainerStatuses',
  'containerStatuses',
  'ephemeralContainerStatuses',
] as const satisfies readonly (keyof PodStatus)[];

/** Whether what the kubelet owns differs; times of transitions follow their status and are not compared. */
export function statusDiffers(known: PodStatus | undefined, wanted: PodStatus): boolean {
  for (const member of OWNED) if (!same(known?.[member], wanted[member])) return true;
  for (const type of OWNED_CONDITIONS) {
    if (!sameCondition(conditionOf(known, type), conditionOf(wanted, type))) return true;
  }
  return false;
}

export function statusPatch(pod: Pod, wanted: PodStatus): Record<string, unknown> {
  const status: Record<string, unknown> = { qosClass: wanted.qosClass };
  const current = pod.status;
  for (const member of OWNED) {
    const value = wanted[member];
    if (value !== undefined) status[member] = value;
    else if (current?.[member] !== undefined) status[member] = null;
  }
  // Lists of addresses merge by address: one that is gone must be named.
  for (const member of ['podIPs', 'hostIPs'] as const) {
    const stale = (current?.[member] ?? []).filter((old) => !wanted[member]?.some((ip) => ip.ip === old.ip));
    if (stale.length > 0) status[member] = [...(wanted[member] ?? []), ...stale.map((old) => ({ ip: old.ip, $patch: 'delete' }))];
  }
  const over = RESIZE_CONDITIONS.filter((type) => conditionOf(current, type) && !conditionOf(wanted, type));
  const changed = (wanted.conditions ?? [])
    .filter((condition) => !sameCondition(conditionOf(current, condition.type), condition))
    .map((condition) => {
      const old = conditionOf(current, condition.type);
      return {
        ...condition,
        ...(old?.reason && !condition.reason && { reason: null }),
        ...(old?.message && !condition.message && { message: null }),
      };
    });
  status['conditions'] = [...changed, ...over.map((type) => ({ type, $patch: 'delete' }))];
  // Upstream lists them first.
  if (RESIZE_CONDITIONS.some((type) => conditionOf(wanted, type))) status['$setElementOrder/conditions'] = order(current, wanted);
  return { metadata: { uid: pod.metadata.uid }, status };
}

/** The pod that a write was meant for is no more. */
export const isGoneOrReplaced = (error: unknown): error is StatusError =>
  isReason(error, 'NotFound', 'Conflict') || (isReason(error, 'Invalid') && /uid/i.test(error.message));

/** The conditions after the patch: ours, then those of others. */
function order(current: PodStatus | undefined, wanted: PodStatus): { type: string }[] {
  const ours = new Set<string>(OWNED_CONDITIONS);
  const all = [...(wanted.conditions ?? []), ...(current?.conditions ?? []).filter(({ type }) => !ours.has(type))];
  return all.map(({ type }) => ({ type }));
}

const conditionOf = (status: PodStatus | undefined, type: string): PodCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);

const sameCondition = (a: PodCondition | undefined, b: PodCondition | undefined): boolean =>
  a?.status === b?.status &&
  (a?.reason ?? '') === (b?.reason ?? '') &&
  (a?.message ?? '') === (b?.message ?? '') &&
  (a?.observedGeneration ?? 0) === (b?.observedGeneration ?? 0);

/** Deep equality of API values in which an absent member, an empty list and an empty object are the same. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isEmpty(a) && isEmpty(b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => same(item, b[index]));
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((key) => same(left[key], right[key]));
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (typeof value === 'object' && Object.keys(value as object).length === 0);
