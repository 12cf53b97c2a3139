/**
 * Label selectors. Mirrors apimachinery `meta/v1/validation` ValidateLabelSelector.
 */
import { type FieldError, forbiddenField, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { labelValue, qualifiedName } from '../../../machinery/api/names.ts';
import type { LabelSelector } from '../../../machinery/api/object.ts';
import { matches, selectorOf } from '../../../machinery/api/selector.ts';
import { labelErrors } from './metadata.ts';

const LIST_OPERATORS = new Set(['In', 'NotIn']);
const EXISTENCE_OPERATORS = new Set(['Exists', 'DoesNotExist']);

/** Adds what is wrong with a selector; an absent one is valid. */
export function labelSelectorErrors(selector: LabelSelector | undefined | null, path: string, errors: FieldError[]): void {
  if (selector === undefined || selector === null) return;
  labelErrors(selector.matchLabels, `${path}.matchLabels`, errors);
  const expressions = selector.matchExpressions ?? [];
  for (let i = 0; i < expressions.length; i++) requirementErrors(expressions[i]!, `${path}.matchExpressions[${i}]`, errors);
}

function requirementErrors(requirement: { key: string; operator: string; values?: string[] }, path: string, errors: FieldError[]): void {
  const values = requirement.values ?? [];
  if (LIST_OPERATORS.has(requirement.operator)) {
    if (values.length === 0) errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (EXISTENCE_OPERATORS.has(requirement.operator)) {
    if (values.length > 0)
      errors.push(forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  } else errors.push(invalidValue(`${path}.operator`, requirement.operator ?? '', 'not a valid selector operator'));
  for (const detail of qualifiedName(requirement.key ?? '')) errors.push(invalidValue(`${path}.key`, requirement.key ?? '', detail));
  values.forEach((value, i) => {
    for (const detail of labelValue(value)) errors.push(invalidValue(`${path}.values[${i}]`, value, detail));
  });
}

export const isEmptySelector = (selector: LabelSelector): boolean =>
  Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0;

/** undefined when the selector cannot be understood at all. An absent selector matches nothing. */
export function selectorMatches(selector: LabelSelector | undefined, labels: Record<string, string> | undefined): boolean | undefined {
  if (selector === undefined || selector === null) return false;
  const errors: FieldError[] = [];
  labelSelectorErrors(selector, '', errors);
  if (errors.length > 0) return undefined;
  return matches(selectorOf(selector), labels ?? {});
}
