/**
 * PriorityClass: a named priority of pods. Mirrors kubernetes `pkg/registry/scheduling/priorityclass`.
 */
import { type FieldError, forbiddenField, notSupported } from '../../../machinery/api/field-error.ts';
import { forbidden } from '../../../machinery/api/status.ts';
import type { PriorityClass } from '../../../machinery/api/types/scheduling.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import type { StrategyContext } from '../resource.ts';
import { ageCell } from '../tables/cells.ts';
import { immutableField } from '../validation/numbers.ts';

const GROUP = 'scheduling.k8s.io';
const RESOURCE = 'priorityclasses';
const HIGHEST_USER_VALUE = 1000000000;
const SYSTEM_CLASSES = new Map([
  ['system-node-critical', 2000001000],
  ['system-cluster-critical', 2000000000],
]);
const POLICIES = ['PreemptLowerPriority', 'Never'];

function systemMistake(name: string, { value, globalDefault }: PriorityClass): string | undefined {
  const own = SYSTEM_CLASSES.get(name);
  if (own === undefined) return `${name} is not a known system priority class`;
  if (value !== own) return `value of ${name} PriorityClass must be ${own}`;
  return globalDefault === true ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

/** Pods without a class get the one default; of several, made at the same moment, the lowest counts. Mirrors the admission plugin Priority. */
function refuseSecondDefault(object: PriorityClass, old: PriorityClass | undefined, context: StrategyContext): void {
  if (object.globalDefault !== true) return;
  const [current] = context.reader
    .list<PriorityClass>(GROUP, RESOURCE)
    .filter((c) => c.globalDefault === true)
    .sort((a, b) => (a.value ?? 0) - (b.value ?? 0));
  const name = object.metadata.name ?? '';
  if (current === undefined || (old !== undefined && current.metadata.name === name)) return;
  const why = `PriorityClass ${current.metadata.name} is already marked as default. Only one default can exist`;
  throw forbidden({ group: GROUP, resource: RESOURCE }, name, why);
}

function validate(object: PriorityClass): FieldError[] {
  const errors: FieldError[] = [];
  const name = object.metadata.name ?? '';
  if (name.startsWith('system-')) {
    const why = systemMistake(name, object);
    if (why !== undefined) {
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
  group: GROUP,
  resource: RESOURCE,
  kind: 'PriorityClass',
  generation: 'initial',
  deleteRefusal: (name) => (SYSTEM_CLASSES.has(name) ? 'this is a system priority class and cannot be deleted' : undefined),
  strategy: {
    default: (object) => {
      object.preemptionPolicy ??= 'PreemptLowerPriority';
    },
    validate,
    admitValidated: (object, context) => refuseSecondDefault(object, undefined, context),
    admitUpdate: refuseSecondDefault,
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
