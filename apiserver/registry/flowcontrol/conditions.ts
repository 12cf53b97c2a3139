/**
 * Conditions of flow control objects: each type once, none without a type. Mirrors kubernetes `flowcontrol/validation`.
 */
import { duplicate, type FieldError, required } from '../../../machinery/api/field-error.ts';

export function flowConditionErrors(conditions: readonly { type?: string }[] | undefined, errors: FieldError[]): void {
  const seen = new Set<string>();
  conditions?.forEach(({ type = '' }, i) => {
    const path = `status.conditions[${i}].type`;
    if (seen.has(type)) errors.push(duplicate(path, type));
    seen.add(type);
    if (type === '') errors.push(required(path));
  });
}
