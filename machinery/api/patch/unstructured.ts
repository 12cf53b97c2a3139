/**
 * From the untyped result of a strategic merge to a decodable value: whole floats become integers, integers wrap to the size of their
 * field, and what does not fit is refused in upstream's words. Mirrors apimachinery `runtime/converter.go` (FromUnstructured), which
 * is laxer than the JSON decoder.
 */
import { Base64Error, canonicalBase64 } from '../base64.ts';
import { goTypeName } from '../decode.ts';
import { isJsonNumber, type JsonNumber } from '../json-number.ts';
import { isPlain, type Plain, setOwn } from '../plain.ts';
import type { FieldSchema, Scalar, TypeRef, TypeSchema } from '../schema/schema.ts';
import { goKindOf, goTypeOf } from './go-text.ts';

export class ConversionError extends Error {}

/** A copy that `decodeObject` will take; unknown members are kept for it to name. Throws ConversionError. */
export function fromUnstructured(schema: TypeSchema, value: Plain): Plain {
  const result: Plain = {};
  for (const key of Object.keys(value)) {
    const field = schema.member(key);
    setOwn(result, key, field === undefined ? value[key] : convert(field.type, value[key], field));
  }
  return result;
}

function convert(type: TypeRef, value: unknown, field?: FieldSchema): unknown {
  if (value === null || value === undefined) return null;
  switch (type.kind) {
    case 'struct':
      if (type.schema.custom !== undefined) return value;
      if (!isPlain(value)) throw new ConversionError(`cannot restore struct from: ${goKindOf(value)}`);
      return fromUnstructured(type.schema, value);
    case 'list':
      if (!Array.isArray(value)) throw new ConversionError(`cannot restore slice from ${goKindOf(value)}`);
      return value.map((item) => convert(type.of, item));
    case 'map': {
      if (!isPlain(value)) throw new ConversionError(`cannot restore map from ${goKindOf(value)}`);
      const result: Plain = {};
      for (const key of Object.keys(value)) setOwn(result, key, convert(type.of, value[key]));
      return result;
    }
    default:
      return convertScalar(type.scalar, value, () => goTypeName(type, field));
  }
}

const GO_KINDS: Partial<Record<Scalar, string>> = { string: 'string', bool: 'bool', int32: 'int32', int64: 'int64', double: 'float64' };

/** Types that read JSON themselves, and what they read it as: upstream hands them the value without its place. */
const OWN_READERS: Partial<Record<Scalar, string>> = { time: 'string', microTime: 'string', duration: 'string', intOrString: 'int32' };

function convertScalar(scalar: Scalar, value: unknown, typeName: () => string): unknown {
  if (scalar === 'bytes') return convertBytes(value);
  const kind = GO_KINDS[scalar];
  if (kind === undefined) {
    const wanted = OWN_READERS[scalar];
    const fits = typeof value === 'string' || (wanted === 'int32' && isInt32(value));
    if (wanted !== undefined && !fits)
      throw new ConversionError(`json: cannot unmarshal ${jsonText(value)} into Go value of type ${wanted}`);
    return value;
  }
  const numeric = isJsonNumber(value);
  switch (scalar) {
    case 'string':
      if (typeof value === 'string') return value;
      // Go converts integers to strings, as code points; that is refused, unlike other shapes.
      if (numeric && goTypeOf(value) === 'int64') throw new ConversionError(`cannot convert int64 to ${typeName()}`);
      break;
    case 'bool':
      if (typeof value === 'boolean') return value;
      break;
    case 'double':
      if (numeric) return Number(value);
      break;
    default:
      if (numeric) return wholeNumber(value, scalar === 'int32' ? 32 : 64);
  }
  throw new ConversionError(`unrecognized type: ${kind}`);
}

const isInt32 = (value: unknown): boolean => isJsonNumber(value) && Number.isInteger(Number(value)) && Math.abs(Number(value)) < 2 ** 31;

/** How Go's JSON names a value of the wrong shape; fractions are quoted. */
function jsonText(value: unknown): string {
  if (isJsonNumber(value)) return goTypeOf(value) === 'float64' ? `number ${value}` : 'number';
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** base64, or the bytes one by one. */
function convertBytes(value: unknown): unknown {
  if (typeof value === 'string') return bytesOf(value);
  if (!Array.isArray(value)) throw new ConversionError(`cannot restore slice from ${goKindOf(value)}`);
  const bytes = value.map((byte) => {
    if (!isJsonNumber(byte)) throw new ConversionError('unrecognized type: uint8');
    return Number(byte);
  });
  return Buffer.from(bytes).toString('base64');
}

function bytesOf(text: string): string {
  try {
    return canonicalBase64(text);
  } catch (error) {
    if (error instanceof Base64Error) throw new ConversionError(`error decoding from json: ${error.message}`);
    throw error;
  }
}

function wholeNumber(value: JsonNumber, bits: 32 | 64): number | bigint {
  const float = Number(value);
  if (goTypeOf(value) === 'float64' && !Number.isInteger(float)) throw new ConversionError(`cannot convert float64 to int${bits}`);
  let exact = typeof value === 'bigint' ? value : BigInt(Math.abs(float) < 2 ** 63 ? float : -(2 ** 63));
  exact = BigInt.asIntN(bits, exact);
  return exact >= BigInt(Number.MIN_SAFE_INTEGER) && exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : exact;
}
