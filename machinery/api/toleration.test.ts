/** Which tolerations bear which taints. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tolerates, untolerated } from './toleration.ts';
import type { Taint, Toleration } from './types/core.v1.ts';

const taint: Taint = { key: 'dedicated', value: '5', effect: 'NoSchedule' };

const cases: readonly (readonly [string, Toleration, boolean])[] = [
  ['Exists without a key bears everything', { operator: 'Exists' }, true],
  ['another effect does not', { operator: 'Exists', effect: 'NoExecute' }, false],
  ['Equal is the default and needs the value', { key: 'dedicated', value: '5' }, true],
  ['Equal with another value does not', { key: 'dedicated', value: '6' }, false],
  ['Equal without a key bears nothing', { value: '5' }, false],
  ['Exists with another key does not', { key: 'other', operator: 'Exists' }, false],
  ['Gt: the taint is above', { key: 'dedicated', operator: 'Gt', value: '4' }, true],
  ['Gt: the taint is not above', { key: 'dedicated', operator: 'Gt', value: '5' }, false],
  ['Lt: the taint is below', { key: 'dedicated', operator: 'Lt', value: '6' }, true],
  ['Lt with what is no number bears nothing', { key: 'dedicated', operator: 'Lt', value: 'x' }, false],
];

for (const [what, toleration, bears] of cases)
  test(what, () => {
    assert.equal(tolerates(toleration, taint), bears);
  });

test('only taints of the effects asked for count', () => {
  assert.equal(untolerated([taint], [], ['NoExecute']), undefined);
  assert.equal(untolerated([taint], [], ['NoSchedule', 'NoExecute']), taint);
});
