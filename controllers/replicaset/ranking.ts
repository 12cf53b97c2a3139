/**
 * Which pods go first when there are too many. Mirrors upstream `ActivePodsWithRanks` in `controller_utils.go`; the order of the criteria is
 * what users rely on: without a node, pending, not ready, cheaper by annotation, on a crowded node, ready for a shorter time, restarted more often, younger.
 *
 * Invariant: the order depends on the pods and the time given only, so that a loop started again chooses the same pods.
 */

import type { Pod } from '../../machinery/api/types/core.v1.ts';
import { POD_DELETION_COST } from '../../machinery/api/well-known-labels.ts';
import { isReady, readySince } from '../pods.ts';

const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/** The first `count` of `pods` in the order of deletion. `related` are the active pods of all sets of one owner: a node is crowded by them all. */
export function podsToDelete(pods: readonly Pod[], related: readonly Pod[], count: number, now: Date): Pod[] {
  if (count >= pods.length) return [...pods];
  const onNode = new Map<string, number>();
  for (const pod of related) {
    const node = pod.spec.nodeName ?? '';
    onNode.set(node, (onNode.get(node) ?? 0) + 1);
  }
  const rank = (pod: Pod): number => onNode.get(pod.spec.nodeName ?? '') ?? 0;
  return [...pods].sort((a, b) => compareForDeletion(a, b, rank, now)).slice(0, count);
}

/** Negative when `a` goes before `b`. */
export function compareForDeletion(a: Pod, b: Pod, rank: (pod: Pod) => number, now: Date): number {
  return (
    Number(Boolean(a.spec.nodeName)) - Number(Boolean(b.spec.nodeName)) ||
    (PHASES[a.status?.phase ?? ''] ?? 0) - (PHASES[b.status?.phase ?? ''] ?? 0) ||
    Number(isReady(a)) - Number(isReady(b)) ||
    deletionCost(a) - deletionCost(b) ||
    rank(b) - rank(a) ||
    (isReady(a) ? compareAges(readySince(a), readySince(b), a, b, now) : 0) ||
    compareNumbers(restarts(b), restarts(a)) ||
    compareAges(created(a), created(b), a, b, now) ||
    compareTexts(a.metadata.uid ?? '', b.metadata.uid ?? '')
  );
}

/**
 * The younger goes first, but ages of one power of two count as equal and are decided by uid, so that not always the newest pods go
 * (LogarithmicScaleDown). A missing time counts as youngest.
 */
function compareAges(timeA: number | undefined, timeB: number | undefined, a: Pod, b: Pod, now: Date): number {
  if (timeA === timeB) return 0;
  if (timeA === undefined) return -1;
  if (timeB === undefined) return 1;
  const byMagnitude = magnitude(now.getTime() - timeA) - magnitude(now.getTime() - timeB);
  return byMagnitude || compareTexts(a.metadata.uid ?? '', b.metadata.uid ?? '');
}

/** Whole binary logarithm of an age in nanoseconds, as upstream; -1 for none. */
const magnitude = (ageMs: number): number => (ageMs > 0 ? Math.floor(Math.log2(ageMs * 1e6)) : -1);

const created = (pod: Pod): number | undefined => (pod.metadata.creationTimestamp ? Date.parse(pod.metadata.creationTimestamp) : undefined);

function restarts(pod: Pod): number {
  return Math.max(0, ...(pod.status?.containerStatuses ?? []).map((status) => status.restartCount ?? 0));
}

/** An annotation that is no 32-bit integer counts as 0. */
function deletionCost(pod: Pod): number {
  const text = pod.metadata.annotations?.[POD_DELETION_COST] ?? '';
  const cost = /^(0|-?[1-9][0-9]*)$/.test(text) ? Number(text) : 0;
  return cost >= -(2 ** 31) && cost < 2 ** 31 ? cost : 0;
}

const compareNumbers = (a: number, b: number): number => a - b;
const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
