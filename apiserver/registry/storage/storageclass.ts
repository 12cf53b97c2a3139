/**
 * StorageClass: a kind of storage to ask for. Mirrors kubernetes `pkg/registry/storage/storageclass`.
 */

import { type FieldError, notSupported, required } from '../../../machinery/api/field-error.ts';
import type { StorageClass } from '../../../machinery/api/types/storage.k8s.io.v1.ts';
import { isDefaultClass } from '../core/default-storage-class.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { qualifiedDriverErrors } from '../validation/driver-names.ts';
import { immutableField } from '../validation/numbers.ts';
import { deprecatedLabel } from '../validation/pod-warnings.ts';
import { parameterErrors } from './parameters.ts';
import { allowedTopologyErrors } from './topologies.ts';

const POLICIES = ['Delete', 'Retain'];
const MODES = ['Immediate', 'WaitForFirstConsumer'];

function validate(object: StorageClass): FieldError[] {
  const errors: FieldError[] = [];
  qualifiedDriverErrors(object.provisioner, 'provisioner', errors);
  parameterErrors(object.parameters, 'parameters', errors);
  const policy: string | undefined = object.reclaimPolicy;
  if (policy && !POLICIES.includes(policy)) errors.push(notSupported('reclaimPolicy', policy, POLICIES));
  const mode: string | undefined = object.volumeBindingMode;
  if (mode === undefined) errors.push(required('volumeBindingMode'));
  else if (!MODES.includes(mode)) errors.push(notSupported('volumeBindingMode', mode, MODES));
  allowedTopologyErrors(object.allowedTopologies, errors);
  return errors;
}

function validateUpdate(object: StorageClass, old: StorageClass): FieldError[] {
  const errors = validate(object);
  for (const member of ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const) {
    immutableField(object[member], old[member], member, errors);
  }
  return errors;
}

function warnings(object: StorageClass): string[] {
  const texts: string[] = [];
  object.allowedTopologies?.forEach((term, i) => {
    term.matchLabelExpressions?.forEach((requirement, j) => {
      const text = deprecatedLabel(requirement.key ?? '');
      if (text !== undefined) texts.push(`allowedTopologies[${i}].matchLabelExpressions[${j}].key: ${text}`);
    });
  });
  return texts;
}

export const storageclass = defineKind<StorageClass>({
  group: 'storage.k8s.io',
  resource: 'storageclasses',
  kind: 'StorageClass',
  deleteAnswer: 'object',
  strategy: {
    default: (object) => {
      object.reclaimPolicy ??= 'Delete';
      object.volumeBindingMode ??= 'Immediate';
    },
    validate,
    validateUpdate,
    warnings,
  },
  cells: (object, now) => [
    `${object.metadata.name}${isDefaultClass(object) ? ' (default)' : ''}`,
    object.provisioner ?? '',
    object.reclaimPolicy ?? 'Delete',
    object.volumeBindingMode ?? 'Immediate',
    object.allowVolumeExpansion === true,
    ageCell(object.metadata.creationTimestamp, now),
  ],
});
