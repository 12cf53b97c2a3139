/**
 * VolumeAttributesClass: attributes of volumes that may change. Mirrors kubernetes `pkg/registry/storage/volumeattributesclass`.
 */

import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, forbiddenField } from '../../../machinery/api/field-error.ts';
import type { VolumeAttributesClass } from '../../../machinery/api/types/storage.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { qualifiedDriverErrors } from '../validation/driver-names.ts';
import { requiredParameterErrors } from './parameters.ts';

const PROTECTION = 'kubernetes.io/vac-protection';

function validate(object: VolumeAttributesClass): FieldError[] {
  const errors: FieldError[] = [];
  qualifiedDriverErrors(object.driverName, 'driverName', errors);
  requiredParameterErrors(object.parameters, 'parameters', errors);
  return errors;
}

export const volumeattributesclass = defineKind<VolumeAttributesClass>({
  group: 'storage.k8s.io',
  resource: 'volumeattributesclasses',
  kind: 'VolumeAttributesClass',
  deleteAnswer: 'object',
  strategy: {
    admit: (object) => {
      const finalizers = object.metadata.finalizers ?? [];
      if (!finalizers.includes(PROTECTION)) object.metadata.finalizers = [...finalizers, PROTECTION];
    },
    validate,
    validateUpdate: (object, old) => {
      const errors: FieldError[] = [];
      if (object.driverName !== old.driverName) errors.push(forbiddenField('driverName', 'updates to driverName are forbidden.'));
      if (!deepEqual(object.parameters, old.parameters)) errors.push(forbiddenField('parameters', 'updates to parameters are forbidden.'));
      return [...errors, ...validate(object)];
    },
  },
  cells: (object, now) => [object.metadata.name, object.driverName ?? '', ageCell(object.metadata.creationTimestamp, now)],
});
