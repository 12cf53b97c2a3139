/**
 * The quality of service class of a pod, from what it asks of cpu and memory. Mirrors upstream `apis/core/v1/helper/qos`. The API server sets it at the
 * creation and the kubelet reports it; both must come to the same.
 */
import { addQuantities, compareQuantities, parseQuantity, type Quantity, quantityMilli } from './quantity.ts';
import type { PodSpec, ResourceRequirements } from './types/core.v1.ts';

const COMPUTE = ['cpu', 'memory'];

type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

export function qosClassOf(spec: PodSpec): QosClass {
  if (spec.resources?.requests !== undefined || spec.resources?.limits !== undefined) return classOf([{ resources: spec.resources }]);
  return classOf([...(spec.containers ?? []), ...(spec.initContainers ?? [])]);
}

function classOf(containers: readonly { resources?: ResourceRequirements }[]): QosClass {
  const requests = new Map<string, Quantity>();
  const limits = new Map<string, Quantity>();
  let guaranteed = true;
  for (const { resources } of containers) {
    sum(resources?.requests, requests);
    if (sum(resources?.limits, limits) < COMPUTE.length) guaranteed = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const equal =
    requests.size === limits.size && [...requests].every(([name, q]) => limits.has(name) && compareQuantities(limits.get(name)!, q) === 0);
  return guaranteed && equal ? 'Guaranteed' : 'Burstable';
}

/** Adds the compute resources above zero and says how many there were. */
function sum(list: Record<string, string> | undefined, totals: Map<string, Quantity>): number {
  let found = 0;
  if (list === undefined) return 0;
  for (const name of COMPUTE) {
    const value = list[name];
    if (value === undefined) continue;
    const quantity = parseQuantity(value);
    if (quantityMilli(quantity) <= 0) continue;
    found++;
    const total = totals.get(name);
    totals.set(name, total === undefined ? quantity : addQuantities(total, quantity));
  }
  return found;
}
