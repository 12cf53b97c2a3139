/**
 * Rules of limit ranges. Mirrors kubernetes `core/validation` ValidateLimitRange.
 */
import { duplicate, type FieldError, forbiddenField, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { qualifiedName } from '../../../machinery/api/names.ts';
import { compareQuantities, formatQuantity, parseQuantity, quantityMilli } from '../../../machinery/api/quantity.ts';
import type { LimitRange, LimitRangeItem } from '../../../machinery/api/types/core.v1.ts';
import { isContainerResource, isNative, resourceNameErrors } from '../validation/resources.ts';

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
    memberErrors(item, type, path, errors);
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

function memberErrors(item: LimitRangeItem, type: string, path: string, errors: FieldError[]): void {
  for (const member of MEMBERS) {
    const list = item[member];
    if (list === undefined) continue;
    if (type === 'Pod' && (member === 'default' || member === 'defaultRequest')) {
      if (Object.keys(list).length > 0) errors.push(forbiddenField(`${path}.${member}`, "may not be specified when `type` is 'Pod'"));
      continue;
    }
    for (const name of Object.keys(list).sort()) {
      resourceNameErrors(name, `${path}.${member}[${name}]`, errors);
      if (!name.includes('/') && type === 'Container' && !isContainerResource(name)) {
        errors.push(invalidValue(`${path}.${member}[${name}]`, name, 'must be a standard resource for containers'));
      }
    }
  }
  if (type === 'PersistentVolumeClaim' && item.min?.['storage'] === undefined && item.max?.['storage'] === undefined) {
    errors.push(required(`${path}.limits`, 'either minimum or maximum storage value is required, but neither was provided'));
  }
}

function boundErrors(item: LimitRangeItem, path: string, errors: FieldError[]): void {
  const names = new Set(MEMBERS.flatMap((member) => Object.keys(item[member] ?? {})));
  for (const name of [...names].sort()) {
    const at = (member: string): string => `${path}.${member}[${name}]`;
    const q = (member: (typeof MEMBERS)[number]) => (item[member]?.[name] === undefined ? undefined : parseQuantity(item[member]![name]!));
    const [max, min, limit, request, ratio] = [q('max'), q('min'), q('default'), q('defaultRequest'), q('maxLimitRequestRatio')];
    const above = (a: typeof max, b: typeof max): boolean => a !== undefined && b !== undefined && compareQuantities(a, b) > 0;
    if (above(min, max))
      errors.push(
        invalidValue(
          at('min'),
          formatQuantity(min!),
          `min value ${formatQuantity(min!)} is greater than max value ${formatQuantity(max!)}`,
        ),
      );
    if (above(min, request)) {
      errors.push(
        invalidValue(
          at('defaultRequest'),
          formatQuantity(request!),
          `min value ${formatQuantity(min!)} is greater than default request value ${formatQuantity(request!)}`,
        ),
      );
    }
    if (above(request, max)) {
      errors.push(
        invalidValue(
          at('defaultRequest'),
          formatQuantity(request!),
          `default request value ${formatQuantity(request!)} is greater than max value ${formatQuantity(max!)}`,
        ),
      );
    }
    if (above(request, limit)) {
      errors.push(
        invalidValue(
          at('defaultRequest'),
          formatQuantity(request!),
          `default request value ${formatQuantity(request!)} is greater than default limit value ${formatQuantity(limit!)}`,
        ),
      );
    }
    if (above(min, limit)) {
      errors.push(
        invalidValue(
          at('default'),
          formatQuantity(min!),
          `min value ${formatQuantity(min!)} is greater than default value ${formatQuantity(limit!)}`,
        ),
      );
    }
    if (above(limit, max)) {
      errors.push(
        invalidValue(
          at('default'),
          formatQuantity(max!),
          `default value ${formatQuantity(limit!)} is greater than max value ${formatQuantity(max!)}`,
        ),
      );
    }
    if (ratio !== undefined) {
      if (quantityMilli(ratio) < 1000)
        errors.push(invalidValue(at('maxLimitRequestRatio'), formatQuantity(ratio), `ratio ${formatQuantity(ratio)} is less than 1`));
      if (max !== undefined && min !== undefined) {
        const bound = quantityMilli(max) / quantityMilli(min);
        if (quantityMilli(ratio) / 1000 > bound) {
          errors.push(
            invalidValue(
              at('maxLimitRequestRatio'),
              formatQuantity(ratio),
              `ratio ${formatQuantity(ratio)} is greater than max/min = ${bound.toFixed(6)}`,
            ),
          );
        }
      }
    }
    if (!isNative(name) && limit !== undefined && request !== undefined && compareQuantities(limit, request) !== 0) {
      errors.push(
        invalidValue(
          at('defaultRequest'),
          formatQuantity(request),
          `default value ${formatQuantity(limit)} must equal to defaultRequest value ${formatQuantity(request)}`,
        ),
      );
    }
  }
}
