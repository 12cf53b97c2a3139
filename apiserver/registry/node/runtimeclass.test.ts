/** Runtime classes: an update is checked like a new one, and labels that are old are told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusals, warningsOf } from '../testing/kind-under-test.ts';
import { runtimeclass } from './runtimeclass.ts';

test('an update tells what is wrong with the whole class, and that the handler is fixed', () => {
  const old = { handler: 'box' };
  const selector = 'scheduling.nodeSelector: Invalid value: "a b": name part must consist of alphanumeric characters';
  const [first = '', ...rest] = refusals(runtimeclass, { handler: 'other', scheduling: { nodeSelector: { 'a b': 'c' } } }, { old });
  assert.ok(first.startsWith(selector), first);
  assert.deepEqual(rest, ['handler: Invalid value: "other": field is immutable']);
  assert.deepEqual(refusals(runtimeclass, { handler: '' }, { old }), [
    'handler: Required value',
    'handler: Invalid value: "": field is immutable',
  ]);
});

test('a selector with deprecated labels is warned of, at creation and update', () => {
  const object = {
    handler: 'box',
    scheduling: { nodeSelector: { 'beta.kubernetes.io/os': 'linux', zone: 'a', 'beta.kubernetes.io/arch': 'x' } },
  };
  const expected = [
    'scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/arch" instead',
    'scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead',
  ];
  assert.deepEqual(warningsOf(runtimeclass, object), expected);
  assert.deepEqual(warningsOf(runtimeclass, object, object), expected);
});
