/**
 * Prints values as Go's encoding/json prints the API's structs: members in struct order, `omitempty` for zero scalars and empty
 * lists, value structs always (`status: {}`), nil lists without omitempty as `null`, `<`, `>` and `&` escaped. One printer is compiled
 * per type and kept; this is the hottest code of the API server.
 *
 * Invariant: what is printed depends on the schema and the value only, so equal objects are equal bytes.
 */
import { NumberLiteral, numberText } from './json-number.ts';
import { type Plain, sortedKeys, wellFormed } from './plain.ts';
import type { FieldSchema, Scalar, TypeRef, TypeSchema } from './schema/schema.ts';

type Printer = (value: unknown) => string;

const NEEDS_ESCAPE = /["\\<>&\u0000-\u001f\u2028\u2029\ud800-\udfff]/;

export function quoteJson(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`;
  return JSON.stringify(wellFormed(text)).replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A value without a schema. Map keys are sorted, or keep their order (`RawExtension` is stored as sent). Undefined members are left out. */
export function rawText(value: unknown, sorted: boolean): string {
  switch (typeof value) {
    case 'string':
      return quoteJson(value);
    case 'number':
      return Number.isFinite(value) ? numberText(value) : 'null';
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'object': {
      if (value === null) return 'null';
      if (Array.isArray(value)) return `[${value.map((item) => rawText(item, sorted)).join(',')}]`;
      if (value instanceof NumberLiteral) return value.text;
      let text = '';
      for (const key of sorted ? sortedKeys(value as Plain) : Object.keys(value)) {
        const member = (value as Plain)[key];
        if (member !== undefined) text += `${text === '' ? '' : ','}${quoteJson(key)}:${rawText(member, sorted)}`;
      }
      return `{${text}}`;
    }
    default:
      return 'null';
  }
}

const printString: Printer = (value) =>
  typeof value === 'string' ? quoteJson(value) : quoteJson(value === undefined || value === null ? '' : String(value));
const printBool: Printer = (value) => (value === true ? 'true' : 'false');
const printNumber: Printer = (value) => (value === undefined || value === null ? '0' : numberText(value as number));
const printNullable: Printer = (value) => (value === undefined || value === null || value === '' ? 'null' : printString(value));
const printRaw: Printer = (value) => (value === undefined ? 'null' : rawText(value, false));

/** Field sets hold no numbers, so that the native printer will do, but for Go's additional escapes; they are half of many objects. */
const printFields: Printer = (value) => {
  if (value === undefined) return 'null';
  const text = JSON.stringify(value);
  return NEEDS_MORE.test(text) ? rawText(value, false) : text;
};
const NEEDS_MORE = /[<>&\u2028\u2029]|\\ud/;

/** How Go prints a scalar; undefined prints the zero value. */
const SCALAR_PRINTERS: Record<Scalar, Printer> = {
  string: printString,
  bool: printBool,
  int32: printNumber,
  int64: printNumber,
  double: printNumber,
  bytes: (value) => (value === undefined || value === null ? 'null' : printString(value)),
  any: (value) => (value === undefined ? 'null' : rawText(value, true)),
  time: printNullable,
  microTime: printNullable,
  duration: (value) => (value === undefined || value === null ? '"0s"' : printString(value)),
  quantity: (value) => (value === undefined || value === null ? '"0"' : printString(value)),
  intOrString: (value) => (typeof value === 'string' ? quoteJson(value) : printNumber(value)),
  rawExtension: printRaw,
  fieldsV1: printFields,
  json: printRaw,
};

/** Go structs, which `omitempty` never leaves out. */
const STRUCT_SCALARS: ReadonlySet<Scalar> = new Set<Scalar>([
  'time',
  'microTime',
  'duration',
  'quantity',
  'intOrString',
  'rawExtension',
  'fieldsV1',
  'json',
]);

function printerOf(type: TypeRef): Printer {
  switch (type.kind) {
    case 'scalar':
      return SCALAR_PRINTERS[type.scalar];
    case 'struct': {
      const { schema } = type;
      return (value) => structText(schema, value);
    }
    case 'list': {
      const item = printerOf(type.of);
      return (value) => {
        if (!Array.isArray(value) || value.length === 0) return 'null';
        let text = '[';
        for (let i = 0; i < value.length; i++) text += i === 0 ? item(value[i]) : `,${item(value[i])}`;
        return `${text}]`;
      };
    }
    case 'map': {
      // An empty list in a map travels in a message of its own, and so it is no nil list.
      const item: Printer = type.of.kind === 'list' ? orEmptyList(printerOf(type.of)) : printerOf(type.of);
      return (value) => {
        if (typeof value !== 'object' || value === null || isEmptyObject(value)) return 'null';
        let text = '';
        for (const key of sortedKeys(value as Plain)) text += `${text === '' ? '' : ','}${quoteJson(key)}:${item((value as Plain)[key])}`;
        return `{${text}}`;
      };
    }
  }
}

const orEmptyList =
  (item: Printer): Printer =>
  (value) =>
    Array.isArray(value) && value.length > 0 ? item(value) : '[]';

function isEmptyObject(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

/** Whether the member is printed, given its value; decided once per field. */
export function isPrinted(field: FieldSchema): (value: unknown) => boolean {
  const set = (value: unknown): boolean => value !== undefined && value !== null;
  if (field.pointer) return field.omitEmpty ? set : () => true;
  if (field.omitZero) return (value) => set(value) && value !== '';
  if (!field.omitEmpty) return () => true;
  const { type } = field;
  if (type.kind === 'struct') return type.schema.custom === undefined ? () => true : set;
  if (type.kind === 'list') return (value) => Array.isArray(value) && value.length > 0;
  if (type.kind === 'map') return (value) => isNonEmptyObject(value);
  if (STRUCT_SCALARS.has(type.scalar)) return () => true;
  if (type.scalar === 'any') return set;
  return (value) => set(value) && value !== '' && value !== 0 && value !== false && value !== 0n;
}

function isNonEmptyObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  for (const _ in value) return true;
  return false;
}

interface CompiledField {
  readonly name: string;
  readonly label: string;
  readonly printed: (value: unknown) => boolean;
  /** Printed though it is not there. */
  readonly always: boolean;
  readonly print: Printer;
}

function compileField(field: FieldSchema): CompiledField {
  const inner = printerOf(field.type);
  const print: Printer =
    field.pointer && !field.omitEmpty ? (value) => (value === undefined || value === null ? 'null' : inner(value)) : inner;
  const printed = isPrinted(field);
  return { name: field.name, label: `${quoteJson(field.name)}:`, printed, always: printed(undefined), print };
}

const compiled = new WeakMap<TypeSchema, readonly CompiledField[]>();
const EMPTY: Plain = Object.freeze({});

export function structText(schema: TypeSchema, value: unknown): string {
  if (schema.custom !== undefined) return customText(schema, value);
  let fields = compiled.get(schema);
  if (fields === undefined) {
    fields = schema.members.map(compileField);
    compiled.set(schema, fields);
  }
  const object = typeof value === 'object' && value !== null ? (value as Plain) : EMPTY;
  let text = '{';
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]!;
    const member = object[field.name];
    if (member === undefined ? field.always : field.printed(member))
      text += text.length === 1 ? field.label + field.print(member) : `,${field.label}${field.print(member)}`;
  }
  return `${text}}`;
}

/** The three either-or types of JSON schemas, and raw bodies. */
function customText(schema: TypeSchema, value: unknown): string {
  if (schema.custom === 'raw') return printRaw(value);
  const [form] = schema.fields.map((field) => field.type).filter((type) => type.kind === 'struct');
  const inner = form as Extract<TypeRef, { kind: 'struct' }>;
  if (schema.custom === 'schemaOrBool')
    return typeof value === 'boolean'
      ? printBool(value)
      : value === undefined || value === null
        ? 'false'
        : structText(inner.schema, value);
  if (Array.isArray(value)) {
    if (value.length === 0) return 'null';
    const item: Printer = schema.custom === 'schemaOrStringArray' ? printString : (v) => structText(inner.schema, v);
    return `[${value.map(item).join(',')}]`;
  }
  return value === undefined || value === null ? 'null' : structText(inner.schema, value);
}
