/**
 * CSIStorageCapacity: how much a driver has left where. Mirrors kubernetes `pkg/registry/storage/csistoragecapacity`.
 */
import { type FieldError, invalidValue } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain } from '../../../machinery/api/names.ts';
import { formatQuantity, parseQuantity, quantityMilli } from '../../../machinery/api/quantity.ts';
import type { CSIStorageCapacity } from '../../../machinery/api/types/storage.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { immutableField } from '../validation/numbers.ts';
import { deprecatedLabel } from '../validation/pod-warnings.ts';
import { labelSelectorErrors } from '../validation/selectors.ts';

function validate(object: CSIStorageCapacity): FieldError[] {
  const errors: FieldError[] = [];
  labelSelectorErrors(object.nodeTopology, 'nodeTopology', errors);
  const name = object.storageClassName ?? '';
  for (const detail of dnsSubdomain(name)) errors.push(invalidValue('storageClassName', name, detail));
  if (object.capacity !== undefined) {
    const quantity = parseQuantity(object.capacity);
    if (quantityMilli(quantity) < 0) errors.push(invalidValue('capacity', formatQuantity(quantity), 'must be greater than or equal to 0'));
  }
  return errors;
}

export const csistoragecapacity = defineKind<CSIStorageCapacity>({
  group: 'storage.k8s.io',
  resource: 'csistoragecapacities',
  kind: 'CSIStorageCapacity',
  unconditionalUpdate: false,
  emptyIsNull: true,
  strategy: {
    validate,
    validateUpdate: (object, old) => {
      const errors = validate(object);
      immutableField(object.nodeTopology, old.nodeTopology, 'nodeTopology', errors);
      immutableField(object.storageClassName, old.storageClassName, 'storageClassName', errors);
      return errors;
    },
    warnings: (object) =>
      Object.keys(object.nodeTopology?.matchLabels ?? {})
        .sort()
        .flatMap((key) => {
          const text = deprecatedLabel(key);
          return text === undefined ? [] : [`nodeTopology.matchLabels.${key}: ${text}`];
        }),
  },
});
