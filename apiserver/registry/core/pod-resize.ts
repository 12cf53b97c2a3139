/**
 * The subresource by which CPU and memory of a pod that runs change. Mirrors kubernetes `pkg/registry/core/pod` podResizeStrategy and
 * ValidatePodResize.
 */
import { deepClone, deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, forbiddenField, invalidValue } from '../../../machinery/api/field-error.ts';
import { qosClassOf } from '../../../machinery/api/qos.ts';
import { typeSchema } from '../../../machinery/api/schema/schema.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { MIRROR } from '../../../machinery/api/well-known-labels.ts';
import type { SubresourceStrategy } from '../resource.ts';
import { podSpecAndAnnotationErrors } from './pod-create.ts';
import { keepPod } from './pod-views.ts';

const LISTS = ['containers', 'initContainers'] as const;

export const resizeView: SubresourceStrategy<core.Pod> = {
  prepareForUpdate(pod, old) {
    // Other containers than the stored ones cannot be matched: the request is refused as it came.
    if (LISTS.some((list) => (pod.spec?.[list]?.length ?? 0) !== (old.spec[list]?.length ?? 0))) return;
    const spec = deepClone(old.spec);
    for (const list of LISTS) if (pod.spec[list]) spec[list] = withResources(pod.spec[list], spec[list] ?? []);
    if (pod.spec.resources === undefined) delete spec.resources;
    else spec.resources = pod.spec.resources;
    keepPod(pod, old, spec);
  },
  validateUpdate: resizeErrors,
};

/** The stored containers with the resources that are asked for; where names differ, what was sent, for validation to refuse. */
function withResources(next: core.Container[], old: core.Container[]): core.Container[] {
  if (next.some((container, i) => container.name !== old[i]!.name)) return next;
  return next.map(({ resources, resizePolicy }, i) => {
    const { resources: _, resizePolicy: __, ...rest } = old[i]!;
    return { ...rest, ...(resources && { resources }), ...(resizePolicy && { resizePolicy }) };
  });
}

function resizeErrors(pod: core.Pod, old: core.Pod): FieldError[] {
  const errors: FieldError[] = [];
  podSpecAndAnnotationErrors(pod, errors);
  if (old.metadata.annotations?.[MIRROR] !== undefined) return [forbiddenField('[]', 'static pods cannot be resized')];
  if (old.spec.os?.name === 'windows') return [forbiddenField('[]', 'windows pods cannot be resized')];
  if ((old.status?.qosClass || qosClassOf(old.spec)) !== qosClassOf(pod.spec ?? { containers: [] })) {
    errors.push(invalidValue('spec', pod.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing'));
  }
  const running = old.status?.containerStatuses?.find((c) => c.state?.running);
  if (running !== undefined && running.resources === undefined) {
    errors.push(forbiddenField('spec', 'Pod running on node without support for resize'));
  }
  podLevelErrors(pod.spec?.resources, old.spec.resources, errors);
  const before = errors.length;
  for (const list of LISTS) sameContainersErrors(pod.spec?.[list] ?? [], old.spec[list] ?? [], list, errors);
  if (errors.length > before) return errors;
  for (const list of ['initContainers', 'containers'] as const) {
    old.spec[list]?.forEach(({ resources }, i) => {
      removalErrors(pod.spec[list]![i]!.resources, resources, [`spec.${list}[${i}].resources`, 'resource'], errors);
    });
  }
  containerErrors(pod.spec, old.spec, errors);
  return errors;
}

const isSet = (resources: core.ResourceRequirements | undefined): boolean =>
  Object.keys(resources?.requests ?? {}).length + Object.keys(resources?.limits ?? {}).length > 0;

function podLevelErrors(
  next: core.ResourceRequirements | undefined,
  old: core.ResourceRequirements | undefined,
  errors: FieldError[],
): void {
  if (!isSet(next) && !isSet(old)) return;
  if (old && !next) {
    errors.push(forbiddenField('spec.resources', 'pod-level resources cannot be removed'));
    return;
  }
  if (old) removalErrors(next, old, ['spec.resources', 'pod-level resource'], errors);
  const masked = { ...next, ...withOldCompute(next, old) };
  if (!deepEqual(masked, old ?? {}, typeSchema('core.v1.ResourceRequirements')))
    errors.push(forbiddenField('spec', 'only cpu and memory resources are mutable at pod-level'));
}

function sameContainersErrors(
  next: readonly core.Container[],
  old: readonly core.Container[],
  list: (typeof LISTS)[number],
  errors: FieldError[],
): void {
  if (next.length !== old.length) {
    errors.push(forbiddenField(`spec.${list}`, `${list} may not be added or removed on resize`));
    return;
  }
  next.forEach(({ name }, i) => {
    if (name !== old[i]!.name) errors.push(forbiddenField(`spec.${list}[${i}].name`, `${list} may not be renamed or reordered on resize`));
  });
}

function removalErrors(
  next: core.ResourceRequirements | undefined,
  old: core.ResourceRequirements | undefined,
  [path, what]: readonly [string, string],
  errors: FieldError[],
): void {
  for (const member of ['requests', 'limits'] as const) {
    const removed = Object.keys(old?.[member] ?? {}).some((name) => next?.[member]?.[name] === undefined);
    if (removed) errors.push(forbiddenField(`${path}.${member}`, `${what} ${member} cannot be removed`));
  }
}

const COMPUTE = ['cpu', 'memory'];

/** Requests and limits with CPU and memory as they were: what is left may not differ. */
function withOldCompute(
  next: core.ResourceRequirements | undefined,
  old: core.ResourceRequirements | undefined,
): Pick<core.ResourceRequirements, 'requests' | 'limits'> {
  const mask = (member: 'requests' | 'limits'): Record<string, string> => {
    const others = Object.entries(next?.[member] ?? {}).filter(([name]) => !COMPUTE.includes(name));
    const computed = Object.entries(old?.[member] ?? {}).filter(([name]) => COMPUTE.includes(name));
    return Object.fromEntries([...others, ...computed]);
  };
  return { requests: mask('requests'), limits: mask('limits') };
}

/** Claims are left out of the comparison's left side, as upstream leaves them out: a container with claims is never resized. */
function onlyComputeChanged(next: core.Container, old: core.Container): boolean {
  return deepEqual({ ...next, resources: withOldCompute(next.resources, old.resources) }, old, typeSchema('core.v1.Container'));
}

function containerErrors(next: core.PodSpec, old: core.PodSpec, errors: FieldError[]): void {
  next.containers.forEach((container, i) => {
    if (!onlyComputeChanged(container, old.containers[i]!))
      errors.push(forbiddenField('spec', 'only cpu and memory resources are mutable'));
  });
  next.initContainers?.forEach((container, i) => {
    const before = old.initContainers![i]!;
    const path = `spec.initContainers[${i}]`;
    if (!onlyComputeChanged(container, before))
      errors.push(forbiddenField(path, 'only cpu and memory resources for init or sidecar containers are mutable'));
    if (container.restartPolicy === 'Always' || deepEqual(container, before, typeSchema('core.v1.Container'))) return;
    for (const { restartPolicy } of container.resizePolicy ?? []) {
      if (restartPolicy === 'RestartContainer')
        errors.push(forbiddenField(path, 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized'));
    }
  });
}
