/**
 * Conditions of the shared form (metav1.Condition). Mirrors apimachinery `meta/v1/validation` ValidateConditions.
 */
import { duplicate, type FieldError, invalidValue, notSupported, required, tooLong } from '../../../machinery/api/field-error.ts';
import { qualifiedName, regexDetail } from '../../../machinery/api/names.ts';
import type { Condition } from '../../../machinery/api/types/meta.v1.ts';

const STATUSES = ['False', 'True', 'Unknown'];
const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonRegex = new RegExp(`^(?:${REASON})$`);
const reasonDetail = regexDetail(
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
  REASON,
  'my_name',
  'MY_NAME',
  'MyName',
  'ReasonA,ReasonB',
  'ReasonA:ReasonB',
);
const MAX_REASON = 1024;
const MAX_MESSAGE = 32768;

export function conditionErrors(conditions: readonly Condition[], path: string, errors: FieldError[]): void {
  const seen = new Set<string>();
  conditions.forEach((condition, i) => {
    const at = `${path}[${i}]`;
    const { type = '', status = '', reason = '', message = '' } = condition;
    if (seen.has(type)) errors.push(duplicate(`${at}.type`, type));
    seen.add(type);
    for (const detail of qualifiedName(type)) errors.push(invalidValue(`${at}.type`, type, detail));
    if (!STATUSES.includes(status)) errors.push(notSupported(`${at}.status`, status, STATUSES));
    if ((condition.observedGeneration ?? 0) < 0) {
      errors.push(invalidValue(`${at}.observedGeneration`, condition.observedGeneration, 'must be greater than or equal to zero'));
    }
    if (!condition.lastTransitionTime) errors.push(required(`${at}.lastTransitionTime`));
    if (reason === '') errors.push(required(`${at}.reason`));
    else {
      if (Buffer.byteLength(reason) > MAX_REASON) errors.push(tooLong(`${at}.reason`, MAX_REASON));
      if (!reasonRegex.test(reason)) errors.push(invalidValue(`${at}.reason`, reason, reasonDetail));
    }
    if (Buffer.byteLength(message) > MAX_MESSAGE) errors.push(tooLong(`${at}.message`, MAX_MESSAGE));
  });
}
