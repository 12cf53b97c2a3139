/**
 * Conditions that binding a pod waits for, and those that make it fail: both or none. Mirrors kubernetes `resource/validation`
 * validateDeviceBindingParameters.
 */
import { duplicate, type FieldError, invalidValue } from '../../../machinery/api/field-error.ts';
import { listErrors } from '../validation/lists.ts';
import { labelKeyErrors } from './device-names.ts';

const MAX_CONDITIONS = 4;

export interface BindingConditions {
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
}

export function bindingConditionErrors(device: BindingConditions, path: string, errors: FieldError[]): void {
  const wanted = device.bindingConditions ?? [];
  const failures = device.bindingFailureConditions ?? [];
  const [at, failureAt] = [`${path}.bindingConditions`, `${path}.bindingFailureConditions`];
  const rule = { max: MAX_CONDITIONS, each: labelKeyErrors };
  listErrors(wanted, rule, at, errors);
  listErrors(failures, rule, failureAt, errors);
  wanted.forEach((condition, i) => {
    if (wanted.indexOf(condition) < i) errors.push(duplicate(`${at}[${i}]`, condition));
  });
  failures.forEach((condition, i) => {
    if (failures.indexOf(condition) < i) errors.push(duplicate(`${failureAt}[${i}]`, condition));
    if (wanted.includes(condition)) {
      errors.push(invalidValue(`${failureAt}[${i}]`, condition, 'bindingFailureConditions must not overlap with bindingConditions'));
    }
  });
  if (wanted.length === 0 && failures.length > 0) {
    errors.push(invalidValue(at, wanted, 'bindingConditions are required to use bindingFailureConditions'));
  }
  if (failures.length === 0 && wanted.length > 0) {
    errors.push(invalidValue(failureAt, failures, 'bindingFailureConditions are required to use bindingConditions'));
  }
}
