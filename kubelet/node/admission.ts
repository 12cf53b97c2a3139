/**
 * Whether a node takes a pod it was given. Mirrors upstream `lifecycle/predicate.go`: a pod bound past the scheduler (spec.nodeName) is refused when it does not fit,
 * and then fails with reason OutOfcpu, OutOfpods ….
 */
import { parseQuantity, quantityMilli } from '../../machinery/api/quantity.ts';
import type { Node, Pod } from '../../machinery/api/types/core.v1.ts';

export interface Refusal {
  readonly reason: string;
  readonly message: string;
}

export function admitPod(pod: Pod, accepted: readonly Pod[], node: Node | undefined): Refusal | undefined {
  const allocatable = node?.status?.allocatable;
  if (!allocatable) return undefined;
  const active = accepted.filter((other) => other.status?.phase !== 'Succeeded' && other.status?.phase !== 'Failed');
  const pods = Number(allocatable['pods'] ?? Number.POSITIVE_INFINITY);
  if (active.length + 1 > pods) return refusal('pods', 1, active.length, pods);
  for (const name of ['cpu', 'memory', 'ephemeral-storage']) {
    const wanted = requestMilli(pod, name);
    if (wanted === 0 || allocatable[name] === undefined) continue;
    const used = active.reduce((sum, other) => sum + requestMilli(other, name), 0);
    const capacity = quantityMilli(parseQuantity(allocatable[name]));
    const unit = name === 'cpu' ? 1 : 1000;
    if (used + wanted > capacity) return refusal(name, wanted / unit, used / unit, capacity / unit);
  }
  return undefined;
}

/** Whether a pod that runs here may have what it now asks for, beside what the others were given. Mirrors upstream `allocation_manager.go` (canResizePod). */
export function admitResize(pod: Pod, accepted: readonly Pod[], node: Node | undefined): Refusal | undefined {
  const allocatable = node?.status?.allocatable;
  if (!allocatable) return undefined;
  for (const name of ['memory', 'cpu']) {
    const wanted = requestMilli(pod, name);
    const capacity = quantityMilli(parseQuantity(allocatable[name] ?? '0'));
    const unit = name === 'cpu' ? 1 : 1000;
    if (wanted > capacity)
      return {
        reason: 'Infeasible',
        message: `Node didn't have enough capacity: ${name}, requested: ${wanted / unit}, capacity: ${capacity / unit}`,
      };
  }
  const refused = admitPod(pod, accepted, node);
  return refused && { reason: 'Deferred', message: refused.message.replace('Pod was rejected: ', '') };
}

function refusal(name: string, requested: number, used: number, capacity: number): Refusal {
  return {
    reason: `OutOf${name}`,
    message: `Pod was rejected: Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
  };
}

function requestMilli(pod: Pod, name: string): number {
  const of = (container: { resources?: { requests?: Record<string, string> } }): number => {
    const text = container.resources?.requests?.[name];
    return text === undefined ? 0 : quantityMilli(parseQuantity(text));
  };
  const apps = pod.spec.containers.reduce((sum, container) => sum + of(container), 0);
  return Math.max(apps, ...(pod.spec.initContainers ?? []).map(of));
}
