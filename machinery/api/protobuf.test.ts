/** Protobuf bodies: bytes as Go writes them, and the round trip of any object of any built-in kind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeObject } from './decode.ts';
import { encodeObject } from './json.ts';
import { decodeProtobuf, decodeProtobufEvent, encodeProtobuf, encodeProtobufEvent } from './protobuf.ts';
import { builtinResources } from './schema/resources.ts';
import type { FieldSchema, Scalar, TypeRef, TypeSchema } from './schema/schema.ts';
import { typeSchema } from './schema/schema.ts';

const seed = Number(process.hrtime.bigint() % 1_000_000n);

test('a config map is written byte for byte as Go writes it', () => {
  const expected =
    '6b3873000a0f0a0276311209436f6e6669674d6170122f0a190a016112001a0022002a0032003800420' +
    '05a060a016c12016d12080a016b120376c3a91a080a0162120300ff071a002200';
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', labels: { l: 'm' } },
    data: { k: 'vé' },
    binaryData: { b: 'AP8H' },
  };
  assert.equal(encodeProtobuf(typeSchema('core.v1.ConfigMap'), object).toString('hex'), expected);
  const { apiVersion, kind, object: decoded } = decodeProtobuf(Buffer.from(expected, 'hex'));
  assert.deepEqual({ apiVersion, kind, ...decoded }, object);
});

test('bodies that are none are refused in upstream words', () => {
  const cases: [string, string][] = [
    ['', 'empty data'],
    ['6b387300', 'empty body'],
    ['7b7d', 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]'],
    ['6b3873000a0f0a0276311209436f6e6669674d6170121d0a110a01611200', 'unexpected EOF'],
    ['6b387300ffffff', 'unexpected EOF'],
  ];
  for (const [hex, message] of cases) assert.throws(() => decodeProtobuf(Buffer.from(hex, 'hex')), { message });
});

test('an envelope without a kind takes the expected one', () => {
  const bytes = Buffer.from('6b3873000a040a001200121b0a110a016212001a0022002a0032003800420012060a016b1201761a002200', 'hex');
  assert.deepEqual(decodeProtobuf(bytes, { apiVersion: 'v1', kind: 'ConfigMap' }), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    object: { metadata: { name: 'b' }, data: { k: 'v' } },
  });
  assert.throws(() => decodeProtobuf(bytes), /no kind ""/);
});

test('a watch event is a length, then a bare WatchEvent around a whole body', () => {
  const body = encodeProtobuf(typeSchema('core.v1.ConfigMap'), { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
  const frame = encodeProtobufEvent('ADDED', body);
  assert.equal(frame.readUInt32BE(0), frame.length - 4);
  const { type, object } = decodeProtobufEvent(frame.subarray(4));
  assert.deepEqual([type, object.kind, object.object], ['ADDED', 'ConfigMap', { metadata: { name: 'a' } }]);
});

const word = fc.stringMatching(/^[a-z]{1,6}$/);
const SCALARS: Record<Scalar, fc.Arbitrary<unknown>> = {
  string: fc.oneof(word, fc.string({ unit: 'grapheme', maxLength: 6 })),
  bool: fc.boolean(),
  int32: fc.integer(),
  int64: fc.oneof(fc.maxSafeInteger(), fc.constant(9007199254740993n), fc.constant(-9007199254740993n)),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
  bytes: fc.uint8Array({ maxLength: 5 }).map((b) => Buffer.from(b).toString('base64')),
  any: fc.constant(undefined),
  time: fc.integer({ min: 0, max: 4_000_000_000 }).map((s) => `${new Date(s * 1000).toISOString().slice(0, 19)}Z`),
  microTime: fc.integer({ min: 0, max: 4_000_000_000 }).map((s) => `${new Date(s * 1000).toISOString().slice(0, 19)}.123456Z`),
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

/** Objects with at most a few members set, picked from all that the type has. */
function objectOf(schema: TypeSchema, depth: number): fc.Arbitrary<Record<string, unknown>> {
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

test(`any object of any built-in kind survives protobuf (seed ${seed})`, () => {
  const canonical = (schema: TypeSchema, value: unknown): string =>
    encodeObject(schema, decodeObject(schema, value, { strict: false }).object).toString();
  for (const { type, group, version, kind } of builtinResources()) {
    const schema = typeSchema(type);
    const apiVersion = group === '' ? version : `${group}/${version}`;
    fc.assert(
      fc.property(objectOf(schema, 6), (object) => {
        const value = { ...object, apiVersion, kind };
        const decoded = decodeProtobuf(encodeProtobuf(schema, decodeObject(schema, value, { strict: false }).object));
        assert.equal(canonical(schema, { ...decoded.object, apiVersion, kind }), canonical(schema, value));
      }),
      { seed, numRuns: 12 },
    );
  }
});
