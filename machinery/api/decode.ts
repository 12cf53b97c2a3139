/**
 * From parsed JSON to an object of a schema: shapes are checked with Go's words, unknown members are named and left out, quantities,
 * times and base64 become canonical, and what Go's storage cannot tell apart (empty and missing lists and maps) becomes missing.
 * Mirrors sigs.k8s.io/json's strict decoder and the UnmarshalJSON methods of apimachinery's types.
 *
 * Invariant: the result holds only members of the schema, and decoding it again changes nothing.
 */
import { canonicalBase64 } from './base64.ts';
import { formatDurationNs, parseDurationNs } from './duration.ts';
import { quoteGo } from './field-error.ts';
import { integerOf, isJsonNumber, type JsonNumber, numberText } from './json-number.ts';
import { memberPaths } from './json-parser.ts';
import { isPlain, type Plain, setOwn } from './plain.ts';
import { canonicalQuantity } from './quantity.ts';
import { readPlainly } from './reader.ts';
import type { FieldSchema, Scalar, TypeRef, TypeSchema } from './schema/schema.ts';
import { canonicalMicroTime, canonicalTime } from './time.ts';
import { dropsEmpty, zeroOf } from './zero.ts';

export class DecodeError extends Error {}

export interface DecodeOptions {
  /** Whether to name unknown members; they are left out in any case. */
  readonly strict: boolean;
}

export interface Decoded {
  readonly object: Plain;
  /** `spec.template.spec.containers[0].nope`, in the order of the body. */
  readonly unknownFields: string[];
}

/** Throws DecodeError: the first mistake of the body, in its order. */
export function decodeObject(schema: TypeSchema, value: unknown, options: DecodeOptions): Decoded {
  if (value === null || value === undefined) return { object: {}, unknownFields: [] };
  if (!isPlain(value)) throw new DecodeError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type ${schema.goName}`);
  const plain = readPlainly(schema, value, options.strict);
  if (plain !== undefined) return { object: plain, unknownFields: [] };
  return decodeCarefully(schema, value, options);
}

/** Reads what `readPlainly` does not take, and anything else alike. */
export function decodeCarefully(schema: TypeSchema, value: Plain, options: DecodeOptions): Decoded {
  const decoder = new Decoder(options.strict);
  const object = decoder.struct(schema, value, { owner: schema, goPath: '' });
  return { object, unknownFields: [...decoder.unknownFields] };
}

/**
 * One line per problem, as a strict decoding error joins them and warnings list them: at most 100, in the order of the JSON text they were found
 * in, where that is given.
 */
export function strictProblems(unknownFields: readonly string[], duplicates: readonly string[], text?: () => string): string[] {
  const hidden = (path: string): boolean =>
    unknownFields.some((field) => path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`));
  const repeated = duplicates.filter((path) => !hidden(path));
  const lines =
    text !== undefined && unknownFields.length > 0 && repeated.length > 0
      ? linesInOrder(memberPaths(text()), new Set(unknownFields), new Set(repeated))
      : [...unknownFields.map(unknownLine), ...repeated.map(duplicateLine)];
  return [...new Set(lines)].slice(0, 100);
}

const unknownLine = (path: string): string => `unknown field ${quoteGo(path)}`;
const duplicateLine = (path: string): string => `duplicate field ${quoteGo(path)}`;

function linesInOrder(paths: readonly string[], unknown: ReadonlySet<string>, repeated: ReadonlySet<string>): string[] {
  const seen = new Set<string>();
  return paths.flatMap((path) => {
    const again = seen.has(path);
    seen.add(path);
    if (unknown.has(path)) return [unknownLine(path)];
    return again && repeated.has(path) ? [duplicateLine(path)] : [];
  });
}

/** Where in Go's types a value stands: `DeploymentSpec` and `spec.replicas` of the error text. */
interface Place {
  readonly owner: TypeSchema;
  readonly goPath: string;
  /** The field being read; absent at the top. */
  readonly field?: FieldSchema;
}

const ABSENT = Symbol('absent');

class Decoder {
  readonly unknownFields = new Set<string>();
  readonly #strict: boolean;
  /** JSON path so far, only kept when it is asked for. */
  readonly #path: string[] = [];

  constructor(strict: boolean) {
    this.#strict = strict;
  }

