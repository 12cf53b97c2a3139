/**
 * What a node has set aside for a pod, beside what the pod asks for: the two differ from the moment a pod is resized until the node has room for it.
 * Mirrors upstream `kubelet/allocation` (UpdatePodFromAllocation) and `kuberuntime` (computePodResizeAction). Pure.
 */
import { compareQuantities, parseQuantity } from '../../machinery/api/quantity.ts';
import type { Container, Pod, ResourceRequirements } from '../../machinery/api/types/core.v1.ts';
import type { RuntimeContainer, RuntimePod } from '../runtime/interface.ts';

/** What can be changed while a container lives. */
const RESIZABLE = ['cpu', 'memory'] as const;

const containersOf = ({ spec }: Pod): readonly Container[] => [...(spec.initContainers ?? []), ...spec.containers];

/** What the pod asks for, by container. */
export const resourcesOf = (pod: Pod): Record<string, ResourceRequirements> =>
  Object.fromEntries(containersOf(pod).map(({ name, resources }) => [name, resources ?? {}]));

export const allocatedTo = (runtime: RuntimePod | undefined, { name, resources }: Container): ResourceRequirements =>
  runtime?.allocation?.resources[name] ?? resources ?? {};

/** The pod with what its node has set aside for it. */
export function allocatedPod(pod: Pod, runtime: RuntimePod | undefined): Pod {
  if (!runtime?.allocation) return pod;
  const allocated = (container: Container): Container => ({ ...container, resources: allocatedTo(runtime, container) });
  const { initContainers, containers } = pod.spec;
  return {
    ...pod,
    spec: { ...pod.spec, ...(initContainers && { initContainers: initContainers.map(allocated) }), containers: containers.map(allocated) },
  };
}

/** Whether the pod asks for something else than it was given. */
export const asksForResize = (pod: Pod, runtime: RuntimePod): boolean =>
  containersOf(pod).some((container) => changedResources(allocatedTo(runtime, container), container.resources ?? {}).length > 0);

/** Whether a container of the pod runs with something else than is set aside for it. */
export const isResizing = (pod: Pod, runtime: RuntimePod | undefined): boolean =>
  containersOf(pod).some((spec) => {
    const container = runtime?.containers.get(spec.name);
    return container?.state === 'running' && changedFor(runtime, spec, container).length > 0;
  });

/** The resources of a running container that are to change. */
export const changedFor = (runtime: RuntimePod | undefined, spec: Container, container: RuntimeContainer): readonly string[] =>
  container.resources === undefined ? [] : changedResources(container.resources, allocatedTo(runtime, spec));

export const needsRestart = (spec: Container, changed: readonly string[]): boolean =>
  changed.some((name) => spec.resizePolicy?.find((policy) => policy.resourceName === name)?.restartPolicy === 'RestartContainer');

const changedResources = (before: ResourceRequirements, after: ResourceRequirements): string[] =>
  RESIZABLE.filter((name) => (['requests', 'limits'] as const).some((side) => !sameAmount(before[side]?.[name], after[side]?.[name])));

const sameAmount = (a: string | undefined, b: string | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && compareQuantities(parseQuantity(a), parseQuantity(b)) === 0);
