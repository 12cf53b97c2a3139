/**
 * Conditions of flow control objects: each type once, none without a type. Mirrors kubernetes `flowcontrol/validation`.
 */
import { duplicate, type FieldError, required } from '../../../machinery/api/field-error.ts';
import type { KubeObject } from '../../../machinery/api/object.ts';

type Conditions = readonly { readonly type?: string }[];

export function flowConditionErrors(conditions: Conditions | undefined, errors: FieldError[]): void {
  const seen = new Set<string>();
  conditions?.forEach(({ type = '' }, i) => {
    const path = `status.conditions[${i}].type`;
    if (seen.has(type)) errors.push(duplicate(path, type));
    seen.add(type);
    if (type === '') errors.push(required(path));
  });
}

/** What is wrong with a status that is reported. */
export function flowStatusErrors({ status }: KubeObject & { readonly status?: { readonly conditions?: Conditions } }): FieldError[] {
  const errors: FieldError[] = [];
  flowConditionErrors(status?.conditions, errors);
  return errors;
}
