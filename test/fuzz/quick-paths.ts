/** The short cuts of the API's hot path: each does what the long way does. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodeCarefully } from '../../machinery/api/decode.ts';
import { encodeObject, parseJson, parseOwn } from '../../machinery/api/json.ts';
import { type Plain, setOwn } from '../../machinery/api/plain.ts';
import { printedForm } from '../../machinery/api/printed-form.ts';
import { readPlainly } from '../../machinery/api/reader.ts';
import { builtinResources } from '../../machinery/api/schema/resources.ts';
import { type TypeRef, type TypeSchema, typeSchema } from '../../machinery/api/schema/schema.ts';
import { jsonValue, objectOf } from './arbitraries.ts';
import { type FuzzProperty, property } from './property.ts';

interface Sample {
  readonly schema: TypeSchema;
  readonly object: Plain;
}

const DEPTH = 6;
const typed: fc.Arbitrary<Sample> = fc
  .constantFrom(...builtinResources().map((resource) => resource.type))
  .chain((name) => objectOf(typeSchema(name), DEPTH).map((object) => ({ schema: typeSchema(name), object: object as Plain })));

/** Objects of a kind with something in them that may not belong there. */
const bodies: fc.Arbitrary<Sample> = fc
  .tuple(typed, fc.array(fc.tuple(fc.nat(), fc.constantFrom('nope', 'name', 'spec', 'items', '__proto__'), jsonValue), { maxLength: 2 }))
  .map(([{ schema, object }, changes]) => {
    const whole = parseJson(encodeObject(schema, object)).value as Plain;
    for (const [at, name, value] of changes) {
      const places = objectsIn(whole);
      setOwn(places[at % places.length]!, name, value);
    }
    return { schema, object: whole };
  });

function objectsIn(value: unknown): Plain[] {
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value) ? value.flatMap(objectsIn) : [value as Plain, ...Object.values(value).flatMap(objectsIn)];
}

/** Without the `null` that is printed for a pointer which nobody set. */
function withoutUnset(schema: TypeSchema, object: Plain): Plain {
  const inside = (type: TypeRef, value: unknown): unknown => {
    if (value === null || typeof value !== 'object') return value;
    if (type.kind === 'struct') return type.schema.custom === undefined ? withoutUnset(type.schema, value as Plain) : value;
    if (type.kind === 'list') return (value as unknown[]).map((item) => inside(type.of, item));
    if (type.kind !== 'map') return value;
    const result: Plain = {};
    for (const [key, item] of Object.entries(value)) setOwn(result, key, inside(type.of, item));
    return result;
  };
  const result: Plain = {};
  for (const [key, value] of Object.entries(object)) {
    const field = schema.member(key)!;
    if (value !== null || !field.pointer || field.omitEmpty) setOwn(result, key, inside(field.type, value));
  }
  return result;
}

export const quickPathProperties: readonly FuzzProperty[] = [
  property('a body that is read quickly is read as the careful decoder reads it', bodies, ({ schema, object }) => {
    for (const strict of [true, false]) {
      const quick = readPlainly(schema, object, strict);
      if (quick === undefined) continue;
      const careful = decodeCarefully(schema, object, { strict });
      assert.deepEqual(quick, careful.object);
      assert.deepEqual(careful.unknownFields, []);
    }
  }),
  property('the printed form of an object is what reading its text gives', typed, ({ schema, object }) => {
    const expected = parseJson(encodeObject(schema, object)).value;
    assert.deepEqual(parseOwn(encodeObject(schema, object)), expected);
    const form = printedForm(schema, object);
    assert.deepEqual(form, withoutUnset(schema, expected as Plain));
    assert.ok(encodeObject(schema, form).equals(encodeObject(schema, object)));
  }),
];
