/**
 * How a capacity that several claims share may be cut: into named values or along a range. Mirrors kubernetes `resource/validation`
 * validateRequestPolicy.
 */
import { type FieldError, forbiddenField, invalidValue, required } from '../../../machinery/api/field-error.ts';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityMilli,
  quantityValue,
} from '../../../machinery/api/quantity.ts';
import type { CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity } from '../../../machinery/api/types/resource.k8s.io.v1.ts';
import { listErrors } from '../validation/lists.ts';

const MAX_OPTIONS = 10;

export function capacityErrors(capacity: DeviceCapacity, shared: boolean, path: string, errors: FieldError[]): void {
  const policy = capacity.requestPolicy;
  if (!policy) return;
  const at = `${path}.requestPolicy`;
  if (!shared) errors.push(forbiddenField(at, 'allowMultipleAllocations must be true'));
  else policyErrors(policy, parseQuantity(capacity.value ?? '0'), at, errors);
}

function policyErrors(policy: CapacityRequestPolicy, capacity: Quantity, path: string, errors: FieldError[]): void {
  const { validValues = [], validRange } = policy;
  if (validValues.length === 0 && !validRange) return;
  if (validValues.length > 0 && validRange) {
    const detail = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time';
    errors.push(forbiddenField(path, detail));
    return;
  }
  const member = validRange ? 'validRange' : 'validValues';
  if (policy.default === undefined) {
    errors.push(required(`${path}.default`, `required when ${member} is defined`));
    return;
  }
  const fallback = parseQuantity(policy.default);
  if (validRange) rangeErrors(validRange, { fallback, capacity }, `${path}.validRange`, errors);
  else valueErrors(validValues.map(parseQuantity), { fallback, capacity }, `${path}.validValues`, errors);
}

interface Frame {
  readonly fallback: Quantity;
  readonly capacity: Quantity;
}

function valueErrors(values: readonly Quantity[], { fallback, capacity }: Frame, path: string, errors: FieldError[]): void {
  values.forEach((value, i) => {
    if (i > 0 && compareQuantities(values[i - 1]!, value) > 0) {
      errors.push(invalidValue(`${path}[${i}]`, formatQuantity(value), 'values must be sorted in ascending order'));
    }
  });
  const each = (value: Quantity, at: string): void => {
    if (compareQuantities(value, capacity) <= 0) return;
    errors.push(invalidValue(at, formatQuantity(value), `option is larger than capacity value: ${formatQuantity(capacity)}`));
  };
  listErrors(values, { max: MAX_OPTIONS, each, key: (value) => String(quantityValue(value)) }, path, errors);
  if (values.length > MAX_OPTIONS || !values.some((value) => compareQuantities(value, fallback) === 0)) {
    errors.push(invalidValue(path, formatQuantity(fallback), 'default value is not valid according to the requestPolicy'));
  }
}

function rangeErrors(range: CapacityRequestPolicyRange, { fallback, capacity }: Frame, path: string, errors: FieldError[]): void {
  if (range.min === undefined) {
    errors.push(required(`${path}.min`, 'required when validRange is defined'));
    return;
  }
  const min = parseQuantity(range.min);
  const max = range.max === undefined ? undefined : parseQuantity(range.max);
  /** Tells that the first quantity, which is `what`, is on the wrong side of the second. */
  const tell = (member: string, quantity: Quantity, what: string, limit: Quantity): void => {
    errors.push(invalidValue(`${path}.${member}`, formatQuantity(quantity), `${what}: ${formatQuantity(limit)}`));
  };
  if (compareQuantities(min, capacity) > 0) tell('min', min, 'min is larger than capacity value', capacity);
  if (compareQuantities(fallback, min) < 0) tell('min', fallback, 'default is less than min', min);
  if (max !== undefined) {
    if (compareQuantities(min, max) > 0) tell('max', min, 'min is larger than max', max);
    if (compareQuantities(max, capacity) > 0) tell('max', max, 'max is larger than capacity value', capacity);
    if (compareQuantities(fallback, max) > 0) tell('max', fallback, 'default is more than max', max);
  }
  if (range.step === undefined) return;
  const step = parseQuantity(range.step);
  const at = `${path}.step`;
  if (quantityMilli(step) <= 0) {
    errors.push(invalidValue(at, formatQuantity(step), 'must be greater than zero'));
    return;
  }
  const one = addQuantities(min, step);
  if (compareQuantities(one, capacity) > 0) tell('step', step, `one step ${formatQuantity(one)} is larger than capacity value`, capacity);
  for (const value of max === undefined ? [fallback] : [fallback, max]) {
    const rest = (quantityValue(value) - quantityValue(min)) % quantityValue(step);
    if (rest === 0) continue;
    const detail = `value is not a multiple of a given step (${formatQuantity(step)}) from (${formatQuantity(min)})`;
    errors.push(invalidValue(at, formatQuantity(value), detail));
  }
}
