/**
 * The two subresources that change a part of a pod's spec: ephemeral containers and resize. Mirrors kubernetes `pkg/registry/core/pod` strategies of
 * these names, ValidatePodEphemeralContainersUpdate and ValidatePodResize.
 */

import { deepClone, deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, forbiddenField, invalidValue } from '../../../machinery/api/field-error.ts';
import { qosClassOf } from '../../../machinery/api/qos.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { MIRROR } from '../../../machinery/api/well-known-labels.ts';
import type { SubresourceStrategy } from '../resource.ts';
import { podSpecAndAnnotationErrors } from './pod-create.ts';

/** Everything but the spec that `spec` gives is the stored pod's; of metadata the version and the ownership record are the request's. */
function keepPod(pod: core.Pod, old: core.Pod, spec: core.PodSpec): void {
  const { resourceVersion, managedFields, generation } = pod.metadata;
  pod.metadata = deepClone(old.metadata);
  if (resourceVersion !== undefined) pod.metadata.resourceVersion = resourceVersion;
  if (generation !== undefined) pod.metadata.generation = generation;
  if (managedFields === undefined) delete pod.metadata.managedFields;
  else pod.metadata.managedFields = managedFields;
  pod.spec = spec;
  if (old.status === undefined) delete pod.status;
  else pod.status = deepClone(old.status);
}

export const ephemeralContainersView: SubresourceStrategy<core.Pod> = {
  prepareForUpdate(pod, old) {
    const spec = deepClone(old.spec);
    const containers = pod.spec?.ephemeralContainers;
    if (containers === undefined) delete spec.ephemeralContainers;
    else spec.ephemeralContainers = containers;
    keepPod(pod, old, spec);
  },
  validateUpdate(pod, old) {
    const errors: FieldError[] = [];
    podSpecAndAnnotationErrors(pod, errors, old.spec);
    if (old.metadata.annotations?.[MIRROR] !== undefined) {
      return [forbiddenField('[]', 'static pods do not support ephemeral containers')];
    }
    for (const before of old.spec.ephemeralContainers ?? []) {
      const after = pod.spec.ephemeralContainers?.find((c) => c.name === before.name);
      const name = JSON.stringify(before.name);
      if (after === undefined)
        errors.push(forbiddenField('spec.ephemeralContainers', `existing ephemeral containers ${name} may not be removed\n`));
      else if (!deepEqual(before, after)) {
        const changed = (Object.keys({ ...before, ...after }) as (keyof core.EphemeralContainer)[]).filter(
          (k) => !deepEqual(before[k], after[k]),
        );
        const detail = `existing ephemeral containers ${name} may not be changed\n@@ - changed: ${changed.join(', ')} @@`;
        errors.push(forbiddenField('spec.ephemeralContainers', detail));
      }
    }
    return errors;
  },
};

const sameCount = (pod: core.Pod, old: core.Pod): boolean =>
  (pod.spec?.containers?.length ?? 0) === (old.spec.containers?.length ?? 0) &&
  (pod.spec?.initContainers === undefined || pod.spec.initContainers.length === (old.spec.initContainers?.length ?? 0));

export const resizeView: SubresourceStrategy<core.Pod> = {
  prepareForUpdate(pod, old) {
    // Other containers than the stored ones cannot be matched: the request is refused as it came.
    if (!sameCount(pod, old)) return;
    const spec = deepClone(old.spec);
    takeResources(spec.containers, pod.spec.containers);
    takeResources(spec.initContainers, pod.spec.initContainers);
    if (pod.spec.resources !== undefined) spec.resources = pod.spec.resources;
    keepPod(pod, old, spec);
  },
  validateUpdate: resizeErrors,
};

function takeResources(targets: core.Container[] | undefined, sources: readonly core.Container[] | undefined): void {
  for (const target of targets ?? []) {
    const source = sources?.find((c) => c.name === target.name);
    if (source === undefined) continue;
    if (source.resources === undefined) delete target.resources;
    else target.resources = source.resources;
    if (source.resizePolicy === undefined) delete target.resizePolicy;
    else target.resizePolicy = source.resizePolicy;
  }
}

function resizeErrors(pod: core.Pod, old: core.Pod): FieldError[] {
  const errors: FieldError[] = [];
  podSpecAndAnnotationErrors(pod, errors, old.spec);
  if (old.metadata.annotations?.[MIRROR] !== undefined) return [forbiddenField('[]', 'static pods cannot be resized')];
  if (old.spec.os?.name === 'windows') return [forbiddenField('[]', 'windows pods cannot be resized')];
  if (qosClassOf(old.spec) !== qosClassOf(pod.spec ?? { containers: [] })) {
    errors.push(invalidValue('spec', pod.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing'));
  }
  const running = old.status?.containerStatuses?.find((c) => c.state?.running);
  if (running !== undefined && running.resources === undefined) {
    errors.push(forbiddenField('spec', 'Pod running on node without support for resize'));
  }
  if (!sameCount(pod, old)) {
    errors.push(forbiddenField('spec.containers', 'containers may not be added or removed on resize'));
    return errors;
  }
  removalErrors(pod.spec.resources, old.spec.resources, ['spec.resources', 'pod-level resource'], errors);
  old.spec.initContainers?.forEach((container, i) => {
    const next = pod.spec.initContainers?.[i];
    removalErrors(next?.resources, container.resources, [`spec.initContainers[${i}].resources`, 'resource'], errors);
  });
  old.spec.containers.forEach((container, i) => {
    removalErrors(pod.spec.containers[i]?.resources, container.resources, [`spec.containers[${i}].resources`, 'resource'], errors);
  });
  mutabilityErrors(pod, old, errors);
  return errors;
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

const COMPUTE = new Set(['cpu', 'memory']);
const otherResources = (list: Record<string, string> | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(list ?? {}).filter(([name]) => !COMPUTE.has(name)));

function mutabilityErrors(pod: core.Pod, old: core.Pod, errors: FieldError[]): void {
  const fixed = (container: core.Container | undefined): object => ({
    ...container,
    resources: {
      limits: otherResources(container?.resources?.limits),
      requests: otherResources(container?.resources?.requests),
      claims: container?.resources?.claims ?? [],
    },
    resizePolicy: container?.resizePolicy ?? [],
  });
  old.spec.containers.forEach((container, i) => {
    if (!deepEqual(fixed(pod.spec.containers[i]), fixed(container)))
      errors.push(forbiddenField('spec', 'only cpu and memory resources are mutable'));
  });
  old.spec.initContainers?.forEach((container, i) => {
    if (!deepEqual(fixed(pod.spec.initContainers?.[i]), fixed(container))) {
      errors.push(forbiddenField('spec', 'only cpu and memory resources for sidecar containers are mutable'));
    }
  });
}
