/**
 * Writes objects as protobuf messages of their types. As Go's generated code: everything that is no pointer is written even when it is zero, nothing is packed,
 * fields go in the order of their numbers, map entries in the order of their keys.
 */
import { WireType, type BinaryWriter as Writer } from '@bufbuild/protobuf/wire';
import { parseDurationNs } from './duration.ts';
import { rawText } from './json-encoder.ts';
import { getOwn, isPlain, type Plain, sortedKeys } from './plain.ts';
import type { FieldSchema, Scalar, TypeRef, TypeSchema } from './schema/schema.ts';

const ordered = new WeakMap<TypeSchema, readonly FieldSchema[]>();

function fieldsOf(schema: TypeSchema): readonly FieldSchema[] {
  let fields = ordered.get(schema);
  if (fields === undefined) {
    fields = schema.fields.filter((field) => field.protobuf > 0).sort((a, b) => a.protobuf - b.protobuf);
    ordered.set(schema, fields);
  }
  return fields;
}

/** Writes the fields of a message, without tag and length. */
export function writeMessage(writer: Writer, schema: TypeSchema, object: Plain): void {
  for (const field of fieldsOf(schema)) {
    const { type, protobuf } = field;
    if (field.inline) {
      if (type.kind === 'struct') writeStruct(writer, protobuf, type.schema, object);
      continue;
    }
    const value = getOwn(object, field.name);
    if (value === undefined || value === null) {
      if (!field.pointer) writeZero(writer, protobuf, type);
    } else writeField(writer, protobuf, type, value);
  }
}

function writeStruct(writer: Writer, number: number, schema: TypeSchema, object: Plain): void {
  writer.tag(number, WireType.LengthDelimited).fork();
  writeMessage(writer, schema, object);
  writer.join();
}

function writeField(writer: Writer, number: number, type: TypeRef, value: unknown): void {
  switch (type.kind) {
    case 'list':
      if (!Array.isArray(value)) return;
      if (type.wrapped) {
        writer.tag(number, WireType.LengthDelimited).fork();
        for (const item of value) writeField(writer, 1, type.of, item);
        writer.join();
      } else for (const item of value) writeItem(writer, number, type.of, item);
      return;
    case 'map':
      if (!isPlain(value)) return;
      for (const key of sortedKeys(value)) {
        writer.tag(number, WireType.LengthDelimited).fork();
        writer.tag(1, WireType.LengthDelimited).string(key);
        writeItem(writer, 2, type.of, value[key]);
        writer.join();
      }
      return;
    case 'struct':
      if (type.schema.custom !== undefined) writeCustom(writer, number, type.schema, value);
      else writeStruct(writer, number, type.schema, isPlain(value) ? value : {});
      return;
    default:
      writeScalar(writer, number, type.scalar, value);
  }
}

/** Items of lists and maps are written even when they are zero. */
function writeItem(writer: Writer, number: number, type: TypeRef, value: unknown): void {
  if (value === undefined || value === null) writeZero(writer, number, type);
  else writeField(writer, number, type, value);
}

function writeZero(writer: Writer, number: number, type: TypeRef): void {
  if (type.kind === 'struct') {
    if (type.schema.custom === undefined) writeStruct(writer, number, type.schema, {});
    return;
  }
  if (type.kind !== 'scalar') return;
  switch (type.scalar) {
    case 'string':
      writer.tag(number, WireType.LengthDelimited).string('');
      return;
    case 'bool':
    case 'int32':
    case 'int64':
      writer.tag(number, WireType.Varint).uint32(0);
      return;
    case 'double':
      writer.tag(number, WireType.Bit64).double(0);
      return;
    case 'bytes':
    case 'any':
      return;
    case 'quantity':
      writeScalar(writer, number, 'quantity', '0');
      return;
    case 'intOrString':
      writeScalar(writer, number, 'intOrString', 0);
      return;
    case 'duration':
      writeScalar(writer, number, 'duration', '0s');
      return;
    default:
      writer.tag(number, WireType.LengthDelimited).bytes(new Uint8Array());
  }
}

function writeScalar(writer: Writer, number: number, scalar: Scalar, value: unknown): void {
  switch (scalar) {
    case 'string':
      writer.tag(number, WireType.LengthDelimited).string(String(value));
      return;
    case 'bool':
      writer.tag(number, WireType.Varint).bool(value === true);
      return;
    case 'int32':
      writer.tag(number, WireType.Varint).int32(Number(value));
      return;
    case 'int64':
      writer.tag(number, WireType.Varint).int64(BigInt(value as number));
      return;
    case 'double':
      writer.tag(number, WireType.Bit64).double(Number(value));
      return;
    case 'bytes':
      writer.tag(number, WireType.LengthDelimited).bytes(Buffer.from(String(value), 'base64'));
      return;
    case 'any':
      return;
    default:
      writer.tag(number, WireType.LengthDelimited).fork();
      writeSpecial(writer, scalar, value);
      writer.join();
  }
}

function writeSpecial(writer: Writer, scalar: Scalar, value: unknown): void {
  switch (scalar) {
    case 'time':
    case 'microTime': {
      const text = String(value);
      const micros = scalar === 'microTime' ? Number(/\.(\d{1,6})/.exec(text)?.[1]?.padEnd(6, '0') ?? 0) : 0;
      writer.tag(1, WireType.Varint).int64(BigInt(Math.floor(Date.parse(text) / 1000)));
      writer.tag(2, WireType.Varint).int32(micros * 1000);
      return;
    }
    case 'duration':
      writer.tag(1, WireType.Varint).int64(parseDurationNs(String(value)));
      return;
    case 'quantity':
      writer.tag(1, WireType.LengthDelimited).string(String(value));
      return;
    case 'intOrString': {
      const text = typeof value === 'string';
      writer.tag(1, WireType.Varint).int64(text ? 1 : 0);
      writer.tag(2, WireType.Varint).int32(text ? 0 : Number(value));
      writer.tag(3, WireType.LengthDelimited).string(text ? value : '');
      return;
    }
    default:
      writer.tag(1, WireType.LengthDelimited).bytes(Buffer.from(rawText(value, false), 'utf8'));
  }
}

/** The either-or types of JSON schemas: field numbers are those of their two forms. */
function writeCustom(writer: Writer, number: number, schema: TypeSchema, value: unknown): void {
  const [first, second] = [schema.fields[0]!, schema.fields[1]!];
  writer.tag(number, WireType.LengthDelimited).fork();
  if (schema.custom === 'schemaOrBool') {
    writer.tag(first.protobuf, WireType.Varint).bool(value !== false);
    if (isPlain(value)) writeField(writer, second.protobuf, second.type, value);
  } else if (Array.isArray(value)) writeField(writer, second.protobuf, second.type, value);
  else if (isPlain(value)) writeField(writer, first.protobuf, first.type, value);
  writer.join();
}
