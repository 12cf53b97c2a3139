/** Semantic equality and copies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deepClone, deepEqual } from './equality.ts';
import { parseJson } from './json.ts';
import { typeSchema } from './schema/schema.ts';

test('missing and empty lists are equal, an empty object is not a missing one', () => {
  assert.equal(deepEqual({ a: [] }, {}), true);
  assert.equal(deepEqual({ a: null }, {}), true);
  assert.equal(deepEqual({ emptyDir: {} }, {}), false);
  assert.equal(deepEqual({ a: [1] }, { a: [1, 2] }), false);
  assert.equal(deepEqual({ a: 1n }, { a: 1 }), true);
});

test('with a schema, maps, value structs, zero values and amounts are known for what they are', () => {
  const pod = typeSchema('core.v1.Pod');
  assert.equal(deepEqual({ metadata: { labels: {} }, status: {} }, { metadata: {} }, pod), true);
  const limits = (cpu: string) => ({ spec: { containers: [{ name: 'a', resources: { limits: { cpu } } }] } });
  assert.equal(deepEqual(limits('1000m'), limits('1'), pod), true);
  assert.equal(deepEqual(limits('1001m'), limits('1'), pod), false);
  const volume = (v: object) => ({ spec: { volumes: [{ name: 'v', ...v }] } });
  assert.equal(deepEqual(volume({ emptyDir: {} }), volume({}), pod), false);
  assert.equal(deepEqual({ spec: { hostNetwork: false } }, { spec: {} }, pod), true);
});

test('a copy shares nothing and keeps odd names as data', () => {
  const value = parseJson('{"a":{"__proto__":{"x":[1]}},"n":1.0}').value as Record<string, Record<string, unknown>>;
  const copy = deepClone(value);
  assert.deepEqual(copy, value);
  assert.notEqual(copy['a'], value['a']);
  assert.equal(Object.hasOwn(copy['a']!, '__proto__'), true);
  assert.equal(({} as Record<string, unknown>)['x'], undefined);
});