  struct(schema: TypeSchema, value: Plain, place: Place): Plain {
    const result: Plain = {};
    for (const key of Object.keys(value)) {
      const field = schema.member(key);
      if (field === undefined) {
        if (this.#strict) this.unknownFields.add(this.#pathTo(key));
        continue;
      }
      const member = value[key];
      if (member === null || member === undefined) continue;
      this.#path.push(this.#path.length === 0 ? key : `.${key}`);
      const inlined = schema.inlinedThrough(key);
      const goPath = `${place.goPath === '' ? '' : `${place.goPath}.`}${inlined.length > 0 ? `${inlined.join('.')}.` : ''}${key}`;
      const decoded = this.#value(field.type, member, { owner: schema, goPath, field });
      this.#path.pop();
      if (decoded !== ABSENT && !isDroppedEmpty(field, decoded)) result[key] = decoded;
    }
    return result;
  }

  #pathTo(key: string): string {
    return this.#path.length === 0 ? key : `${this.#path.join('')}.${key}`;
  }

  #value(type: TypeRef, value: unknown, place: Place): unknown {
    switch (type.kind) {
      case 'scalar':
        return decodeScalar(type.scalar, value, (kind, name) => mismatch(kind, name ?? goTypeName(type, place.field), place));
      case 'struct':
        if (type.schema.custom !== undefined) return this.#custom(type.schema, value, place);
        if (!isPlain(value)) throw mismatch(jsonKind(value), goTypeName(type, place.field), place);
        return this.struct(type.schema, value, { owner: type.schema, goPath: place.goPath });
      case 'list':
        return this.#list(type, value, place);
      case 'map':
        return this.#map(type, value, place);
    }
  }

  #list(type: Extract<TypeRef, { kind: 'list' }>, value: unknown, place: Place): unknown[] {
    if (!Array.isArray(value)) throw mismatch(jsonKind(value), goTypeName(type, place.field), place);
    const result: unknown[] = new Array(value.length);
    for (let i = 0; i < value.length; i++) {
      this.#path.push(`[${i}]`);
      result[i] = this.#element(type.of, value[i], place);
      this.#path.pop();
    }
    return result;
  }

  #map(type: Extract<TypeRef, { kind: 'map' }>, value: unknown, place: Place): Plain {
    if (!isPlain(value)) throw mismatch(jsonKind(value), goTypeName(type, place.field), place);
    const result: Plain = {};
    for (const key of Object.keys(value)) {
      this.#path.push(this.#path.length === 0 ? key : `.${key}`);
      setOwn(result, key, this.#element(type.of, value[key], place));
      this.#path.pop();
    }
    return result;
  }

  /** null in a list or map is the zero value of its type. */
  #element(type: TypeRef, value: unknown, place: Place): unknown {
    if (value === null || value === undefined) return zeroOf(type);
    const decoded = this.#value(type, value, place);
    return decoded === ABSENT ? zeroOf(type) : decoded;
  }

  #custom(schema: TypeSchema, value: unknown, place: Place): unknown {
    if (schema.custom === 'raw') return value;
    const inner = schema.fields.map((field) => field.type).find((type) => type.kind === 'struct')!;
    if (isPlain(value)) return this.#value(inner, value, place);
    if (schema.custom === 'schemaOrBool') {
      if (typeof value === 'boolean') return value;
      throw new DecodeError('boolean or JSON schema expected');
    }
    if (!Array.isArray(value)) return ABSENT;
    const of: TypeRef = schema.custom === 'schemaOrStringArray' ? { kind: 'scalar', scalar: 'string' } : inner;
    return this.#list({ kind: 'list', of }, value, place);
  }
}

/**
 * Empty lists and maps are not told from missing ones once stored. Where Go prints the member anyway, whoever sent it empty owns it (roles' rules), so it
 * stays until it is written out.
 */
function isDroppedEmpty(field: FieldSchema, value: unknown): boolean {
  const drops = dropsEmpty(field);
  return drops !== undefined && (drops === 'list' ? (value as unknown[]) : Object.keys(value as Plain)).length === 0;
}

export function jsonKind(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (isJsonNumber(value)) return 'number';
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? 'array' : typeof value;
}

