/**
 * The subresource by which containers join a pod that runs. Mirrors kubernetes `pkg/registry/core/pod` podEphemeralContainersStrategy and
 * ValidatePodEphemeralContainersUpdate; the other view of a part of the spec is in `pod-resize.ts`.
 */

import { deepClone, deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, forbiddenField } from '../../../machinery/api/field-error.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { MIRROR } from '../../../machinery/api/well-known-labels.ts';
import type { SubresourceStrategy } from '../resource.ts';
import { podAnnotationUpdateErrors, podSpecAndAnnotationErrors } from './pod-create.ts';

/** Everything but the spec that `spec` gives is the stored pod's; of metadata the version and the ownership record are the request's. */
export function keepPod(pod: core.Pod, old: core.Pod, spec: core.PodSpec): void {
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
    podSpecAndAnnotationErrors(pod, errors);
    podAnnotationUpdateErrors(pod, old, errors);
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
