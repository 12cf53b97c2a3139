/**
 * Tolerations of pods and taints of nodes. Mirrors kubernetes `core/validation` ValidateTolerations and validateNodeTaints.
 */
import { duplicate, type FieldError, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { labelValue, qualifiedName } from '../../../machinery/api/names.ts';
import type { Taint, Toleration } from '../../../machinery/api/types/core.v1.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
/** Comparison operators are known, but off. */
const ALL_OPERATORS = ['Equal', 'Exists', 'Lt', 'Gt'];

export function tolerationErrors(tolerations: readonly Toleration[], path: string, errors: FieldError[]): void {
  for (let i = 0; i < tolerations.length; i++) tolerationError(tolerations[i]!, `${path}[${i}]`, errors);
}

function tolerationError(toleration: Toleration, path: string, errors: FieldError[]): void {
  const { key = '', operator = '', value = '', effect = '' } = toleration;
  if (key !== '') for (const detail of qualifiedName(key)) errors.push(invalidValue(`${path}.key`, key, detail));
  if (key === '' && operator !== 'Exists') {
    errors.push(
      invalidValue(
        `${path}.operator`,
        operator,
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ),
    );
  }
  if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
    errors.push(invalidValue(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  if (operator === 'Equal' || operator === '') {
    const details = labelValue(value);
    if (details.length > 0) errors.push(invalidValue(`${path}.operator`, value, details.join(';')));
  } else if (operator === 'Exists') {
    if (value !== '') errors.push(invalidValue(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'"));
  } else
    errors.push(
      notSupported(`${path}.operator`, operator, operator === 'Lt' || operator === 'Gt' ? ALL_OPERATORS : ALL_OPERATORS.slice(0, 2)),
    );
  if (effect !== '' && !EFFECTS.includes(effect)) errors.push(notSupported(`${path}.effect`, effect, EFFECTS));
}

/** Paths say `metadata.taints`, as upstream does. */
export function taintErrors(taints: readonly Taint[], path: string, errors: FieldError[]): void {
  const seen = new Map<string, Set<string>>();
  taints.forEach((taint, i) => {
    const at = `${path}[${i}]`;
    const { key = '', value = '', effect = '' } = taint;
    for (const detail of qualifiedName(key)) errors.push(invalidValue(`${at}.key`, key, detail));
    const details = labelValue(value);
    if (details.length > 0) errors.push(invalidValue(`${at}.value`, value, details.join(';')));
    if (effect === '') errors.push(required(`${at}.effect`));
    else if (!EFFECTS.includes(effect)) errors.push(notSupported(`${at}.effect`, effect, EFFECTS));
    const keys = seen.get(effect) ?? new Set();
    seen.set(effect, keys);
    if (keys.has(key)) {
      const error = duplicate(at, { Key: key, Value: value, Effect: effect, TimeAdded: null });
      errors.push({
        ...error,
        body: `${error.body}: taints must be unique by key and effect pair`,
        message: `${error.message}: taints must be unique by key and effect pair`,
      });
    }
    keys.add(key);
  });
}
