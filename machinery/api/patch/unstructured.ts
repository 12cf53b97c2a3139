/**
 * From the untyped result of a strategic merge to a decodable value: whole floats become integers, integers wrap to the size of their
 * field, and what does not fit is refused in upstream's words. Mirrors apimachinery `runtime/converter.go` (FromUnstructured), which
 * is laxer than the JSON decoder.
 */
import { Base64Error, canonicalBase64 } from '../base64.ts';
import { isJsonNumber, type JsonNumber } from '../json-number.ts';
import { isPlain, type Plain, setOwn } from '../plain.ts';
import type { Scalar, TypeRef, TypeSchema } from '../schema/schema.ts';
import { goKindOf, goTypeOf } from './go-text.ts';

export class ConversionError extends Error {}

/** A copy that `decodeObject` will take; unknown members are kept for it to name. Throws ConversionError. */
export function fromUnstructured(schema: TypeSchema, value: Plain): Plain {
  const result: Plain = {};
  for (const key of Object.keys(value)) {
    const field = schema.member(key);
    setOwn(result, key, field === undefined ? value[key] : convert(field.type, value[key]));
  }
  return result;
}

function convert(type: TypeRef, value: unknown): unknown {
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
      return convertScalar(type.scalar, value);
  }
}

const GO_KINDS: Partial<Record<Scalar, string>> = { string: 'string', bool: 'bool', int32: 'int32', int64: 'int64', double: 'float64' };

function convertScalar(scalar: Scalar, value: unknown): unknown {
  if (scalar === 'bytes') {
    if (typeof value === 'string') return bytesOf(value);
    if (!Array.isArray(value)) throw new ConversionError(`cannot restore slice from ${goKindOf(value)}`);
    return value;
  }
  const kind = GO_KINDS[scalar];
  if (kind === undefined) return value;
  const numeric = isJsonNumber(value);
  switch (scalar) {
    case 'string':
      if (typeof value === 'string') return value;
      // Go converts integers to strings, as code points; that is refused, unlike other shapes.
      if (numeric && goTypeOf(value) === 'int64') throw new ConversionError('cannot convert int64 to string');
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
