/** What the fuzz properties draw their inputs from: names, JSON values, texts with a grammar's own characters, objects of any built-in kind. */
import fc from 'fast-check';
import type { FieldSchema, Scalar, TypeRef, TypeSchema } from '../../machinery/api/schema/schema.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';

export const word = fc.stringMatching(/^[a-z]{1,6}$/);
/** A label key or value, a member name. */
export const name = fc.stringMatching(/^[a-z]([a-z0-9.-]{0,8}[a-z0-9])?$/);
/** Names that mean something to JavaScript and nothing to Kubernetes. */
export const oddName = fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'length', '');
export const memberName = fc.oneof({ weight: 6, arbitrary: fc.constantFrom('a', 'b', 'c', 'd') }, oddName, fc.string({ maxLength: 3 }));

/** A value as JSON.parse gives it: no -0, every object with the usual prototype, odd names as own members. */
export const asParsed = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const own = (entries: readonly (readonly [string, unknown])[]): object => Object.fromEntries(entries);

/** JSON values whose member names meet each other often, so that merging has something to do. */
export const jsonValue: fc.Arbitrary<unknown> = fc
  .letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.integer({ min: -9, max: 9 }),
      fc.constantFrom<unknown>(null, true, false, '', 'x', 1.5, [], {}),
      fc.string({ maxLength: 4 }),
      fc.array(tie('node'), { maxLength: 3 }),
      fc.array(fc.tuple(memberName, tie('node')), { maxLength: 4 }).map(own),
    ),
  }))
  .node.map(asParsed);

export const jsonObject = fc
  .array(fc.tuple(memberName, jsonValue), { maxLength: 4 })
  .map((entries) => asParsed(own(entries)) as Record<string, unknown>);

/** Text made of a grammar's own pieces, in any order: most of it is wrong in an interesting place. */
export const textOf = (...pieces: readonly string[]): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...pieces) }, fc.string({ unit: 'grapheme', maxLength: 3 })), { maxLength: 30 })
    .map((parts) => parts.join(''));

/** A text or a run of bytes that was right until something happened to it. */
export function damaged(bytes: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  const damage = fc.record({ at: fc.nat(10_000), remove: fc.nat(4), insert: fc.uint8Array({ maxLength: 4 }), cut: fc.boolean() });
  return fc.tuple(bytes, fc.array(damage, { minLength: 1, maxLength: 3 })).map(([whole, damages]) => {
    let result = whole;
    for (const { at, remove, insert, cut } of damages) {
      const place = result.length === 0 ? 0 : at % result.length;
      result = Buffer.concat([result.subarray(0, place), insert, cut ? Buffer.alloc(0) : result.subarray(place + remove)]);
    }
    return result;
  });
}

const seconds = fc.integer({ min: 0, max: 4_000_000_000 }).map((s) => new Date(s * 1000).toISOString().slice(0, 19));
const SCALARS: Record<Scalar, fc.Arbitrary<unknown>> = {
  string: fc.oneof(word, fc.string({ unit: 'grapheme', maxLength: 6 })),
  bool: fc.boolean(),
  int32: fc.integer(),
  int64: fc.oneof(fc.maxSafeInteger(), fc.constant(9007199254740993n), fc.constant(-9007199254740993n)),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
  bytes: fc.uint8Array({ maxLength: 5 }).map((b) => Buffer.from(b).toString('base64')),
  any: fc.constant(undefined),
  time: seconds.map((text) => `${text}Z`),
  microTime: seconds.map((text) => `${text}.123456Z`),
  duration: fc.constantFrom('0s', '1h30m0s', '-5s', '1.5ms'),
  quantity: fc.constantFrom('0', '1', '500m', '1Gi', '-3', '1e3', '+007'),
  intOrString: fc.oneof(fc.integer(), word),
  rawExtension: fc.constant({ z: 1, a: ['x', null] }),
  fieldsV1: fc.constant({ 'f:spec': {} }),
  json: fc.constantFrom<unknown>({ b: 1 }, [1, 'a'], 'text', true, 7),
};

