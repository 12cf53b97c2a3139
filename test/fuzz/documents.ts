/** The decoders of bodies, JSON, YAML and protobuf: what is written reads back, and no bytes whatever do more than be refused. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { DecodeError, decodeObject } from '../../machinery/api/decode.ts';
import { encodeAny, encodeObject, parseJson, prettyJson } from '../../machinery/api/json.ts';
import { JsonSyntaxError } from '../../machinery/api/json-parser.ts';
import { decodeProtobuf, decodeProtobufEvent, encodeProtobuf, encodeProtobufEvent } from '../../machinery/api/protobuf.ts';
import { ProtobufError } from '../../machinery/api/protobuf-decode.ts';
import { builtinResources, type ResourceInfo } from '../../machinery/api/schema/resources.ts';
import { type TypeSchema, typeSchema } from '../../machinery/api/schema/schema.ts';
import { formatYaml, parseYaml, readYaml, YamlError } from '../../machinery/api/yaml.ts';
import { asParsed, damaged, jsonValue, objectOf, textOf } from './arbitraries.ts';
import { accepted, type FuzzProperty, property } from './property.ts';

const bytes = (text: fc.Arbitrary<string>): fc.Arbitrary<Buffer> => text.map((t) => Buffer.from(t));
const jsonText = fc.oneof(
  textOf(
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"a"',
    '"',
    '\\',
    '\\u12',
    '\\ud83d',
    '-',
    '1',
    '0',
    '.5',
    'e9',
    'true',
    'nul',
    ' ',
    '\n',
    '"__proto__":',
  ),
  fc.jsonValue().map((value) => JSON.stringify(value)),
);
const yamlText = fc.oneof(
  textOf(
    'a',
    ': ',
    '- ',
    '\n',
    '  ',
    '[',
    ']',
    '{',
    '}',
    ',',
    '&x ',
    '*x',
    '!!str ',
    '!!binary ',
    '|',
    '>',
    '"',
    "'",
    '#',
    '---\n',
    '? ',
    '<<: ',
    '1',
    '0x',
    '1:30',
    '~',
    '\t',
    '%',
    '@',
    '.inf',
    '__proto__: ',
  ),
  jsonValue.map((value) => formatYaml(value)),
);

/** No prototype of anything was changed. */
function unpolluted(): void {
  assert.deepEqual(Object.keys(Object.prototype), []);
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
}

const canonical = (schema: TypeSchema, value: unknown): string =>
  encodeObject(schema, decodeObject(schema, value, { strict: false }).object).toString();
const apiVersionOf = ({ group, version }: ResourceInfo): string => (group === '' ? version : `${group}/${version}`);
const ofAnyKind = fc
  .constantFrom(...builtinResources())
  .chain((info) =>
    objectOf(typeSchema(info.type), 6).map((object) => ({ info, value: { ...object, apiVersion: apiVersionOf(info), kind: info.kind } })),
  );
const protobufOf = ({ info, value }: { info: ResourceInfo; value: object }): Buffer =>
  encodeProtobuf(typeSchema(info.type), decodeObject(typeSchema(info.type), value, { strict: false }).object);

