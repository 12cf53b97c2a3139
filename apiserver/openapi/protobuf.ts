/**
 * An OpenAPI v2 document in its protobuf form, which kubectl asks for where version 3 does not help (a `List` in a file, `explain` of old).
 * Mirrors kube-openapi `handler` with gnostic's `OpenAPIv2.proto`.
 *
 * The message shapes are a table: each member of the JSON form, its field number and what it holds. Members that the table lacks and that start
 * with `x-` are vendor extensions; values without a shape travel as text.
 */
import type { Json } from './schemas.ts';

/** What a field holds: a scalar, free text, a message, one of those wrapped in a chain of one-field messages, a list, or a map of them. */
type Holds =
  | 'string'
  | 'bool'
  | 'int'
  | 'double'
  | 'any'
  | { readonly message: string; readonly within?: readonly number[] }
  | { readonly list: Holds }
  | { readonly map: Holds; readonly field: number };

interface Message {
  readonly members: Readonly<Record<string, readonly [number, Holds]>>;
  /** Field of the vendor extensions. */
  readonly extensions?: number;
}

const message = (name: string, ...within: number[]): Holds => ({ message: name, within });
const listOf = (list: Holds): Holds => ({ list });
const mapOf = (map: Holds, field = 1): Holds => ({ map, field });
const SCHEMA = message('Schema');
const STRINGS = listOf('string');
/** ParametersItem, Parameter. */
const PARAMETERS = listOf(message('Parameter', 1));

const operation = (field: number): readonly [number, Holds] => [field, message('Operation')];

/** `path` and `query` parameters differ by one field, and so in the numbers behind it. */
const parameter = (shift: number): Message => ({
  members: {
    required: [1, 'bool'],
    in: [2, 'string'],
    description: [3, 'string'],
    name: [4, 'string'],
    type: [5 + shift, 'string'],
    format: [6 + shift, 'string'],
    uniqueItems: [19 + shift, 'bool'],
  },
  extensions: 22 + shift,
});

const MESSAGES: Readonly<Record<string, Message>> = {
  Document: {
    members: {
      swagger: [1, 'string'],
      info: [2, message('Info')],
      paths: [8, mapOf(message('PathItem'), 2)],
      definitions: [9, mapOf(SCHEMA)],
    },
    extensions: 16,
  },
  Info: { members: { title: [1, 'string'], version: [2, 'string'], description: [3, 'string'] }, extensions: 7 },
  PathItem: {
    members: {
      get: operation(2),
      put: operation(3),
      post: operation(4),
      delete: operation(5),
      patch: operation(8),
      parameters: [9, PARAMETERS],
    },
    extensions: 10,
  },
  Operation: {
    members: {
      tags: [1, STRINGS],
      description: [3, 'string'],
      operationId: [5, 'string'],
      produces: [6, STRINGS],
      consumes: [7, STRINGS],
      parameters: [8, PARAMETERS],
      responses: [9, mapOf(message('Response', 1))],
      schemes: [10, STRINGS],
    },
    extensions: 13,
  },
  BodyParameter: {
    members: { description: [1, 'string'], name: [2, 'string'], in: [3, 'string'], required: [4, 'bool'], schema: [5, SCHEMA] },
    extensions: 6,
  },
  QueryParameter: parameter(1),
  PathParameter: parameter(0),
  Response: { members: { description: [1, 'string'], schema: [2, message('Schema', 1)] }, extensions: 5 },
  Schema: {
    members: {
      $ref: [1, 'string'],
      format: [2, 'string'],
      title: [3, 'string'],
      description: [4, 'string'],
      default: [5, 'any'],
      maximum: [7, 'double'],
      minimum: [9, 'double'],
      maxLength: [11, 'int'],
      minLength: [12, 'int'],
      pattern: [13, 'string'],
      maxItems: [14, 'int'],
      minItems: [15, 'int'],
      uniqueItems: [16, 'bool'],
      required: [19, STRINGS],
      enum: [20, listOf('any')],
      additionalProperties: [21, message('Schema', 1)],
      type: [22, message('Type')],
      items: [23, message('Schema', 1)],
      allOf: [24, listOf(SCHEMA)],
      properties: [25, mapOf(SCHEMA)],
      example: [30, 'any'],
    },
    extensions: 31,
  },
};

/** Parameter's own alternatives: a body, or NonBodyParameter with its query and path forms. */
const PARAMETER_FORMS: Readonly<Record<string, readonly [string, ...number[]]>> = {
  body: ['BodyParameter', 1],
  query: ['QueryParameter', 2, 3],
  path: ['PathParameter', 2, 4],
};

/** Encodes a document of OpenAPI v2. */
export const encodeOpenApiV2 = (document: Json): Buffer => encodeMessage('Document', document);

function encodeMessage(name: string, value: unknown): Buffer {
  if (name === 'Type')
    return Buffer.concat((Array.isArray(value) ? value : [value]).map((type: unknown) => encodeField(1, 'string', type)));
  const from = value as Json;
  if (name === 'Parameter') {
    const [form, ...within] = PARAMETER_FORMS[String(from['in'])]!;
    return wrapped(within, encodeMessage(form, from));
  }
  const { members, extensions } = MESSAGES[name]!;
  const parts: Buffer[] = [];
  for (const [key, held] of Object.entries(from)) {
    const member = Object.hasOwn(members, key) ? members[key] : undefined;
    if (member) parts.push(encodeField(...member, held));
    else if (extensions !== undefined && key.startsWith('x-')) parts.push(encodeNamed(extensions, key, encodeAny(held)));
  }
  return Buffer.concat(parts);
}

function encodeField(field: number, holds: Holds, value: unknown): Buffer {
  if (value === undefined) return Buffer.alloc(0);
  if (holds === 'string') return delimited(field, Buffer.from(String(value)));
  if (holds === 'bool') return Buffer.concat([varint(field << 3), varint(value ? 1 : 0)]);
  if (holds === 'int') return Buffer.concat([varint(field << 3), varint(Number(value))]);
  if (holds === 'double') {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(Number(value));
    return Buffer.concat([varint((field << 3) | 1), bytes]);
  }
  if (holds === 'any') return delimited(field, encodeAny(value));
  if ('list' in holds) return Buffer.concat((value as readonly unknown[]).map((item) => encodeField(field, holds.list, item)));
  if ('message' in holds) return delimited(field, wrapped(holds.within ?? [], encodeMessage(holds.message, value)));
  const entries = Object.entries(value as Json).map(([name, held]) => {
    const { message: of, within = [] } = holds.map as { message: string; within?: readonly number[] };
    return encodeNamed(holds.field, name, wrapped(within, encodeMessage(of, held)));
  });
  return delimited(field, Buffer.concat(entries));
}

/** An entry of a map: its name and its message. */
const encodeNamed = (field: number, name: string, value: Buffer): Buffer =>
  delimited(field, Buffer.concat([delimited(1, Buffer.from(name)), delimited(2, value)]));

/** Any: text in YAML, of which JSON is a part. */
const encodeAny = (value: unknown): Buffer => delimited(2, Buffer.from(JSON.stringify(value)));

const wrapped = (within: readonly number[], bytes: Buffer): Buffer => within.reduceRight((inner, field) => delimited(field, inner), bytes);

const delimited = (field: number, bytes: Buffer): Buffer => Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}
