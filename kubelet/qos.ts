/** The quality-of-service class of a pod, from its requests and limits of cpu and memory. Mirrors upstream `apis/core/v1/helper/qos`. */
import type { Pod, ResourceList } from '../machinery/api/types/core.v1.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const isZero = (value: unknown): boolean => value === undefined || /^[+-]?0*(\.0*)?[a-zA-Z]*$/.test(String(value));

export function qosClassOf(pod: Pod): QosClass {
  const podLevel = pod.spec.resources;
  const all =
    podLevel?.requests || podLevel?.limits ? [{ resources: podLevel }] : [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  let any = false;
  let guaranteed = true;
  for (const { resources } of all) {
    for (const name of ['cpu', 'memory']) {
      const request = of(resources?.requests, name);
      const limit = of(resources?.limits, name);
      if (!isZero(request) || !isZero(limit)) any = true;
      if (isZero(limit) || (request !== undefined && String(request) !== String(limit))) guaranteed = false;
    }
  }
  return !any ? 'BestEffort' : guaranteed ? 'Guaranteed' : 'Burstable';
}

const of = (list: ResourceList | undefined, name: string): unknown => list?.[name];
