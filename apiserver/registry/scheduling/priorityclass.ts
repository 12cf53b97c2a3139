/**
 * PriorityClass: a named priority of pods. Mirrors kubernetes `pkg/registry/scheduling/priorityclass`.
 */
import { type FieldError, forbiddenField, notSupported } from '../../../machinery/api/field-error.ts';
import type { PriorityClass } from '../../../machinery/api/types/scheduling.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { immutableField } from '../validation/numbers.ts';

const HIGHEST_USER_VALUE = 1000000000;
const SYSTEM_CLASSES = new Map([
  ['system-node-critical', 2000001000],
  ['system-cluster-critical', 2000000000],
]);
const POLICIES = ['PreemptLowerPriority', 'Never'];

function validate(object: PriorityClass): FieldError[] {
  const errors: FieldError[] = [];
  const name = object.metadata.name ?? '';
  if (name.startsWith('system-')) {
    if (SYSTEM_CLASSES.get(name) !== object.value) {
      const why = SYSTEM_CLASSES.has(name)
        ? `value of ${name} PriorityClass must be ${SYSTEM_CLASSES.get(name)}`
        : `${name} is not a known system priority class`;
      errors.push(
        forbiddenField('metadata.name', `priority class names with 'system-' prefix are reserved for system use only. error: ${why}`),
      );
    }
  } else if ((object.value ?? 0) > HIGHEST_USER_VALUE) {
    errors.push(forbiddenField('value', `maximum allowed value of a user defined priority is ${HIGHEST_USER_VALUE}`));
  }
  const policy = object.preemptionPolicy;
  if (policy !== undefined && !POLICIES.includes(policy)) errors.push(notSupported('preemptionPolicy', policy, POLICIES));
  return errors;
}

export const priorityclass = defineKind<PriorityClass>({
  group: 'scheduling.k8s.io',
  resource: 'priorityclasses',
  kind: 'PriorityClass',
  generation: 'initial',
  deleteRefusal: (name) => (SYSTEM_CLASSES.has(name) ? 'this is a system priority class and cannot be deleted' : undefined),
  strategy: {
    default: (object) => {
      object.preemptionPolicy ??= 'PreemptLowerPriority';
    },
    validate,
    validateUpdate: (object, old) => {
      const errors: FieldError[] = [];
      if ((object.value ?? 0) !== (old.value ?? 0)) errors.push(forbiddenField('value', 'may not be changed in an update.'));
      immutableField(object.preemptionPolicy, old.preemptionPolicy, 'preemptionPolicy', errors);
      return errors;
    },
  },
  cells: (object, now) => [
    object.metadata.name,
    object.value ?? 0,
    object.globalDefault === true,
    ageCell(object.metadata.creationTimestamp, now),
    object.preemptionPolicy ?? 'PreemptLowerPriority',
  ],
});
