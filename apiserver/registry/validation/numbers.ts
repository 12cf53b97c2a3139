/**
 * Numbers, percents and the immutability of single fields. Mirrors the small validators of kubernetes `core/validation` and `apps/validation`.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, type FieldPath, invalidValue } from '../../../machinery/api/field-error.ts';
import { regexDetail } from '../../../machinery/api/names.ts';
import { IMMUTABLE } from './metadata.ts';

export type IntOrString = number | string;

const NOT_NEGATIVE = 'must be greater than or equal to 0';
const PERCENT = '[0-9]+%';
const percentDetail = regexDetail("a valid percent string must be a numeric string followed by an ending '%'", PERCENT, '1%', '93%');

export function nonNegative(value: number | undefined | null, path: FieldPath, errors: FieldError[]): void {
  if (value !== undefined && value !== null && value < 0) errors.push(invalidValue(path, value, NOT_NEGATIVE));
}

/** The same for the named members of one struct. */
export function nonNegativeMembers(object: object | undefined, path: string, names: readonly string[], errors: FieldError[]): void {
  if (object === undefined) return;
  for (const name of names) nonNegative((object as Record<string, number | undefined>)[name], `${path}.${name}`, errors);
}

export function positive(value: number, path: FieldPath, errors: FieldError[]): void {
  if (value <= 0) errors.push(invalidValue(path, value, 'must be greater than 0'));
}

/** The number before `%`, or undefined for anything else. */
export function percentOf(value: IntOrString | undefined): number | undefined {
  return typeof value === 'string' && /^[0-9]+%$/.test(value) ? Number(value.slice(0, -1)) : undefined;
}

export function nonNegativeIntOrPercent(value: IntOrString | undefined, path: FieldPath, errors: FieldError[]): void {
  if (typeof value === 'string') {
    if (percentOf(value) === undefined) errors.push(invalidValue(path, value, percentDetail));
  } else nonNegative(value, path, errors);
}

export function notMoreThan100Percent(value: IntOrString | undefined, path: FieldPath, errors: FieldError[]): void {
  const percent = percentOf(value);
  if (percent !== undefined && percent > 100) errors.push(invalidValue(path, value, 'must not be greater than 100%'));
}

/** 0 for absent, for 0, for `0%` and for text that is neither a percentage nor a number; what else it is does not matter to the callers. */
export function isZero(value: IntOrString | undefined): boolean {
  if (typeof value !== 'string') return (value ?? 0) === 0;
  return (percentOf(value) ?? (/^[+-]?[0-9]+$/.test(value) ? Number(value) : 0)) === 0;
}

export function immutableField(value: unknown, old: unknown, path: FieldPath, errors: FieldError[]): void {
  if (!deepEqual(value, old)) errors.push(invalidValue(path, value, IMMUTABLE));
}
