/** The taints that follow from a node's conditions. Mirrors upstream `node_lifecycle_controller.go` (nodeConditionToTaintKeyStatusMap, doNoScheduleTaintingPass). Pure. */

import { formatTime } from '../../machinery/api/time.ts';
import type { Node, Taint } from '../../machinery/api/types/core.v1.ts';
import { NOT_READY, UNREACHABLE, UNSCHEDULABLE } from '../../machinery/api/well-known-labels.ts';

const BY_CONDITION: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: NOT_READY, Unknown: UNREACHABLE },
  MemoryPressure: { True: 'node.kubernetes.io/memory-pressure' },
  DiskPressure: { True: 'node.kubernetes.io/disk-pressure' },
  NetworkUnavailable: { True: 'node.kubernetes.io/network-unavailable' },
  PIDPressure: { True: 'node.kubernetes.io/pid-pressure' },
};
const OURS = new Set([...Object.values(BY_CONDITION).flatMap((keys) => Object.values(keys)), UNSCHEDULABLE]);

export const readyStatus = (node: Node): string | undefined =>
  node.status?.conditions?.find((condition) => condition.type === 'Ready')?.status;

/** True when a NoExecute taint is due that the node does not have yet: the moment that evictions are limited by. */
export function isEvictionDue(node: Node): boolean {
  const key = evictionKey(node);
  return key !== undefined && !node.spec.taints?.some((taint) => taint.key === key && taint.effect === 'NoExecute');
}

const evictionKey = (node: Node): string | undefined => BY_CONDITION['Ready']?.[readyStatus(node) ?? ''];

/** 'hold': the NoExecute taint has to wait, what is there stays; 'never': none, whatever the conditions say. */
export type Eviction = 'now' | 'hold' | 'never';

/** All taints the node should have; the same array when it has them. A node without a Ready condition keeps what it was registered with. */
export function wantedTaints(node: Node, evict: Eviction, now: Date): readonly Taint[] {
  const before = node.spec.taints ?? [];
  if (readyStatus(node) === undefined) return before;
  const wanted: Taint[] = [];
  for (const { type, status } of node.status?.conditions ?? []) {
    const key = BY_CONDITION[type]?.[status];
    if (key !== undefined) wanted.push({ key, effect: 'NoSchedule' });
  }
  if (node.spec.unschedulable) wanted.push({ key: UNSCHEDULABLE, effect: 'NoSchedule' });
  const key = evictionKey(node);
  if (key !== undefined && evict === 'now') wanted.push({ key, effect: 'NoExecute' });
  if (key !== undefined && evict === 'hold') wanted.push(...before.filter((taint) => taint.effect === 'NoExecute'));
  const isSame = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect;
  const isOurs = (taint: Taint): boolean =>
    taint.effect === 'NoSchedule'
      ? OURS.has(taint.key)
      : taint.effect === 'NoExecute' && (taint.key === NOT_READY || taint.key === UNREACHABLE);
  const kept = before.filter((taint) => !isOurs(taint) || wanted.some((other) => isSame(other, taint)));
  const added = wanted
    .filter((taint) => !before.some((other) => isSame(other, taint)))
    .map((taint) => ({ ...taint, timeAdded: formatTime(now) }));
  return kept.length === before.length && added.length === 0 ? before : [...kept, ...added];
}
