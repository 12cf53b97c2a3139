/**
 * The quick way through `decodeObject`: one reader per type, made once, that takes what is right and knows nothing of paths or words. Whatever
 * is not plainly right (a wrong shape, an unknown member where those are to be named, a number JavaScript would blur) is left to the careful
 * decoder, which reads again from the start and says what is wrong and where. Almost every body is right.
 *
 * Invariant: what is read here is exactly what the careful decoder would have read.
 */
import { canonicalBase64 } from './base64.ts';
import { formatDurationNs, parseDurationNs } from './duration.ts';
import { NumberLiteral } from './json-number.ts';
import { type Plain, setOwn } from './plain.ts';
import { canonicalQuantity } from './quantity.ts';
import type { FieldSchema, Scalar, TypeRef, TypeSchema } from './schema/schema.ts';
import { canonicalMicroTime, canonicalTime } from './time.ts';
import { dropsEmpty, zeroOf } from './zero.ts';

/** Throws when the value is not plainly right; answers undefined for what counts as absent. */
type Read = (value: unknown, strict: boolean) => unknown;

interface Member {
  readonly read: Read;
  /** Empty lists or maps that storage cannot tell from missing ones. */
  readonly drops: 'list' | 'map' | undefined;
}

/** Whatever the reason, the careful decoder finds it: nothing is told here. */
const NOT_PLAIN = new Error('not plainly right');

function refuse(): never {
  throw NOT_PLAIN;
}

/** The object, or undefined when it is for the careful decoder. `strict`: unknown members are for it too; else they are left out. */
export function readPlainly(schema: TypeSchema, value: unknown, strict: boolean): Plain | undefined {
  try {
    return readStruct(schema, value, strict);
  } catch {
    return undefined;
  }
}

const compiled = new WeakMap<TypeSchema, Map<string, Member>>();

function readStruct(schema: TypeSchema, value: unknown, strict: boolean): Plain {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof NumberLiteral) refuse();
  let members = compiled.get(schema);
  if (members === undefined) {
    members = new Map(schema.members.map((field) => [field.name, memberOf(field)]));
    compiled.set(schema, members);
  }
  const result: Plain = {};
  for (const key of Object.keys(value)) {
    const member = members.get(key);
    if (member === undefined) {
      if (strict) refuse();
      continue;
    }
    const sent = (value as Plain)[key];
    if (sent === null || sent === undefined) continue;
    const read = member.read(sent, strict);
    if (read === undefined || (member.drops !== undefined && isEmpty(member.drops, read))) continue;
    result[key] = read;
  }
  return result;
}

function isEmpty(kind: 'list' | 'map', value: unknown): boolean {
  if (kind === 'list') return (value as unknown[]).length === 0;
  for (const _ in value as Plain) return false;
  return true;
}

function memberOf(field: FieldSchema): Member {
  return { read: readerOf(field.type), drops: dropsEmpty(field) };
}

function readerOf(type: TypeRef): Read {
  switch (type.kind) {
    case 'scalar':
      return SCALARS[type.scalar] ?? ((value) => value);
    case 'struct': {
      const { schema } = type;
      if (schema.custom === 'raw') return (value) => value;
      // The either-or forms of JSON schemas.
      if (schema.custom !== undefined) return refuse;
      return (value, strict) => readStruct(schema, value, strict);
    }
    case 'list': {
      const read = elementReader(type.of);
      return (value, strict) => {
        if (!Array.isArray(value)) refuse();
        const result: unknown[] = new Array(value.length);
        for (let i = 0; i < value.length; i++) result[i] = read(value[i], strict);
        return result;
      };
    }
    case 'map': {
      const read = elementReader(type.of);
      return (value, strict) => {
        if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof NumberLiteral) refuse();
        const result: Plain = {};
        for (const key of Object.keys(value)) setOwn(result, key, read((value as Plain)[key], strict));
        return result;
      };
    }
  }
}

/** null, and what counts as absent, is the zero value in a list or map. */
function elementReader(type: TypeRef): Read {
  const read = readerOf(type);
  return (value, strict) => {
    if (value === null || value === undefined) return zeroOf(type);
    const element = read(value, strict);
    return element === undefined ? zeroOf(type) : element;
  };
}

const text: Read = (value) => (typeof value === 'string' ? value : refuse());

/** Adding zero makes -0 the zero that Go has. */
const int32: Read = (value) =>
  typeof value === 'number' && Number.isInteger(value) && value >= -2147483648 && value <= 2147483647 ? value + 0 : refuse();

const canonical =
  (form: (text: string) => unknown): Read =>
  (value) =>
    typeof value === 'string' ? form(value) : refuse();

/** Absent here: kinds of values that are kept as they come. */
const SCALARS: Partial<Record<Scalar, Read>> = {
  string: text,
  bool: (value) => (typeof value === 'boolean' ? value : refuse()),
  int32,
  int64: (value) => (typeof value === 'number' && Number.isSafeInteger(value) ? value + 0 : refuse()),
  double: (value) => (typeof value === 'number' ? value : refuse()),
  intOrString: (value, strict) => (typeof value === 'string' ? value : int32(value, strict)),
  quantity: canonical(canonicalQuantity),
  bytes: canonical(canonicalBase64),
  time: canonical(canonicalTime),
  microTime: canonical(canonicalMicroTime),
  duration: canonical((value) => formatDurationNs(parseDurationNs(value))),
};
