/**
 * What an object would be if it were printed and read back: values that Go prints though nobody set them are there, empty ones are not,
 * maps are in order. The same as `parseJson(encodeObject(schema, value)).value` without the text in between; runs with every update.
 * Only what Go prints as `null` for a pointer that nobody set (the `apiGroup` of a reference) is left out, as it is when a body is read:
 * what checks a new object and what checks a changed one see the same.
 *
 * Invariant: the result shares nothing mutable with the value. Field sets (`fieldsV1`) are never changed by anybody and are shared.
 */

import { parseJson } from './json.ts';
import { isPrinted, structText } from './json-encoder.ts';
import { isJsonNumber, type JsonNumber, jsonNumber, NumberLiteral, numberText } from './json-number.ts';
import { type Plain, setOwn, sortedKeys, wellFormed } from './plain.ts';
import type { FieldSchema, Scalar, TypeRef, TypeSchema } from './schema/schema.ts';

type Form = (value: unknown) => unknown;

interface Member {
  readonly name: string;
  readonly printed: (value: unknown) => boolean;
  /** Printed though it is not there. */
  readonly always: boolean;
  readonly form: Form;
}

const compiled = new WeakMap<TypeSchema, readonly Member[]>();
const EMPTY: Plain = Object.freeze({});

export function printedForm(schema: TypeSchema, value: unknown): unknown {
  // The either-or forms of JSON schemas are rare: they take the long way.
  if (schema.custom !== undefined) return parseJson(structText(schema, value)).value;
  let members = compiled.get(schema);
  if (members === undefined) {
    members = schema.members.map(memberOf);
    compiled.set(schema, members);
  }
  const object = typeof value === 'object' && value !== null ? (value as Plain) : EMPTY;
  const result: Plain = {};
  for (let i = 0; i < members.length; i++) {
    const { name, printed, always, form } = members[i]!;
    const member = object[name];
    if (member === undefined ? always : printed(member)) result[name] = form(member);
  }
  return result;
}

function memberOf(field: FieldSchema): Member {
  const printed = field.pointer && !field.omitEmpty ? isSet : isPrinted(field);
  return { name: field.name, printed, always: printed(undefined), form: formOf(field.type) };
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

function formOf(type: TypeRef): Form {
  switch (type.kind) {
    case 'scalar':
      return SCALARS[type.scalar];
    case 'struct': {
      const { schema } = type;
      return (value) => printedForm(schema, value);
    }
    case 'list': {
      const form = formOf(type.of);
      return (value) => (Array.isArray(value) && value.length > 0 ? value.map(form) : null);
    }
    case 'map': {
      const item = formOf(type.of);
      const form: Form = type.of.kind === 'list' ? (value) => item(value) ?? [] : item;
      return (value) => {
        if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return null;
        const result: Plain = {};
        for (const key of sortedKeys(value as Plain)) setOwn(result, wellFormed(key), form((value as Plain)[key]));
        return result;
      };
    }
  }
}

const text: Form = (value) => (typeof value === 'string' ? wellFormed(value) : value === undefined || value === null ? '' : String(value));

const number: Form = (value) => {
  if (value === undefined || value === null) return 0;
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? value : jsonNumber(numberText(value as JsonNumber));
};

const nullable: Form = (value) => (value === undefined || value === null || value === '' ? null : text(value));
const orElse =
  (zero: unknown): Form =>
  (value) =>
    value === undefined || value === null ? zero : text(value);

function raw(value: unknown, sorted: boolean): unknown {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'boolean') return value;
  if (isJsonNumber(value)) return typeof value === 'number' && !Number.isFinite(value) ? null : number(value);
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) return value.map((item) => raw(item, sorted));
  const result: Plain = {};
  for (const key of sorted ? sortedKeys(value as Plain) : Object.keys(value)) {
    const member = (value as Plain)[key];
    if (member !== undefined) setOwn(result, wellFormed(key), raw(member, sorted));
  }
  return result;
}

const asSent: Form = (value) => raw(value, false);

const SCALARS: Record<Scalar, Form> = {
  string: text,
  bool: (value) => value === true,
  int32: number,
  int64: number,
  double: number,
  bytes: orElse(null),
  any: (value) => raw(value, true),
  time: nullable,
  microTime: nullable,
  duration: orElse('0s'),
  quantity: orElse('0'),
  intOrString: (value) => (typeof value === 'string' ? text(value) : number(value)),
  rawExtension: asSent,
  fieldsV1: (value) => (typeof value === 'object' && !(value instanceof NumberLiteral) ? value : asSent(value)),
  json: asSent,
};
