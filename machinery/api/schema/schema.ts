/**
 * What the API's types look like, as data: fields with their JSON names, Go's printing flags, merge keys and protobuf numbers.
 * One table serves decoding, encoding, protobuf, pruning, patches, ownership, OpenAPI and `explain`; a custom resource builds the
 * same table at run time (`structSchema`). Mirrors what upstream spreads over Go struct tags and `generated.openapi`.
 *
 * Invariant: a schema is immutable once read, and equal names give the identical object, so that encoders may be cached by it.
 */
import type { GroupVersionKind } from '../object.ts';
import { type CompactType, type FieldRow, hasGroupFile, loadGroup, SCALAR_NAMES } from './data.ts';

export type Scalar =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'double'
  | 'bytes'
  | 'any'
  | 'time'
  | 'microTime'
  | 'duration'
  | 'quantity'
  | 'intOrString'
  | 'rawExtension'
  | 'fieldsV1'
  | 'json';

/** `alias` is the full name of the Go type that a reference was made through (`core.v1.Protocol`), where there is one. */
export type TypeRef =
  | { readonly kind: 'scalar'; readonly scalar: Scalar; readonly alias?: string; readonly enum?: readonly string[] }
  | { readonly kind: 'struct'; readonly schema: TypeSchema }
  | { readonly kind: 'list'; readonly of: TypeRef; readonly alias?: string; readonly wrapped?: boolean }
  | { readonly kind: 'map'; readonly of: TypeRef; readonly alias?: string };

export interface FieldSchema {
  /** The JSON name; '' for an inlined struct. */
  readonly name: string;
  readonly type: TypeRef;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  /** Go holds a pointer: a set zero is printed. */
  readonly pointer: boolean;
  readonly required: boolean;
  readonly inline: boolean;
  /** The protobuf field number; 0 when the field does not travel in protobuf. */
  readonly protobuf: number;
  readonly default?: unknown;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  readonly mapType?: 'granular' | 'atomic';
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
}

/** The types with JSON code of their own: one of two forms. The forms' schemas are in `forms`. */
export type CustomForm = 'schemaOrArray' | 'schemaOrBool' | 'schemaOrStringArray' | 'raw';

export interface TypeSchema {
  /** `apps.v1.Deployment`. */
  readonly name: string;
  /** How Go prints the type in an error: `v1.Deployment`. */
  readonly goName: string;
  /** The name in OpenAPI documents. */
  readonly openapi: string;
  /** False for types that no client sees in the server's OpenAPI document. */
  readonly served: boolean;
  readonly gvks: readonly string[];
  readonly custom: CustomForm | undefined;
  /** Directly declared fields, inlined structs among them, in Go's order. */
  readonly fields: readonly FieldSchema[];
  /** All JSON members, those of inlined structs in their place, in printing order. */
  readonly members: readonly FieldSchema[];
  readonly mapType: 'granular' | 'atomic' | undefined;
  readonly unions: unknown;
  /** A JSON member by name, found through inlined structs. */
  member(name: string): FieldSchema | undefined;
  /** The Go names of the inlined structs a member is reached through: `['ProbeHandler']` for `tcpSocket` of a Probe. */
  inlinedThrough(name: string): readonly string[];
}

const CUSTOM: Record<string, CustomForm> = {
  'apiextensions.k8s.io.v1.JSONSchemaPropsOrArray': 'schemaOrArray',
  'apiextensions.k8s.io.v1.JSONSchemaPropsOrBool': 'schemaOrBool',
  'apiextensions.k8s.io.v1.JSONSchemaPropsOrStringArray': 'schemaOrStringArray',
  'runtime.Unknown': 'raw',
};

class Struct implements TypeSchema {
  readonly name: string;
  readonly #compact: CompactType;
  #fields: readonly FieldSchema[] | undefined;
  #members: readonly FieldSchema[] | undefined;
  #byName: Map<string, FieldSchema> | undefined;
  readonly #through = new Map<string, readonly string[]>();

