/**
 * Updates of a pod's main resource: nearly nothing of the spec may change. Mirrors kubernetes `core/validation` ValidatePodUpdate.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, forbiddenField, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { typeSchema } from '../../../machinery/api/schema/schema.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { dropDisabledFields } from '../disabled-fields.ts';
import { keepStatus } from '../status.ts';
import { tolerationErrors } from '../validation/taints.ts';
import { podAnnotationUpdateErrors, podSpecAndAnnotationErrors } from './pod-create.ts';
import { nodeAffinityChangeErrors, nodeSelectorChangeErrors } from './pod-gated.ts';

const UPDATABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');
const MAX_INT32 = 2147483647;

export function preparePodForUpdate(pod: core.Pod, old: core.Pod): void {
  keepStatus(pod, old);
  pod.spec ??= { containers: [] };
  if ((pod.spec.terminationGracePeriodSeconds ?? 0) < 0) pod.spec.terminationGracePeriodSeconds = 1;
  dropDisabledFields(pod.spec);
}

export function validatePodUpdate(pod: core.Pod, old: core.Pod): FieldError[] {
  const errors: FieldError[] = [];
  podSpecAndAnnotationErrors(pod, errors);
  podAnnotationUpdateErrors(pod, old, errors);
  if (imageChangesStop(pod.spec.containers, old.spec.containers, 'spec.containers', errors)) return errors;
  if (imageChangesStop(pod.spec.initContainers, old.spec.initContainers, 'spec.initContainers', errors)) return errors;
  if (deadlineStops(pod.spec.activeDeadlineSeconds, old.spec.activeDeadlineSeconds, errors)) return errors;
  tolerationChangeErrors(pod.spec.tolerations ?? [], old.spec.tolerations ?? [], errors);
  gateChangeErrors(pod.spec.schedulingGates ?? [], old.spec.schedulingGates ?? [], errors);
  if (deepEqual(pod.spec, old.spec, typeSchema('core.v1.PodSpec'))) return errors;
  specChangeErrors(pod, old, errors);
  return errors;
}

function imageChangesStop(
  next: core.Container[] | undefined,
  old: core.Container[] | undefined,
  path: string,
  errors: FieldError[],
): boolean {
  if ((next?.length ?? 0) !== (old?.length ?? 0)) {
    errors.push(forbiddenField(path, 'pod updates may not add or remove containers'));
    return true;
  }
  next?.forEach((container, i) => {
    const image = container.image ?? '';
    if (image === '') errors.push(required(`${path}[${i}].image`));
    if (image.trim() !== image) errors.push(invalidValue(`${path}[${i}].image`, image, 'must not have leading or trailing whitespace'));
  });
  return false;
}

/** A deadline may be set once and then only come nearer. */
function deadlineStops(next: number | undefined, old: number | undefined, errors: FieldError[]): boolean {
  const path = 'spec.activeDeadlineSeconds';
  if (next === undefined) {
    if (old !== undefined) errors.push(invalidValue(path, undefined, 'must not update from a positive integer to nil value'));
    return false;
  }
  if (next < 0 || next > MAX_INT32) errors.push(invalidValue(path, next, `must be between 0 and ${MAX_INT32}, inclusive`));
  else if (old !== undefined && old < next) errors.push(invalidValue(path, next, 'must be less than or equal to previous value'));
  else return false;
  return true;
}

function tolerationChangeErrors(next: readonly core.Toleration[], old: readonly core.Toleration[], errors: FieldError[]): void {
  const shape = (t: core.Toleration): string => JSON.stringify([t.key ?? '', t.operator ?? '', t.value ?? '', t.effect ?? '']);
  const shapes = new Set(next.map(shape));
  if (old.some((toleration) => !shapes.has(shape(toleration)))) {
    errors.push(forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds'));
    return;
  }
  tolerationErrors(next, 'spec.tolerations', errors);
}

function gateChangeErrors(next: readonly core.PodSchedulingGate[], old: readonly core.PodSchedulingGate[], errors: FieldError[]): void {
  const known = new Set(old.map((gate) => gate.name));
  next.forEach((gate, i) => {
    if (known.has(gate.name)) return;
    errors.push(
      forbiddenField(`spec.schedulingGates[${i}].name`, `only deletion is allowed, but found new scheduling gate '${gate.name}'`),
    );
  });
}

/** With what may change put back, the specs must be equal. */
function specChangeErrors(pod: core.Pod, old: core.Pod, errors: FieldError[]): void {
  const allowed: core.PodSpec = {
    ...pod.spec,
    containers: withImages(pod.spec.containers, old.spec.containers)!,
    tolerations: old.spec.tolerations ?? [],
    schedulingGates: old.spec.schedulingGates ?? [],
  };
  const inits = withImages(pod.spec.initContainers, old.spec.initContainers);
  if (inits) allowed.initContainers = inits;
  if (old.spec.activeDeadlineSeconds === undefined) delete allowed.activeDeadlineSeconds;
  else allowed.activeDeadlineSeconds = old.spec.activeDeadlineSeconds;
  if ((old.spec.terminationGracePeriodSeconds ?? 0) < 0 && allowed.terminationGracePeriodSeconds === 1) {
    allowed.terminationGracePeriodSeconds = old.spec.terminationGracePeriodSeconds!;
  }
  if ((old.spec.schedulingGates?.length ?? 0) > 0) {
    nodeSelectorChangeErrors(allowed, old.spec, errors);
    nodeAffinityChangeErrors(allowed, old.spec, errors);
  }
  if (deepEqual(allowed, old.spec, typeSchema('core.v1.PodSpec'))) return;
  const changed = changedMembers(allowed, old.spec);
  errors.push(forbiddenField('spec', `pod updates may not change fields other than ${UPDATABLE}\n@@ - changed: ${changed.join(', ')} @@`));
}

function withImages(next: core.Container[] | undefined, old: core.Container[] | undefined): core.Container[] | undefined {
  return next?.map((container, i) => ({ ...container, image: old?.[i]?.image ?? '' }));
}

/** Upstream prints a diff of its internal struct here; the names of the members are what a user needs of it. */
function changedMembers(next: core.PodSpec, old: core.PodSpec): string[] {
  const members = new Set([...Object.keys(next), ...Object.keys(old)]) as Set<keyof core.PodSpec>;
  return [...members].filter((member) => !deepEqual(next[member], old[member])).map((member) => `spec.${member}`);
}
