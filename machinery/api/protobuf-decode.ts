/**
 * Reads protobuf messages of the API's types into their JSON form. Inlined structs are messages on the wire and flat in JSON; a value that
 * Go writes although it is zero is read as not set, as in JSON with omitempty.
 */
import { BinaryReader, type BinaryReader as Reader, WireType } from '@bufbuild/protobuf/wire';
import { formatDurationNs } from './duration.ts';
import { parseJson } from './json.ts';
import { type Plain, setOwn } from './plain.ts';
import { canonicalQuantity } from './quantity.ts';
import type { FieldSchema, Scalar, TypeRef, TypeSchema } from './schema/schema.ts';

export class ProtobufError extends Error {}

/** Decodes an object in a RawExtension that is in protobuf itself; undefined when it is not. */
export type DecodeNested = (raw: Uint8Array) => unknown;

/** Messages nest no deeper; only JSON schemas nest at all. */
const MAX_DEPTH = 500;

/** Calls `read` per field; it returns false for fields to skip. Malformed bytes become a ProtobufError. */
export function readRaw(bytes: Uint8Array, read: (reader: Reader, field: number, wire: WireType) => boolean): void {
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [field, wire] = reader.tag();
      if (!read(reader, field, wire)) reader.skip(wire, field);
    }
    if (reader.pos > reader.len) throw new RangeError();
  } catch (error) {
    if (error instanceof ProtobufError) throw error;
    throw new ProtobufError('unexpected EOF', { cause: error });
  }
}

const fieldIndex = new WeakMap<TypeSchema, Map<number, FieldSchema>>();

function fieldsOf(schema: TypeSchema): Map<number, FieldSchema> {
  let fields = fieldIndex.get(schema);
  if (fields === undefined) {
    fields = new Map(schema.fields.filter((field) => field.protobuf > 0).map((field) => [field.protobuf, field]));
    fieldIndex.set(schema, fields);
  }
  return fields;
}

export function decodeMessage(schema: TypeSchema, bytes: Uint8Array, nested: DecodeNested): Plain {
  return new Decoder(nested).message(schema, bytes, {});
}

class Decoder {
  readonly #nested: DecodeNested;
  #depth = 0;

  constructor(nested: DecodeNested) {
    this.#nested = nested;
  }

  message(schema: TypeSchema, bytes: Uint8Array, into: Plain): Plain {
    if (++this.#depth > MAX_DEPTH) throw new ProtobufError('exceeded max depth');
    const fields = fieldsOf(schema);
    readRaw(bytes, (reader, number, wire) => {
      const field = fields.get(number);
      if (field === undefined) return false;
      this.#field(into, field, reader, wire);
      return true;
    });
    this.#depth--;
    return into;
  }

  #field(into: Plain, field: FieldSchema, reader: Reader, wire: WireType): void {
    const { type, name } = field;
    if (field.inline && type.kind === 'struct') {
      this.message(type.schema, reader.bytes(), into);
    } else if (type.kind === 'list' && !type.wrapped) {
      const list = memberOf<unknown[]>(into, name, []);
      if (wire === WireType.LengthDelimited && isPackable(type.of)) {
        const packed = new BinaryReader(reader.bytes());
        while (packed.pos < packed.len) list.push(this.#value(type.of, packed));
      } else list.push(this.#value(type.of, reader) ?? null);
    } else if (type.kind === 'map') {
      this.#entry(memberOf<Plain>(into, name, {}), type.of, reader.bytes());
    } else {
      const value = this.#value(type, reader);
      if (value !== undefined && (field.pointer || isBytes(type) || !isZero(value))) into[name] = value;
    }
  }

  #entry(map: Plain, type: TypeRef, bytes: Uint8Array): void {
    let key = '';
    let value: unknown;
    readRaw(bytes, (reader, number) => {
      if (number === 1) key = reader.string();
      else if (number === 2) value = this.#value(type, reader);
      else return false;
      return true;
    });
    setOwn(map, key, value ?? emptyOf(type));
  }

  #value(type: TypeRef, reader: Reader): unknown {
    switch (type.kind) {
      case 'struct':
        return type.schema.custom === undefined ? this.message(type.schema, reader.bytes(), {}) : this.#custom(type.schema, reader.bytes());
      case 'list': {
        const items: unknown[] = [];
        readRaw(reader.bytes(), (inner, number) => {
          if (number !== 1) return false;
          items.push(this.#value(type.of, inner));
          return true;
        });
        return items;
      }
      case 'map':
        throw new ProtobufError('a map cannot stand here');
      default:
        return this.#scalar(type.scalar, reader);
    }
  }

  #scalar(scalar: Scalar, reader: Reader): unknown {
    switch (scalar) {
      case 'string':
        return reader.string();
      case 'bool':
        return reader.bool();
      case 'int32':
        return reader.int32();
      case 'int64':
        return integer(reader.int64());
      case 'double':
        return reader.double();
      case 'bytes':
        return Buffer.from(reader.bytes()).toString('base64');
      case 'any':
        throw new ProtobufError('this type has no protobuf form');
      default:
        return this.#special(scalar, reader.bytes());
    }
  }

