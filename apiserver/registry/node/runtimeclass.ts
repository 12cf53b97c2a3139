/**
 * RuntimeClass: a way to run containers. Mirrors kubernetes `pkg/registry/node/runtimeclass`.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { duplicate, type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { dnsLabel } from '../../../machinery/api/names.ts';
import type { RuntimeClass, Scheduling } from '../../../machinery/api/types/node.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { labelErrors } from '../validation/metadata.ts';
import { immutableField } from '../validation/numbers.ts';
import { deprecatedLabel } from '../validation/pod-warnings.ts';
import { containerResourceErrors } from '../validation/resources.ts';
import { tolerationErrors } from '../validation/taints.ts';

function validate(object: RuntimeClass): FieldError[] {
  const errors: FieldError[] = [];
  const { handler = '', overhead, scheduling } = object;
  if (handler === '') errors.push(required('handler'));
  else for (const detail of dnsLabel(handler)) errors.push(invalidValue('handler', handler, detail));
  // upstream looks at what is fixed as if it were limits
  if (overhead?.podFixed) containerResourceErrors({ limits: overhead.podFixed }, undefined, 'overhead', errors);
  if (scheduling) schedulingErrors(scheduling, errors);
  return errors;
}

function schedulingErrors({ nodeSelector, tolerations = [] }: Scheduling, errors: FieldError[]): void {
  labelErrors(nodeSelector, 'scheduling.nodeSelector', errors);
  const path = 'scheduling.tolerations';
  tolerationErrors(tolerations, path, errors);
  tolerations.forEach((toleration, i) => {
    if (!tolerations.slice(0, i).some((earlier) => deepEqual(earlier, toleration))) return;
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds = null } = toleration;
    const printed = { Key: key, Operator: operator, Value: value, Effect: effect, TolerationSeconds: tolerationSeconds };
    errors.push(duplicate(`${path}[${i}]`, printed));
  });
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
      const errors = validate(object);
      immutableField(object.handler, old.handler, 'handler', errors);
      return errors;
    },
    warnings: ({ scheduling }) =>
      Object.keys(scheduling?.nodeSelector ?? {})
        .sort()
        .flatMap((key) => {
          const text = deprecatedLabel(key);
          return text === undefined ? [] : [`scheduling.nodeSelector: ${text}`];
        }),
  },
  cells: (object, now) => [object.metadata.name, object.handler ?? '', ageCell(object.metadata.creationTimestamp, now)],
});
