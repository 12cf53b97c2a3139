/**
 * RuntimeClass: a way to run containers. Mirrors kubernetes `pkg/registry/node/runtimeclass`.
 */
import { type FieldError, invalidValue } from '../../../machinery/api/field-error.ts';
import { dnsLabel } from '../../../machinery/api/names.ts';
import type { RuntimeClass } from '../../../machinery/api/types/node.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { immutableField } from '../validation/numbers.ts';
import { tolerationErrors } from '../validation/taints.ts';

function validate(object: RuntimeClass): FieldError[] {
  const errors: FieldError[] = [];
  for (const detail of dnsLabel(object.handler ?? '')) errors.push(invalidValue('handler', object.handler ?? '', detail));
  if (object.scheduling?.tolerations) tolerationErrors(object.scheduling.tolerations, 'scheduling.tolerations', errors);
  return errors;
}

export const runtimeclass = defineKind<RuntimeClass>({
  group: 'node.k8s.io',
  resource: 'runtimeclasses',
  kind: 'RuntimeClass',
  createOnUpdate: true,
  unconditionalUpdate: false,
  strategy: {
    validate,
    validateUpdate: (object, old) => {
      const errors: FieldError[] = [];
      immutableField(object.handler, old.handler, 'handler', errors);
      return errors;
    },
  },
  cells: (object, now) => [object.metadata.name, object.handler ?? '', ageCell(object.metadata.creationTimestamp, now)],
});
