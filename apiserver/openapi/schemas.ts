/**
 * The component schemas of OpenAPI documents, made from the type table. Mirrors kubernetes `pkg/generated/openapi` as served: names, types,
 * required fields, defaults, and the x-kubernetes extensions that clients merge and explain by. Descriptions are ours (`descriptions.ts`).
 */
import type { FieldSchema, Scalar, TypeRef, TypeSchema } from '../../machinery/api/schema/schema.ts';

import { fieldDescription, typeDescription } from './descriptions.ts';

export type Json = Record<string, unknown>;
export type Dialect = 'v2' | 'v3';

const RESOURCE = 'io.k8s.apimachinery.pkg.api.resource.';
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.';

/** Scalars that are schemas of their own. */
const NAMED: Partial<Record<Scalar, { readonly name: string; readonly v2: Json; readonly v3?: Json }>> = {
  time: { name: `${META}Time`, v2: { type: 'string', format: 'date-time' } },
  microTime: { name: `${META}MicroTime`, v2: { type: 'string', format: 'date-time' } },
  duration: { name: `${META}Duration`, v2: { type: 'string' } },
  quantity: { name: `${RESOURCE}Quantity`, v2: { type: 'string' }, v3: { oneOf: [{ type: 'string' }, { type: 'number' }] } },
  intOrString: {
    name: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    v2: { type: 'string', format: 'int-or-string' },
    v3: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  },
  rawExtension: { name: 'io.k8s.apimachinery.pkg.runtime.RawExtension', v2: { type: 'object' } },
  fieldsV1: { name: `${META}FieldsV1`, v2: { type: 'object' } },
  json: { name: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON', v2: {} },
};

const INLINE: Partial<Record<Scalar, Json>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
  any: { type: 'object' },
};

/** What an element of a list or map is when it is not given. */
const ELEMENT_DEFAULT: Partial<Record<Scalar, unknown>> = { string: '', bool: false, int32: 0, int64: 0, double: 0 };

/** Collects schemas by name while references to them are made. */
export class SchemaCollector {
  readonly #dialect: Dialect;
  readonly #schemas = new Map<string, Json>();
  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** A reference to a type; the type, and all it refers to, join the document. */
  reference(schema: TypeSchema): Json {
    this.#add(schema);
    return this.#pointer(schema.openapi);
  }

  /** The schema of any patch. */
  patch(): Json {
    const name = `${META}Patch`;
    this.#schemas.set(name, {
      type: 'object',
      description: 'Patch is provided to give a concrete name and type to the Kubernetes PATCH request body.',
    });
    return this.#pointer(name);
  }

  /** Adds groups, versions and kinds to the schema of a kind. */
  addKinds(schema: TypeSchema, kinds: readonly Json[]): void {
    this.#add(schema);
    const found = this.#schemas.get(schema.openapi)!;
    const known = (found['x-kubernetes-group-version-kind'] as Json[] | undefined) ?? [];
    const key = (k: Json): string => `${k['group']}/${k['version']}/${k['kind']}`;
    const added = kinds.filter((k) => !known.some((o) => key(o) === key(k)));
    if (known.length + added.length > 0) found['x-kubernetes-group-version-kind'] = [...known, ...added];
  }

  /** Sorted by name. */
  all(): Json {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #pointer(name: string): Json {
    return { $ref: `${this.#dialect === 'v3' ? '#/components/schemas/' : '#/definitions/'}${name}` };
  }

  #add(schema: TypeSchema): void {
    if (this.#schemas.has(schema.openapi)) return;
    const result: Json = {};
    this.#schemas.set(schema.openapi, result);
    if (schema.custom !== undefined) return;
    const description = typeDescription(schema.name);
    if (description !== undefined) result['description'] = description;
    const properties: Json = {};
    for (const field of schema.members) properties[field.name] = this.#property(schema, field);
    const required = schema.members.filter((f) => f.required).map((f) => f.name);
    if (required.length > 0) result['required'] = required.sort();
    result['type'] = 'object';
    if (Object.keys(properties).length > 0) {
      result['properties'] = Object.fromEntries(Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1)));
    }
    if (schema.mapType === 'atomic') result['x-kubernetes-map-type'] = 'atomic';
    if (schema.unions !== undefined) result['x-kubernetes-unions'] = schema.unions;
  }

  #property(schema: TypeSchema, field: FieldSchema): Json {
    const description = fieldDescription(schema.name, field.name, schema.gvks.length > 0);
    const type = this.#type(field.type, false);
    const extra: Json = {
      ...(field.default !== undefined && { default: field.default }),
      ...(description !== undefined && { description }),
      ...(field.listMapKeys && { 'x-kubernetes-list-map-keys': field.listMapKeys }),
      ...(field.listType && { 'x-kubernetes-list-type': field.listType }),
      ...(field.mapType === 'atomic' && { 'x-kubernetes-map-type': field.mapType }),
      ...(field.patchMergeKey && { 'x-kubernetes-patch-merge-key': field.patchMergeKey }),
      ...(field.patchStrategy && { 'x-kubernetes-patch-strategy': field.patchStrategy }),
    };
    return this.#with(type, extra);
  }

  /** v3 allows nothing beside $ref, v2 ignores it there. */
  #with(type: Json, extra: Json): Json {
    if (Object.keys(extra).length === 0 || type['$ref'] === undefined) return { ...type, ...extra };
    return this.#dialect === 'v3' ? { allOf: [type], ...extra } : { ...type, ...extra };
  }

  #type(type: TypeRef, element: boolean): Json {
    if (type.kind === 'struct') return this.#with(this.reference(type.schema), element ? { default: {} } : {});
    if (type.kind === 'list') return { type: 'array', items: this.#type(type.of, true) };
    if (type.kind === 'map') return { type: 'object', additionalProperties: this.#type(type.of, true) };
    const named = NAMED[type.scalar];
    if (named !== undefined) {
      const schema = this.#dialect === 'v3' ? (named.v3 ?? named.v2) : named.v2;
      if (!this.#schemas.has(named.name)) this.#schemas.set(named.name, schema);
      return this.#pointer(named.name);
    }
    const byDefault = element && Object.hasOwn(ELEMENT_DEFAULT, type.scalar) ? { default: ELEMENT_DEFAULT[type.scalar] } : {};
    return { ...INLINE[type.scalar], ...(type.enum && !element && { enum: type.enum }), ...byDefault };
  }
}
