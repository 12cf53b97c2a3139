/** Flow control: what comes with the server keeps its own rules, hands of cards, and rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellsOf, refusals } from '../testing/kind-under-test.ts';
import { flowschema } from './flowschema.ts';
import { MANDATORY_LEVELS, MANDATORY_SCHEMAS } from './mandatory.ts';
import { prioritylevelconfiguration } from './prioritylevelconfiguration.ts';
import { SUGGESTED_LEVELS, SUGGESTED_SCHEMAS } from './suggested.ts';

test('what comes with the server is valid, and complete as it is', () => {
  for (const [name, spec] of [...MANDATORY_SCHEMAS, ...SUGGESTED_SCHEMAS])
    assert.deepEqual(refusals(flowschema, { metadata: { name }, spec }), [], name);
  for (const [name, spec] of [...MANDATORY_LEVELS, ...SUGGESTED_LEVELS]) {
    assert.deepEqual(refusals(prioritylevelconfiguration, { metadata: { name }, spec }), [], name);
    const object = { metadata: { name }, spec: structuredClone(spec) };
    prioritylevelconfiguration.strategy.default?.(object as never);
    assert.deepEqual(object.spec, spec, `${name} needs no defaults`);
  }
});

const level = (queuing: object): object => ({ spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing } } } });
const HAND = 'spec.limited.limitResponse.queuing.handSize: Invalid value';

const HANDS: readonly (readonly [queues: number, hand: number, expected: readonly string[]])[] = [
  [1024, 6, []],
  [64, 10, []],
  [65, 10, [`${HAND}: 10: required entropy bits of deckSize 65 and handSize 10 should not be greater than 60`]],
  [100, 100, [`${HAND}: 100: required entropy bits of deckSize 100 and handSize 100 should not be greater than 60`]],
  [7, 9, [`${HAND}: 9: should not be greater than queues (7)`]],
];

for (const [queues, handSize, expected] of HANDS) {
  test(`hands of ${handSize} out of ${queues} are ${expected.length === 0 ? 'dealt' : 'refused'}`, () => {
    assert.deepEqual(refusals(prioritylevelconfiguration, level({ queues, handSize })), expected);
  });
}

test('a row has no queues where none are', () => {
  assert.deepEqual(cellsOf(prioritylevelconfiguration, { metadata: { name: 'a' }, spec: { type: 'Exempt', exempt: {} } }).slice(1, 6), [
    'Exempt',
    '<none>',
    '<none>',
    '<none>',
    '<none>',
  ]);
  assert.deepEqual(cellsOf(prioritylevelconfiguration, level({})).slice(1, 6), ['Limited', 30, 64, 8, 50]);
});
