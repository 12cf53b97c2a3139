/** What holds for objects of every built-in kind: they survive JSON and YAML, and no patch of them ends in anything but an object or a Status. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyPatch, decodePatched } from '../../apiserver/handlers/patch.ts';
import { JSON_PATCH, MERGE_PATCH, parsePatch, STRATEGIC_PATCH } from '../../apiserver/handlers/patch-body.ts';
import type { RequestContext } from '../../apiserver/http/context.ts';
import type { FieldValidation } from '../../apiserver/http/write-options.ts';
import { decodeObject } from '../../machinery/api/decode.ts';
import { encodeObject, parseJson } from '../../machinery/api/json.ts';
import { type Plain, setOwn } from '../../machinery/api/plain.ts';
import { builtinResources, type ResourceInfo } from '../../machinery/api/schema/resources.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { StatusError } from '../../machinery/api/status.ts';
import { formatYaml, parseYaml } from '../../machinery/api/yaml.ts';
import { damaged, jsonValue, objectOf } from './arbitraries.ts';
import { accepted, type FuzzProperty, property } from './property.ts';

interface Sample {
  readonly info: ResourceInfo;
  readonly object: Plain;
}

const DEPTH = 5;
const objectOfKind = (info: ResourceInfo): fc.Arbitrary<Plain> => objectOf(typeSchema(info.type), DEPTH);
const apiVersionOf = ({ group, version }: ResourceInfo): string => (group === '' ? version : `${group}/${version}`);
const kinds = fc.constantFrom(...builtinResources());
const sample: fc.Arbitrary<Sample> = kinds.chain((info) => objectOfKind(info).map((object) => ({ info, object })));

/** As it is stored. */
function text({ info, object }: Sample): string {
  const schema = typeSchema(info.type);
  return encodeObject(
    schema,
    decodeObject(schema, { ...object, kind: info.kind, apiVersion: apiVersionOf(info) }, { strict: false }).object,
  ).toString();
}

const DIRECTIVES = ['$patch', '$retainKeys', '$setElementOrder/items', '$deleteFromPrimitiveList/finalizers', 'nope', '__proto__'];
const directive = fc.tuple(
  fc.nat(),
  fc.constantFrom(...DIRECTIVES),
  fc.oneof(jsonValue, fc.constantFrom<unknown>('delete', 'replace', 'merge', ['a'], null)),
);

/** A patch of the kind with something odd in it, or what is left of one after an accident. */
const mapPatch = (info: ResourceInfo): fc.Arbitrary<Buffer> => {
  const whole = fc.tuple(objectOfKind(info), fc.array(directive, { maxLength: 2 })).map(([object, directives]) => {
    const patch = parseJson(encodeObject(typeSchema(info.type), object)).value as Plain;
    for (const [at, name, value] of directives) {
      const places = objectsIn(patch);
      setOwn(places[at % places.length]!, name, value);
    }
    return Buffer.from(JSON.stringify(patch, (_, v) => (typeof v === 'bigint' ? Number(v) : v)));
  });
  return fc.oneof({ weight: 4, arbitrary: whole }, damaged(whole));
};

function objectsIn(value: unknown): Plain[] {
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value) ? value.flatMap(objectsIn) : [value as Plain, ...Object.values(value).flatMap(objectsIn)];
}

const pointer = fc
  .array(fc.constantFrom('/metadata', '/spec', '/status', '/0', '/-', '/labels', '/containers', '/kind', '/template', '/x', ''), {
    maxLength: 4,
  })
  .map((parts) => parts.join(''));
const operations = fc
  .array(
    fc.record(
      {
        op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
        path: pointer,
        from: pointer,
        value: jsonValue,
        odd: fc.constant(1),
      },
      { requiredKeys: ['op', 'path'] },
    ),
    { maxLength: 3 },
  )
  .map((list) => Buffer.from(JSON.stringify(list)));

const patched = kinds.chain((info) =>
  fc.record({
    info: fc.constant(info),
    object: objectOfKind(info),
    body: fc.oneof(
      mapPatch(info).map((bytes) => ({ type: STRATEGIC_PATCH, bytes })),
      mapPatch(info).map((bytes) => ({ type: MERGE_PATCH, bytes })),
      fc.oneof(operations, damaged(operations)).map((bytes) => ({ type: JSON_PATCH, bytes })),
    ),
    fieldValidation: fc.constantFrom<FieldValidation>('Strict', 'Warn', 'Ignore'),
  }),
);

/** An error of JavaScript that was taken for a reason to refuse. */
const OURS = /Cannot (read|set|convert)|is not (a function|iterable|defined)|undefined|Maximum call stack|BigInt/;

export const kindProperties: readonly FuzzProperty[] = [
  property(
    'any object of any built-in kind survives JSON to the letter, and YAML',
    sample,
    ({ info, object }) => {
      const written = text({ info, object });
      const read = parseJson(written).value as Plain;
      assert.equal(text({ info, object: read }), written);
      assert.deepEqual(decodeObject(typeSchema(info.type), read, { strict: true }).unknownFields, []);
      // YAML sorts what is stored as it was sent.
      assert.deepEqual(parseJson(text({ info, object: parseYaml(formatYaml(read)) as Plain })).value, read);
    },
    { runs: 300 },
  ),
  property(
    'any patch of any object makes an object of its kind or is refused, and leaves the live object as it was',
    patched,
    ({ info, object, body, fieldValidation }) => {
      const schema = typeSchema(info.type);
      const before = text({ info, object });
      const live = parseJson(before).value as Plain;
      const context = { warnings: [] as string[] };
      try {
        const patch = parsePatch(body.type, body.bytes, fieldValidation);
        const options = { fieldValidation, dryRun: false, fieldManager: 'm', force: false };
        const result = accepted(() =>
          decodePatched(
            context as unknown as RequestContext,
            { ...info, schema },
            { ...applyPatch({ schema }, live, patch), patch, options },
          ),
        );
        encodeObject(schema, result!);
      } catch (error) {
        assert.ok(error instanceof StatusError, String(error));
        const why = error.message.slice(error.message.lastIndexOf('": ') + 1);
        if (error.code === 422) assert.doesNotMatch(why, OURS);
      }
      assert.equal(encodeObject(schema, live).toString(), before);
      assert.deepEqual(Object.keys(Object.prototype), []);
    },
    { runs: 400 },
  ),
];
