/** How Go prints untyped values with %v and %s; upstream's patch errors quote patches this way: `map[spec:map[replicas:2.5]]`. */
import { NumberLiteral } from '../json-number.ts';
import { type Plain, sortedKeys } from '../plain.ts';
import { goFloat } from '../yaml-scalars.ts';

export function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (value instanceof NumberLiteral) return goFloat(Number(value.text));
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : goFloat(value);
  if (typeof value === 'object')
    return `map[${sortedKeys(value as Plain)
      .map((key) => `${key}:${goText((value as Plain)[key])}`)
      .join(' ')}]`;
  return String(value);
}

/** %s of something that may be no string. */
export function goStringVerb(value: unknown): string {
  return typeof value === 'string' ? value : value === null ? '%!s(<nil>)' : `%!s(${goTypeOf(value)}=${goText(value)})`;
}

/** The Go type that a JSON value decodes into without a schema. */
export function goTypeOf(value: unknown): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))) return 'int64';
  if (typeof value === 'number' || value instanceof NumberLiteral) return 'float64';
  if (value === null || value === undefined) return 'nil';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}

/** reflect.Kind of the same. */
export function goKindOf(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  const type = goTypeOf(value);
  return type.startsWith('map') ? 'map' : type;
}
