/** JSON in and out: wording, odd numbers, odd names, escapes, and the round trip of any value. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { encodeAny, encodeObject, parseJson, prettyJson } from './json.ts';
import { NumberLiteral } from './json-number.ts';
import { typeSchema } from './schema/schema.ts';

test('text that is no JSON is refused in the words of the Go parser', () => {
  const cases: [string, string][] = [
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
    ['[1 2]', "invalid character '2' after array element"],
    ['{} x', "invalid character 'x' after top-level value"],
    ['nulx', "invalid character 'x' in literal null (expecting 'l')"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    ['"a\tb"', "invalid character '\\t' in string literal"],
    ['- 1', "invalid character ' ' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['\u001f', "invalid character '\\x1f' looking for beginning of value"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
  ];
  for (const [text, message] of cases) assert.throws(() => parseJson(text), { message }, text);
});

test('nesting is bounded, and what is allowed does not overflow', () => {
  assert.throws(() => parseJson('['.repeat(10_001)), { message: "invalid character '[' exceeded max depth" });
  assert.throws(() => parseJson('['.repeat(10_001) + ']'.repeat(10_001)), { message: "invalid character '[' exceeded max depth" });
  assert.doesNotThrow(() => parseJson('['.repeat(9_000) + ']'.repeat(9_000)));
});

test('repeated members are named by their path, the last one counts, objects are merged', () => {
  const { value, duplicates } = parseJson('{"data":{"k":"a","k":"b"},"spec":{"c":[{"n":1,"n":2}]},"data":{"l":"c"}}');
  assert.deepEqual(value, { data: { k: 'b', l: 'c' }, spec: { c: [{ n: 2 }] } });
  assert.deepEqual(duplicates, ['data.k', 'spec.c[0].n', 'data']);
});

test('numbers that JavaScript would blur keep what was written', () => {
  const { value } = parseJson('[30, 30.0, 3e1, -0, 9007199254740993, 9223372036854775808, 1.5, 1e400]');
  assert.deepEqual(value, [
    30,
    new NumberLiteral('30.0'),
    new NumberLiteral('3e1'),
    new NumberLiteral('-0'),
    9007199254740993n,
    new NumberLiteral('9223372036854775808'),
    1.5,
    new NumberLiteral('1e400'),
  ]);
  assert.equal(encodeAny(value).toString(), '[30,30.0,3e1,-0,9007199254740993,9223372036854775808,1.5,1e400]');
});

test('members named like the insides of objects are plain data', () => {
  const text = '{"__proto__":{"polluted":"1"},"constructor":"2","toString":"3"}';
  const { value } = parseJson(text);
  assert.equal((value as Record<string, unknown>)['polluted'], undefined);
  assert.equal(encodeAny(value).toString(), text);
  assert.equal(encodeAny(parseJson('{"a":1,"a":2,"__proto__":"x"}').value).toString(), '{"__proto__":"x","a":2}');
});

test('bad UTF-8 and lone surrogates become U+FFFD, one for each bad byte', () => {
  assert.equal(parseJson(Buffer.from([0x22, 0xe2, 0x82, 0x22])).value, '\ufffd\ufffd');
  assert.equal(parseJson('"x\\ud800y"').value, 'x\ufffdy');
  assert.equal(parseJson('"\\ud83d\\ude00"').value, '😀');
});

test('strings are escaped as Go escapes them', () => {
  assert.equal(encodeAny('<a & b>\u2028\u0001\b\u007fé😀"\\').toString(), '"\\u003ca \\u0026 b\\u003e\\u2028\\u0001\\b\u007fé😀\\"\\\\"');
});

test('map keys are in the order of their UTF-8 bytes', () => {
  assert.equal(encodeAny({ '\uffff': 1, '😀': 2, b: 3, a: 4 }).toString(), '{"a":4,"b":3,"\uffff":1,"😀":2}');
});

test('an object is printed by its schema: order, zero values, unknown members', () => {
  const object = {
    status: {},
    spec: { replicas: 0, foo: 1 },
    metadata: { name: 'a', labels: {} },
    apiVersion: 'apps/v1',
    kind: 'Deployment',
  };
  assert.equal(
    encodeObject(typeSchema('apps.v1.Deployment'), object).toString(),
    '{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}',
  );
});

test('the bytes of an object are its own, outside of any pool', () => {
  const bytes = encodeObject(typeSchema('core.v1.ConfigMap'), { kind: 'ConfigMap' });
  assert.equal(bytes.buffer.byteLength, bytes.length);
});

test('pretty JSON is indented by two and keeps empty values closed', () => {
  assert.equal(
    prettyJson(Buffer.from('{"a":[],"b":{},"c":[1,{"d":"x,:\\"y"}]}\n')).toString(),
    '{\n  "a": [],\n  "b": {},\n  "c": [\n    1,\n    {\n      "d": "x,:\\"y"\n    }\n  ]\n}',
  );
});

const facts = join(fileURLToPath(new URL('../../../shared/', import.meta.url)), 'kubernetes', 'go-json.json');
test('every type prints its zero value as Go does', {
  skip: existsSync(facts) ? false : 'skipped: the recorded Go encodings are not at hand',
}, () => {
  const { types } = JSON.parse(readFileSync(facts, 'utf8')) as { types: Record<string, { zero: unknown }> };
  for (const [name, { zero }] of Object.entries(types)) {
    const schema = typeSchema(name);
    assert.equal(
      encodeObject(schema, schema.custom === undefined ? {} : undefined).toString(),
      typeof zero === 'string' ? zero : JSON.stringify(zero),
      name,
    );
  }
});
