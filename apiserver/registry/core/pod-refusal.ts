/**
 * How admission refuses a pod: 403, naming the pod as far as it has a name. Mirrors apiserver `admission.NewForbidden`.
 */
import { forbidden } from '../../../machinery/api/status.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';

const PODS = { group: '', resource: 'pods' };

export function refusePod(pod: core.Pod, why: string): Error {
  // before a name is drawn the object is called by what it will begin with
  return forbidden(PODS, pod.metadata.name || pod.metadata.generateName || '', why);
}
