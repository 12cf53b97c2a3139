/** What preemption has to say about a pod that fits nowhere, in upstream's words (`framework/preemption`, `plugins/defaultpreemption`). Pure. */
import { type Diagnosis, histogram } from './fit-error.ts';
import type { PodInfo } from './framework/pod-info.ts';

export const NOT_HELPFUL = 'Preemption is not helpful for scheduling';
export const NO_VICTIMS = 'No preemption victims found for incoming pod';

/** The sentence after the reasons of a failed filter; '' when a node was nominated. */
export function postFilterMessage(pod: PodInfo, diagnosis: Diagnosis): string {
  // A pod rejected before nodes were looked at is not known to the later plugins.
  if (diagnosis.prefilterMessage !== undefined) return 'not found';
  const claims = 'no new claims to deallocate';
  if (pod.pod.spec.preemptionPolicy === 'Never') return `${claims}, preemption: not eligible due to preemptionPolicy=Never.`;
  const reasons = [...diagnosis.rejections.values()].map((rejection) => (rejection.resolvable ? NO_VICTIMS : NOT_HELPFUL));
  return `${claims}, preemption: 0/${diagnosis.nodeCount} nodes are available: ${histogram(reasons)}.`;
}
