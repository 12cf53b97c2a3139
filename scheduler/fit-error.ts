/** Why no node took a pod, in upstream's words (`framework.FitError`). Pure. */
import type { Rejection } from './framework/plugin.ts';

export interface Diagnosis {
  readonly nodeCount: number;
  /** By node name. */
  readonly rejections: ReadonlyMap<string, Rejection>;
  /** Set when the pod was rejected before any node was looked at. */
  readonly prefilterMessage?: string;
  /** Names of the plugins that rejected. */
  readonly rejectedBy: ReadonlySet<string>;
}

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.` and what preemption has to say. */
export function fitMessage(diagnosis: Diagnosis, postFilterMessage = ''): string {
  let message = `0/${diagnosis.nodeCount} nodes are available:`;
  if (diagnosis.prefilterMessage) message += ` ${diagnosis.prefilterMessage}.`;
  else if (diagnosis.rejections.size > 0)
    message += ` ${histogram([...diagnosis.rejections.values()].flatMap((rejection) => rejection.reasons))}.`;
  if (postFilterMessage) message += ` ${postFilterMessage}`;
  return message;
}

/** `1 Insufficient cpu, 2 Too many pods`: counted, then sorted as texts. */
export function histogram(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const texts = [...counts].map(([reason, count]) => `${count} ${reason}`);
  return texts.sort((a, b) => (a < b ? -1 : 1)).join(', ');
}