export const documentProperties: readonly FuzzProperty[] = [
  property('any JSON value survives being written and read', fc.jsonValue({ maxDepth: 4 }), (generated) => {
    const value = asParsed(generated);
    const text = encodeAny(value).toString();
    assert.deepEqual(JSON.parse(text), value);
    assert.equal(encodeAny(parseJson(text).value).toString(), text);
    assert.deepEqual(JSON.parse(prettyJson(Buffer.from(text)).toString()), value);
  }),
  property(
    'a repeated member of JSON is found wherever it is',
    fc.array(fc.tuple(fc.stringMatching(/^[a-c]$/), fc.integer()), { maxLength: 5 }),
    (members) => {
      const text = `{"x":[{${members.map(([k, v]) => `"${k}":${v}`).join(',')}}]}`;
      const repeated = members.map(([k]) => k).filter((k, i, all) => all.indexOf(k) < i);
      assert.deepEqual(
        parseJson(text).duplicates,
        [...new Set(repeated)].map((k) => `x[0].${k}`),
      );
    },
  ),
  property(
    'any bytes are JSON exactly where JavaScript says so too, or refused by name',
    fc.oneof(
      bytes(jsonText),
      damaged(bytes(jsonText)),
      fc.uint8Array({ maxLength: 40 }).map((b) => Buffer.from(b)),
    ),
    (input) => {
      const parsed = accepted(() => parseJson(input), JsonSyntaxError);
      unpolluted();
      let expected = true;
      try {
        JSON.parse(input.toString('utf8'));
      } catch {
        expected = false;
      }
      // Go skips no byte order mark and JavaScript's decoder keeps it: the two agree there too.
      assert.equal(parsed !== undefined, expected, input.toString('utf8'));
      if (parsed !== undefined) encodeAny(parsed.value);
    },
    { runs: 500 },
  ),
  property(
    'what YAML writes reads back the same',
    fc.dictionary(
      fc.oneof(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.constantFrom('yes', '1_0', '0x', '.5', '<<', '=', '? a')),
      fc.oneof(jsonValue, fc.stringMatching(/^[ a-z:#\n'"-]{0,120}$/), fc.string({ unit: 'grapheme', maxLength: 100 })),
      { maxKeys: 3 },
    ),
    (generated) => {
      const object = asParsed(generated);
      const written = formatYaml(object);
      assert.deepEqual(asParsed(parseYaml(written)), object, written);
    },
    { runs: 300 },
  ),
  property(
    'any text is YAML that can be written as JSON, or refused by name',
    fc.oneof(
      yamlText,
      damaged(bytes(yamlText)).map((b) => b.toString('utf8')),
      fc.string({ unit: 'binary', maxLength: 40 }),
    ),
    (text) => {
      const read = accepted(() => readYaml(text), YamlError);
      unpolluted();
      if (read !== undefined) JSON.parse(encodeAny(read.value).toString());
    },
    { runs: 500 },
  ),
  property('any JSON text is YAML of the same value', jsonValue, (value) => {
    assert.deepEqual(asParsed(parseYaml(JSON.stringify(value))), value);
  }),
  property(
    'any object of any built-in kind survives protobuf',
    ofAnyKind,
    ({ info, value }) => {
      const decoded = decodeProtobuf(protobufOf({ info, value }));
      const schema = typeSchema(info.type);
      // Go's protobuf does not tell an empty map from none either.
      const text = (object: object): string => canonical(schema, object).replaceAll('{}', 'null');
      assert.equal(text({ ...decoded.object, apiVersion: apiVersionOf(info), kind: info.kind }), text(value));
    },
    { runs: 500 },
  ),
  property(
    'any bytes are a protobuf body whose object can be decoded or refused, or are refused by name',
    fc.oneof(
      damaged(ofAnyKind.map(protobufOf)),
      fc.uint8Array({ maxLength: 60 }).map((b) => Buffer.concat([Buffer.from('6b3873000a0f0a0276311209436f6e6669674d6170', 'hex'), b])),
      fc.tuple(fc.constantFrom(...builtinResources()), fc.uint8Array({ maxLength: 60 })).map(([info, b]) => envelope(info, b)),
      fc.uint8Array({ maxLength: 60 }).map((b) => Buffer.concat([Buffer.from('k8s\0'), b])),
    ),
    (input) => {
      const decoded = accepted(() => decodeProtobuf(input, { apiVersion: 'v1', kind: 'Pod' }), ProtobufError);
      accepted(() => decodeProtobufEvent(input), ProtobufError);
      unpolluted();
      if (decoded === undefined) return;
      const info = builtinResources().find((r) => r.kind === decoded.kind && apiVersionOf(r) === decoded.apiVersion);
      if (info === undefined) return;
      const schema = typeSchema(info.type);
      const object = accepted(() => decodeObject(schema, decoded.object, { strict: false }).object, DecodeError, Error);
      if (object !== undefined) encodeProtobuf(schema, object);
    },
    { runs: 500 },
  ),
  property(
    'a JSON body of any shape is an object of its kind or refused by name',
    fc.tuple(
      fc.constantFrom(...builtinResources()),
      fc.constantFrom('metadata', 'spec', 'data', 'status', 'items', 'rules'),
      jsonValue,
      fc.constantFrom('labels', 'containers', 'selector', 'template', '__proto__'),
    ),
    ([info, member, value, inner]) => {
      const schema = typeSchema(info.type);
      for (const body of [{ [member]: value }, { [member]: Object.fromEntries([[inner, value]]) }, value]) {
        const decoded = accepted(() => decodeObject(schema, body, { strict: true }), DecodeError);
        unpolluted();
        if (decoded === undefined) continue;
        const once = encodeObject(schema, decoded.object);
        // A second reading changes nothing: what is stored stays as it is.
        assert.equal(
          encodeObject(schema, decodeObject(schema, JSON.parse(once.toString()), { strict: true }).object).toString(),
          once.toString(),
        );
      }
    },
    { runs: 400 },
  ),
  property(
    'a protobuf watch event holds the object it was made of',
    ofAnyKind,
    ({ info, value }) => {
      const body = protobufOf({ info, value });
      const { type, object } = decodeProtobufEvent(encodeProtobufEvent('MODIFIED', body).subarray(4));
      assert.deepEqual([type, object], ['MODIFIED', decodeProtobuf(body)]);
    },
    { runs: 50 },
  ),
];

function envelope(info: ResourceInfo, raw: Uint8Array): Buffer {
  const text = (tag: number, value: string): Buffer => Buffer.concat([Buffer.from([tag, Buffer.byteLength(value)]), Buffer.from(value)]);
  const type = Buffer.concat([text(0x0a, apiVersionOf(info)), text(0x12, info.kind)]);
  return Buffer.concat([Buffer.from('k8s\0'), Buffer.from([0x0a, type.length]), type, Buffer.from([0x12, raw.length]), raw]);
}