function arbitraryOf(type: TypeRef, depth: number): fc.Arbitrary<unknown> {
  switch (type.kind) {
    case 'scalar':
      return SCALARS[type.scalar];
    case 'list':
      return fc.array(arbitraryOf(type.of, depth - 1), { maxLength: 2 });
    case 'map':
      return fc
        .array(fc.tuple(fc.oneof(word, fc.constantFrom('__proto__', 'constructor')), arbitraryOf(type.of, depth - 1)), { maxLength: 2 })
        .map((entries) => Object.fromEntries(entries));
    case 'struct':
      return type.schema.custom === undefined ? objectOf(type.schema, depth - 1) : customOf(type.schema, depth - 1);
  }
}

function customOf(schema: TypeSchema, depth: number): fc.Arbitrary<unknown> {
  const inner = objectOf(typeSchema('apiextensions.k8s.io.v1.JSONSchemaProps'), depth);
  if (schema.custom === 'schemaOrBool') return fc.oneof(fc.boolean(), inner);
  if (schema.custom === 'schemaOrStringArray') return fc.oneof(fc.array(word, { minLength: 1, maxLength: 2 }), inner);
  return fc.oneof(fc.array(inner, { minLength: 1, maxLength: 2 }), inner);
}

const fits = (field: FieldSchema, depth: number): boolean => (depth > 0 || field.type.kind === 'scalar') && field.protobuf > 0;

/** Objects of a type with at most a few members set, picked from all that the type has. */
export function objectOf(schema: TypeSchema, depth: number): fc.Arbitrary<Record<string, unknown>> {
  // Inside of an object, kind and apiVersion do not travel.
  const fields = schema.members.filter((field) => fits(field, depth) && schema.inlinedThrough(field.name)[0] !== 'TypeMeta');
  if (fields.length === 0) return fc.constant({});
  return fc
    .uniqueArray(fc.constantFrom(...fields), { maxLength: 4, selector: (field) => field.name })
    .chain((chosen) =>
      fc
        .tuple(...chosen.map((field) => arbitraryOf(field.type, depth)))
        .map((values) => Object.fromEntries(chosen.map((field, i) => [field.name, values[i]]))),
    );
}

const item = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const value = fc.stringMatching(/^[a-z]{1,3}$/);
const byName = <T extends { name: string }>(of: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.uniqueArray(of, { maxLength: 4, selector: (i) => i.name });
const env = fc.record({ name: item, value });
const container = fc.record(
  { name: item, image: value, args: fc.array(value, { maxLength: 2 }), env: byName(env) },
  { requiredKeys: ['name'] },
);

/** Deployments that differ where merging is hard: lists by key, sets, atomic lists, maps. */
export const deployment = fc
  .record(
    {
      metadata: fc.record(
        { labels: fc.dictionary(value, value, { maxKeys: 3 }), finalizers: fc.uniqueArray(value, { maxLength: 3 }) },
        { requiredKeys: [] },
      ),
      spec: fc.record(
        {
          replicas: fc.integer({ min: 0, max: 9 }),
          paused: fc.boolean(),
          template: fc.record({ spec: fc.record({ containers: byName(container) }) }),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  )
  .map(asParsed);

/** Empty lists and maps, and `paused: false`, are owned without being there: upstream prints objects without them. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const isEmpty = (v: unknown): boolean => v === false || (typeof v === 'object' && v !== null && Object.keys(v).length === 0);
  const entries = Object.entries(value).map(([k, v]) => [k, withoutEmpty(v)] as const);
  return Object.fromEntries(entries.filter(([, v]) => !isEmpty(v)));
}

export const filledDeployment = deployment.map((d) => withoutEmpty(d) as Record<string, unknown>);
