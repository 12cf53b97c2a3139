/**
 * Rules of autoscalers. Mirrors kubernetes `pkg/apis/autoscaling/validation`.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import type { HorizontalPodAutoscaler } from '../../../machinery/api/types/autoscaling.v2.ts';
import { nonNegativeMembers } from '../validation/numbers.ts';

export function hpaErrors({ spec }: HorizontalPodAutoscaler): FieldError[] {
  const errors: FieldError[] = [];
  const { minReplicas, maxReplicas = 0, scaleTargetRef } = spec;
  if (minReplicas !== undefined && minReplicas < 1)
    errors.push(invalidValue('spec.minReplicas', minReplicas, 'must be greater than or equal to 1'));
  if (maxReplicas < 1) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    errors.push(invalidValue('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'));
  }
  targetErrors(scaleTargetRef, errors);
  return errors;
}

function targetErrors(target: HorizontalPodAutoscaler['spec']['scaleTargetRef'] | undefined, errors: FieldError[]): void {
  const { kind = '', name = '', apiVersion = '' } = target ?? {};
  const path = 'spec.scaleTargetRef';
  if (kind === '') errors.push(required(`${path}.kind`));
  if (name === '') errors.push(required(`${path}.name`));
  if (apiVersion === 'v1' && kind !== '' && kind !== 'ReplicationController') {
    errors.push(invalidValue(`${path}.apiVersion`, apiVersion, 'apiVersion must specify API group'));
  }
}

export function hpaStatusErrors({ status }: HorizontalPodAutoscaler): FieldError[] {
  const errors: FieldError[] = [];
  nonNegativeMembers(status, 'status', ['currentReplicas', 'desiredReplicas'], errors);
  return errors;
}