  constructor(name: string, compact: CompactType) {
    this.name = name;
    this.#compact = compact;
  }
  get goName(): string {
    const [stem, type] = splitName(this.name);
    return `${stem.slice(stem.lastIndexOf('.') + 1)}.${type}`;
  }
  get openapi(): string {
    return this.#compact.openapi ?? this.name;
  }
  get served(): boolean {
    return this.#compact.hidden !== true;
  }
  get gvks(): readonly string[] {
    return this.#compact.gvk ?? [];
  }
  get custom(): CustomForm | undefined {
    return CUSTOM[this.name];
  }
  get mapType(): 'granular' | 'atomic' | undefined {
    return this.#compact.mapType;
  }
  get unions(): unknown {
    return this.#compact.unions;
  }
  get fields(): readonly FieldSchema[] {
    this.#fields ??= (this.#compact.fields ?? []).map(fieldSchema);
    return this.#fields;
  }
  get members(): readonly FieldSchema[] {
    this.#index();
    return this.#members!;
  }
  member(name: string): FieldSchema | undefined {
    if (this.#byName === undefined) this.#index();
    return this.#byName!.get(name);
  }
  inlinedThrough(name: string): readonly string[] {
    this.#index();
    return this.#through.get(name) ?? [];
  }
  #index(): void {
    if (this.#byName !== undefined) return;
    const members: FieldSchema[] = [];
    for (const field of this.fields) {
      if (!field.inline) {
        if (field.name !== '-' && field.name !== '') members.push(field);
        continue;
      }
      if (field.type.kind !== 'struct') continue;
      const [, inlined] = splitName(field.type.schema.name);
      for (const member of field.type.schema.members) {
        members.push(member);
        this.#through.set(member.name, [inlined, ...field.type.schema.inlinedThrough(member.name)]);
      }
    }
    this.#members = members;
    this.#byName = new Map(members.map((member) => [member.name, member]));
  }
}

function splitName(fullName: string): [stem: string, type: string] {
  const dot = fullName.lastIndexOf('.');
  return [fullName.slice(0, dot), fullName.slice(dot + 1)];
}

function fieldSchema(row: FieldRow): FieldSchema {
  const [name, expression, flags, protobuf, extras] = row;
  let type: TypeRef | undefined;
  return {
    name,
    get type(): TypeRef {
      type ??= typeRef(expression);
      return type;
    },
    omitEmpty: flags.includes('o'),
    omitZero: flags.includes('z'),
    pointer: flags.includes('p'),
    required: flags.includes('r'),
    inline: flags.includes('i'),
    protobuf,
    ...extras,
  };
}

/** A type expression of the data files: `string`, `[]core.v1.Container`, `map[string]quantity`, `core.v1.ResourceList`. */
function typeRef(expression: string, alias?: string): TypeRef {
  if (expression.startsWith('[]')) return { kind: 'list', of: typeRef(expression.slice(2)), ...(alias && { alias }) };
  if (expression.startsWith('map[')) {
    return { kind: 'map', of: typeRef(expression.slice(expression.indexOf(']') + 1)), ...(alias && { alias }) };
  }
  if (SCALAR_NAMES.has(expression)) return { kind: 'scalar', scalar: expression as Scalar, ...(alias && { alias }) };
  const compact = compactOf(expression);
  if (compact === undefined) throw new Error(`schema data names the unknown type ${expression}`);
  if (compact.alias === undefined) return { kind: 'struct', schema: typeSchema(expression) };
  const target = typeRef(compact.alias, expression);
  if (target.kind === 'scalar' && compact.enum) return { ...target, enum: compact.enum };
  if (target.kind === 'list' && compact.pbWrapper) return { ...target, wrapped: true };
  return target;
}

function compactOf(fullName: string): CompactType | undefined {
  const [stem, type] = splitName(fullName);
  if (!hasGroupFile(stem)) return undefined;
  const { types } = loadGroup(stem);
  return Object.hasOwn(types, type) ? types[type] : undefined;
}

const schemas = new Map<string, TypeSchema>();

/** The schema of a built-in struct by its full name: `apps.v1.Deployment`, `meta.v1.ObjectMeta`. */
export function typeSchema(fullName: string): TypeSchema {
  const known = schemas.get(fullName);
  if (known !== undefined) return known;
  const compact = compactOf(fullName);
  if (compact === undefined || compact.alias !== undefined) throw new Error(`schema data has no struct ${fullName}`);
  const schema = new Struct(fullName, compact);
  schemas.set(fullName, schema);
  return schema;
}

/** The schema that a kind decodes with; undefined when no built-in type is registered for it. */
export function kindSchema(gvk: GroupVersionKind): TypeSchema | undefined {
  const apiVersion = gvk.group === '' ? gvk.version : `${gvk.group}/${gvk.version}`;
  const stem = gvk.group === 'meta.k8s.io' ? `meta.${gvk.version}` : `${gvk.group === '' ? 'core' : gvk.group}.${gvk.version}`;
  for (const candidate of [stem, 'meta.v1', 'autoscaling.v1', 'policy.v1', 'authentication.k8s.io.v1']) {
    const compact = compactOf(`${candidate}.${gvk.kind}`);
    if (compact === undefined || compact.alias !== undefined) continue;
    if (gvk.group === 'meta.k8s.io' ? candidate === stem : compact.gvk?.includes(`${apiVersion}/${gvk.kind}`))
      return typeSchema(`${candidate}.${gvk.kind}`);
  }
  return undefined;
}

/** A schema built at run time, in the same form as the data files' (custom resources, tests). */
export function structSchema(name: string, compact: CompactType): TypeSchema {
  return new Struct(name, compact);
}