  /** The types that are messages on the wire and something else in JSON. */
  #special(scalar: Scalar, bytes: Uint8Array): unknown {
    const parts = { number: 0n, second: 0, text: '', raw: new Uint8Array() };
    readRaw(bytes, (reader, number, wire) => {
      if (wire === WireType.Varint && number === 1) parts.number = BigInt(reader.int64());
      else if (wire === WireType.Varint && number === 2) parts.second = reader.int32();
      else if (wire === WireType.LengthDelimited && (number === 1 || number === 3)) {
        const content = reader.bytes();
        if (number === 1 && scalar !== 'quantity') parts.raw = new Uint8Array(content);
        else parts.text = Buffer.from(content).toString('utf8');
      } else return false;
      return true;
    });
    switch (scalar) {
      case 'time':
      case 'microTime':
        return bytes.length === 0 ? undefined : timeText(parts.number, scalar === 'microTime' ? parts.second : undefined);
      case 'duration':
        return formatDurationNs(parts.number);
      case 'quantity':
        return canonicalQuantity(parts.text === '' ? '0' : parts.text);
      case 'intOrString':
        return parts.number === 1n ? parts.text : parts.second;
      default:
        return parts.raw.length === 0 ? undefined : (this.#nested(parts.raw) ?? parseJson(Buffer.from(parts.raw)).value);
    }
  }

  #custom(schema: TypeSchema, bytes: Uint8Array): unknown {
    const [first, second] = [schema.fields[0]!, schema.fields[1]!];
    const found: Plain = {};
    readRaw(bytes, (reader, number) => {
      if (number === first.protobuf) found['first'] = this.#value(first.type, reader);
      else if (number === second.protobuf && second.type.kind === 'list') {
        memberOf<unknown[]>(found, 'second', []).push(this.#value(second.type.of, reader));
      } else if (number === second.protobuf) found['second'] = this.#value(second.type, reader);
      else return false;
      return true;
    });
    if (schema.custom === 'schemaOrBool') return found['second'] ?? found['first'] ?? false;
    return found['second'] ?? found['first'] ?? undefined;
  }
}

/** The member, set to `initial` when it is absent. Names come from the schema. */
function memberOf<T>(object: Plain, name: string, initial: T): T {
  object[name] ??= initial;
  return object[name] as T;
}

const isPackable = (type: TypeRef): boolean => type.kind === 'scalar' && ['bool', 'int32', 'int64', 'double'].includes(type.scalar);

/** Empty bytes on the wire were set: Go writes no unset ones. */
const isBytes = (type: TypeRef): boolean => type.kind === 'scalar' && type.scalar === 'bytes';

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false || value === 0n;
}

function integer(value: bigint | string): number | bigint {
  const exact = BigInt(value);
  const number = Number(exact);
  return Number.isSafeInteger(number) ? number : exact;
}

function emptyOf(type: TypeRef): unknown {
  if (type.kind === 'struct') return {};
  if (type.kind === 'list') return [];
  return type.kind === 'scalar' && type.scalar === 'quantity' ? '0' : '';
}

const ZERO_TIME_SECONDS = -62135596800n;

function timeText(seconds: bigint, nanos: number | undefined): string | undefined {
  if (seconds === ZERO_TIME_SECONDS && (nanos ?? 0) === 0) return undefined;
  const date = new Date(Number(seconds) * 1000);
  if (Number.isNaN(date.getTime())) throw new ProtobufError('time is out of range');
  const base = date.toISOString().slice(0, 19);
  return nanos === undefined ? `${base}Z` : `${base}.${String(Math.trunc(nanos / 1000)).padStart(6, '0')}Z`;
}
