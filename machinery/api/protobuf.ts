/**
 * The protobuf form of built-in kinds, by schema: an envelope (`k8s\0` and a runtime.Unknown that carries apiVersion and kind) around the message.
 * Mirrors apimachinery `runtime/serializer/protobuf`. The messages themselves are in protobuf-decode.ts and protobuf-encode.ts.
 */
import { type BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { parseApiVersion } from './object.ts';
import { getOwn, type Plain } from './plain.ts';
import { decodeMessage, ProtobufError, readRaw } from './protobuf-decode.ts';
import { writeMessage } from './protobuf-encode.ts';
import { kindSchema, type TypeSchema } from './schema/schema.ts';

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

export interface DecodedProtobuf {
  readonly apiVersion: string;
  readonly kind: string;
  /** In the JSON form, without kind and apiVersion; to be passed through `decodeObject` like a JSON body. */
  readonly object: Plain;
}

export interface KindReference {
  readonly apiVersion: string;
  readonly kind: string;
}

/** `expected` stands in for an envelope that names no kind. Throws ProtobufError with upstream's text. */
export function decodeProtobuf(bytes: Uint8Array, expected?: KindReference): DecodedProtobuf {
  if (bytes.length === 0) throw new ProtobufError('empty data');
  if (!MAGIC.equals(bytes.subarray(0, 4))) {
    throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  }
  if (bytes.length === 4) throw new ProtobufError('empty body');
  const envelope = readEnvelope(bytes.subarray(4));
  const apiVersion = envelope.apiVersion || (expected?.apiVersion ?? '');
  const kind = envelope.kind || (expected?.kind ?? '');
  const schema = kindSchema({ ...parseApiVersion(apiVersion), kind });
  if (schema === undefined) {
    throw new ProtobufError(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  return { apiVersion, kind, object: decodeMessage(schema, envelope.raw, decodeNested) };
}

/** An object inside a RawExtension: an envelope of its own, or JSON. */
function decodeNested(raw: Uint8Array): unknown {
  if (!MAGIC.equals(raw.subarray(0, 4))) return undefined;
  const { apiVersion, kind, object } = decodeProtobuf(raw);
  return { kind, apiVersion, ...object };
}

function readEnvelope(bytes: Uint8Array): { apiVersion: string; kind: string; raw: Uint8Array } {
  const result: { apiVersion: string; kind: string; raw: Uint8Array } = { apiVersion: '', kind: '', raw: new Uint8Array() };
  readRaw(bytes, (reader, field) => {
    if (field === 1) {
      readRaw(reader.bytes(), (inner, innerField) => {
        if (innerField === 1) result.apiVersion = inner.string();
        else if (innerField === 2) result.kind = inner.string();
        else return false;
        return true;
      });
    } else if (field === 2) result.raw = reader.bytes();
    else return false;
    return true;
  });
  return result;
}

/** The whole body: envelope and message. `kind` and `apiVersion` are read from the object. */
export function encodeProtobuf(schema: TypeSchema, object: object): Buffer {
  return inEnvelope(object, (writer) => writeMessage(writer, schema, object as Plain));
}

/** A message by itself, as it stands inside another. */
export function encodeProtobufMessage(schema: TypeSchema, object: object): Uint8Array {
  const writer = new BinaryWriter();
  writeMessage(writer, schema, object as Plain);
  return writer.finish();
}

/** The body of a list whose items are encoded already; `head` is the list without them. Items are the last field of every list. */
export function encodeProtobufList(schema: TypeSchema, head: object, items: readonly Uint8Array[]): Buffer {
  return inEnvelope(head, (writer) => {
    writeMessage(writer, schema, head as Plain);
    for (const item of items) writer.tag(ITEMS_FIELD, WireType.LengthDelimited).bytes(item);
  });
}

const ITEMS_FIELD = 2;

function inEnvelope(object: object, write: (writer: BinaryWriter) => void): Buffer {
  const writer = new BinaryWriter();
  writer.raw(MAGIC);
  const plain = object as Plain;
  writer.tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.LengthDelimited).string(String(getOwn(plain, 'apiVersion') ?? ''));
  writer.tag(2, WireType.LengthDelimited).string(String(getOwn(plain, 'kind') ?? ''));
  writer.join();
  writer.tag(2, WireType.LengthDelimited).fork();
  write(writer);
  writer.join();
  writer.tag(3, WireType.LengthDelimited).string('');
  writer.tag(4, WireType.LengthDelimited).string('');
  return exact(writer.finish());
}

/** One frame of a protobuf watch: its length, then a bare WatchEvent whose object is a whole body as `encodeProtobuf` makes it. */
export function encodeProtobufEvent(type: string, body: Uint8Array): Buffer {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.LengthDelimited).string(type);
  writer.tag(2, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.LengthDelimited).bytes(body);
  writer.join();
  const event = writer.finish();
  const frame = Buffer.allocUnsafeSlow(event.length + 4);
  frame.writeUInt32BE(event.length, 0);
  frame.set(event, 4);
  return frame;
}

/** Reads one frame of such a watch, length already taken off. */
export function decodeProtobufEvent(event: Uint8Array): { type: string; object: DecodedProtobuf } {
  let type = '';
  let body = new Uint8Array();
  readRaw(event, (reader, field) => {
    if (field === 1) type = reader.string();
    else if (field === 2) {
      readRaw(reader.bytes(), (inner: BinaryReader, innerField) => {
        if (innerField !== 1) return false;
        body = new Uint8Array(inner.bytes());
        return true;
      });
    } else return false;
    return true;
  });
  return { type, object: decodeProtobuf(body) };
}

function exact(bytes: Uint8Array): Buffer {
  const buffer = Buffer.allocUnsafeSlow(bytes.length);
  buffer.set(bytes);
  return buffer;
}
