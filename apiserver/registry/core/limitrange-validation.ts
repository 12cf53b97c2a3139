/**
 * Rules of limit ranges. Mirrors kubernetes `core/validation` ValidateLimitRange.
 */
import { duplicate, type FieldError, forbiddenField, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { qualifiedName } from '../../../machinery/api/names.ts';
import { compareQuantities, formatQuantity, parseQuantity, type Quantity, quantityMilli } from '../../../machinery/api/quantity.ts';
import type { LimitRange, LimitRangeItem } from '../../../machinery/api/types/core.v1.ts';
import { containerResourceNameErrors, isOvercommitAllowed, resourceNameErrors } from '../validation/resources.ts';

const MEMBERS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;

export function limitRangeErrors({ spec }: LimitRange): FieldError[] {
  const errors: FieldError[] = [];
  const types = new Set<string>();
  spec?.limits?.forEach((item, i) => {
    const path = `spec.limits[${i}]`;
    const type = item.type ?? '';
    for (const detail of typeDetails(type)) errors.push(invalidValue(`${path}.type`, type, detail));
    if (types.has(type)) errors.push(duplicate(`${path}.type`, type));
    types.add(type);
    memberErrors(item, path, errors);
    boundErrors(item, path, errors);
  });
  return errors;
}

function typeDetails(type: string): string[] {
  const details = qualifiedName(type);
  if (details.length > 0) return details;
  return type.includes('/') || ['Pod', 'Container', 'PersistentVolumeClaim'].includes(type)
    ? []
    : ['must be a standard limit type or fully qualified'];
}

type Member = (typeof MEMBERS)[number];

/** Names of resources: those of containers and pods are the ones containers may ask for. */
function nameErrors(item: LimitRangeItem, member: Member, path: string, errors: FieldError[]): void {
  const rule = item.type === 'Pod' || item.type === 'Container' ? containerResourceNameErrors : resourceNameErrors;
  for (const name of Object.keys(item[member] ?? {}).sort()) rule(name, `${path}.${member}[${name}]`, errors);
}

function memberErrors(item: LimitRangeItem, path: string, errors: FieldError[]): void {
  nameErrors(item, 'max', path, errors);
  nameErrors(item, 'min', path, errors);
  for (const member of ['default', 'defaultRequest'] as const) {
    if (item.type !== 'Pod') nameErrors(item, member, path, errors);
    else if (Object.keys(item[member] ?? {}).length > 0)
      errors.push(forbiddenField(`${path}.${member}`, "may not be specified when `type` is 'Pod'"));
  }
  if (item.type === 'PersistentVolumeClaim' && item.min?.['storage'] === undefined && item.max?.['storage'] === undefined) {
    errors.push(required(`${path}.limits`, 'either minimum or maximum storage value is required, but neither was provided'));
  }
  nameErrors(item, 'maxLimitRequestRatio', path, errors);
}

/** What must not be above what: [smaller, larger], where it is told, and the words between the two values. */
const ORDERS: readonly (readonly [Member, Member, Member, string, string])[] = [
  ['min', 'max', 'min', 'min value', 'max value'],
  ['min', 'defaultRequest', 'defaultRequest', 'min value', 'default request value'],
  ['defaultRequest', 'max', 'defaultRequest', 'default request value', 'max value'],
  ['defaultRequest', 'default', 'defaultRequest', 'default request value', 'default limit value'],
  ['min', 'default', 'default', 'min value', 'default value'],
  ['default', 'max', 'default', 'default value', 'max value'],
];
/** The value upstream shows for an order, where it is not the one the path names. */
const SHOWN: Readonly<Record<string, Member>> = { 'min default': 'min', 'default max': 'max' };

function boundErrors(item: LimitRangeItem, path: string, errors: FieldError[]): void {
  const counted = MEMBERS.filter((member) => item.type !== 'Pod' || !member.startsWith('default'));
  const names = new Set(counted.flatMap((member) => Object.keys(item[member] ?? {})));
  for (const name of [...names].sort()) {
    const of = (member: Member): Quantity | undefined => {
      const text = counted.includes(member) ? item[member]?.[name] : undefined;
      return text === undefined ? undefined : parseQuantity(text);
    };
    for (const [low, high, told, lowText, highText] of ORDERS) {
      const [a, b] = [of(low), of(high)];
      if (a === undefined || b === undefined || compareQuantities(a, b) <= 0) continue;
      const shown = of(SHOWN[`${low} ${high}`] ?? told)!;
      const detail = `${lowText} ${formatQuantity(a)} is greater than ${highText} ${formatQuantity(b)}`;
      errors.push(invalidValue(`${path}.${told}[${name}]`, formatQuantity(shown), detail));
    }
    ratioErrors([of('maxLimitRequestRatio'), of('max'), of('min')], `${path}.maxLimitRequestRatio[${name}]`, errors);
    const [limit, request] = [of('default'), of('defaultRequest')];
    if (!isOvercommitAllowed(name) && limit !== undefined && request !== undefined && compareQuantities(limit, request) !== 0) {
      const detail = `default value ${formatQuantity(limit)} must equal to defaultRequest value ${formatQuantity(request)} in ${name}`;
      errors.push(invalidValue(`${path}.defaultRequest[${name}]`, formatQuantity(request), detail));
    }
  }
}

function ratioErrors(
  [ratio, max, min]: readonly [Quantity | undefined, Quantity | undefined, Quantity | undefined],
  path: string,
  errors: FieldError[],
): void {
  if (ratio === undefined) return;
  const text = formatQuantity(ratio);
  if (quantityMilli(ratio) < 1000) errors.push(invalidValue(path, text, `ratio ${text} is less than 1`));
  if (max === undefined || min === undefined) return;
  const bound = quantityMilli(max) / quantityMilli(min);
  // nothing is greater than what nothing divided by nothing is
  if (quantityMilli(ratio) / 1000 > bound)
    errors.push(invalidValue(path, text, `ratio ${text} is greater than max/min = ${bound.toFixed(6)}`));
}