function mismatch(kind: string, goType: string, place: Place): DecodeError {
  const where =
    place.goPath === '' ? 'Go value' : `Go struct field ${place.owner.name.slice(place.owner.name.lastIndexOf('.') + 1)}.${place.goPath}`;
  return new DecodeError(`json: cannot unmarshal ${kind} into ${where} of type ${goType}`);
}

const GO_SCALARS: Partial<Record<Scalar, string>> = {
  bytes: '[]uint8',
  double: 'float64',
  any: 'interface {}',
  time: 'string',
  microTime: 'string',
  duration: 'string',
  intOrString: 'int32',
  json: 'v1.JSON',
  quantity: 'resource.Quantity',
  rawExtension: 'runtime.RawExtension',
};

const shortGoName = (fullName: string): string => fullName.split('.').slice(-2).join('.');

/** A type as Go prints it: `[]v1.Container`, `map[string]string`, `types.UID`. */
export function goTypeName(type: TypeRef, field?: FieldSchema): string {
  if (type.kind === 'struct') return type.schema.goName;
  if (type.alias !== undefined) return shortGoName(type.alias);
  if (type.kind === 'list') return `[]${goTypeName(type.of)}`;
  if (type.kind === 'map') return `map[string]${goTypeName(type.of)}`;
  if (type.scalar === 'string' && field?.name === 'uid') return 'types.UID';
  return GO_SCALARS[type.scalar] ?? type.scalar;
}

type Mismatch = (kind: string, goType?: string) => DecodeError;

function decodeScalar(scalar: Scalar, value: unknown, fail: Mismatch): unknown {
  switch (scalar) {
    case 'string':
      if (typeof value !== 'string') throw fail(jsonKind(value));
      return value;
    case 'bool':
      if (typeof value !== 'boolean') throw fail(jsonKind(value));
      return value;
    case 'int32':
    case 'int64':
      return decodeInteger(value, scalar === 'int32' ? 32 : 64, fail);
    case 'double':
      if (!isJsonNumber(value)) throw fail(jsonKind(value));
      return Number(value);
    case 'intOrString':
      return typeof value === 'string' ? value : decodeInteger(value, 32, fail);
    case 'quantity':
      return decodeQuantity(value);
    case 'bytes':
      if (Array.isArray(value)) return bytesOfNumbers(value, fail);
      if (typeof value !== 'string') throw fail(jsonKind(value));
      return decodeText(scalar, value);
    case 'time':
    case 'microTime':
    case 'duration':
      if (typeof value !== 'string') throw fail(jsonKind(value));
      return decodeText(scalar, value);
    default:
      return value;
  }
}

function decodeInteger(value: unknown, bits: 32 | 64, fail: Mismatch): number | bigint {
  if (!isJsonNumber(value)) throw fail(jsonKind(value));
  const integer = integerOf(value, bits);
  if (integer === undefined) throw fail(`number ${numberText(value)}`);
  return integer;
}

/** Go takes a list of numbers for bytes as well. */
function bytesOfNumbers(items: readonly unknown[], fail: Mismatch): string {
  const bytes = items.map((item) => {
    if (item === null) return 0;
    if (!isJsonNumber(item)) throw fail(jsonKind(item), 'uint8');
    const integer = integerOf(item, 32);
    if (typeof integer !== 'number' || integer < 0 || integer > 255) throw fail(`number ${numberText(item)}`, 'uint8');
    return integer;
  });
  return Buffer.from(bytes).toString('base64');
}

function decodeQuantity(value: unknown): string {
  const text = typeof value === 'string' ? value : isJsonNumber(value) ? numberText(value as JsonNumber) : jsonKind(value);
  try {
    return canonicalQuantity(text);
  } catch (error) {
    throw new DecodeError((error as Error).message, { cause: error });
  }
}

function decodeText(scalar: 'bytes' | 'time' | 'microTime' | 'duration', text: string): unknown {
  try {
    if (scalar === 'bytes') return canonicalBase64(text);
    if (scalar === 'duration') return formatDurationNs(parseDurationNs(text));
    return (scalar === 'time' ? canonicalTime(text) : canonicalMicroTime(text)) ?? ABSENT;
  } catch (error) {
    throw new DecodeError((error as Error).message, { cause: error });
  }
}
