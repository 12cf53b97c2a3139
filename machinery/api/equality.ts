/**
 * Equality and copies of API values. Mirrors apimachinery `api/equality` (Semantic.DeepEqual): missing and empty lists are equal, and,
 * where the schema is known, so are missing and empty maps, equal amounts and equal instants.
 */
import { NumberLiteral, numberText } from './json-number.ts';
import { isPlain, type Plain, setOwn } from './plain.ts';
import { compareQuantities, parseQuantity } from './quantity.ts';
import type { TypeRef, TypeSchema } from './schema/schema.ts';

const isMissing = (value: unknown): boolean => value === undefined || value === null;
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/**
 * Without a schema `{}` differs from a missing member, since it may be a struct that is set (`emptyDir: {}`). With one, maps and value
 * structs are known for what they are.
 */
export function deepEqual(a: unknown, b: unknown, schema?: TypeSchema): boolean {
  if (schema !== undefined) return equalStructs(schema, a, b);
  if (a === b) return true;
  if (isMissing(a) || isMissing(b)) return (isMissing(a) || isEmptyList(a)) && (isMissing(b) || isEmptyList(b));
  if (typeof a !== 'object' || typeof b !== 'object') return equalNumbers(a, b);
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => deepEqual(item, b[i]));
  }
  if (a instanceof NumberLiteral || b instanceof NumberLiteral) return equalNumbers(a, b);
  return everyMember(a as Plain, b as Plain, (_, x, y) => deepEqual(x, y));
}

/** As deepEqual without a schema, but an empty list is not a missing one: what patches compare. */
export function identical(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => identical(item, b[i]));
  if (isPlain(a) && isPlain(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && identical(a[key], b[key]));
  }
  return deepEqual(a, b);
}

function equalNumbers(a: unknown, b: unknown): boolean {
  const text = (value: unknown): string | undefined =>
    typeof value === 'bigint' || typeof value === 'number' || value instanceof NumberLiteral ? numberText(value) : undefined;
  const left = text(a);
  return left !== undefined && left === text(b);
}

function everyMember(a: Plain, b: Plain, equal: (key: string, x: unknown, y: unknown) => boolean): boolean {
  for (const key of Object.keys(a)) if (!equal(key, a[key], Object.hasOwn(b, key) ? b[key] : undefined)) return false;
  for (const key of Object.keys(b)) if (!Object.hasOwn(a, key) && !equal(key, undefined, b[key])) return false;
  return true;
}

const EMPTY: Plain = Object.freeze({});

function equalStructs(schema: TypeSchema, a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (schema.custom !== undefined) return deepEqual(a, b);
  const left = isPlain(a) ? a : EMPTY;
  const right = isPlain(b) ? b : EMPTY;
  return schema.members.every((field) => {
    const x = left[field.name];
    const y = right[field.name];
    if (x === y) return true;
    if (field.pointer && isMissing(x) !== isMissing(y)) return false;
    return equalTyped(field.type, x, y);
  });
}

function equalTyped(type: TypeRef, a: unknown, b: unknown): boolean {
  if (a === b) return true;
  switch (type.kind) {
    case 'struct':
      return equalStructs(type.schema, a, b);
    case 'list': {
      const [x, y] = [Array.isArray(a) ? a : [], Array.isArray(b) ? b : []];
      return x.length === y.length && x.every((item, i) => equalTyped(type.of, item, y[i]));
    }
    case 'map': {
      const [x, y] = [isPlain(a) ? a : EMPTY, isPlain(b) ? b : EMPTY];
      const keys = Object.keys(x);
      return keys.length === Object.keys(y).length && keys.every((key) => Object.hasOwn(y, key) && equalTyped(type.of, x[key], y[key]));
    }
    default:
      return equalScalars(type.scalar, a, b);
  }
}

const ZEROS = new Map<string, unknown>(
  Object.entries({ string: '', bool: false, int32: 0, int64: 0, double: 0, bytes: '', quantity: '0', intOrString: 0, duration: '0s' }),
);

function equalScalars(scalar: string, a: unknown, b: unknown): boolean {
  const x = a ?? ZEROS.get(scalar) ?? undefined;
  const y = b ?? ZEROS.get(scalar) ?? undefined;
  if (x === y) return true;
  if (scalar === 'quantity' && x !== undefined && y !== undefined) {
    return compareQuantities(parseQuantity(x as string), parseQuantity(y as string)) === 0;
  }
  return deepEqual(x, y);
}

/** A copy that shares nothing mutable. `__proto__` members stay plain data. */
export function deepClone<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const copy: unknown[] = new Array(value.length);
    for (let i = 0; i < value.length; i++) copy[i] = deepClone(value[i]);
    return copy as T;
  }
  if (value instanceof NumberLiteral) return value;
  const copy: Plain = {};
  for (const key of Object.keys(value)) {
    const member = (value as Plain)[key];
    setOwn(copy, key, typeof member === 'object' ? deepClone(member) : member);
  }
  return copy as T;
}
