/** API services: a group may be empty for v1 only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellsOf, refusals } from '../testing/kind-under-test.ts';
import { apiservice } from './apiservice.ts';

const service = (name: string, spec: object): object => ({
  metadata: { name },
  spec: { groupPriorityMinimum: 10, versionPriority: 5, ...spec },
});

const CASES: readonly (readonly [object, readonly string[]])[] = [
  [service('v1.', { version: 'v1' }), []],
  [service('v2.', { version: 'v2' }), ["spec.group: Required value: only v1 may have an empty group and it's better be legacy kube"]],
  [service('v1.g.io', { version: 'v1', group: 'g.io', groupPriorityMinimum: 20000, versionPriority: 1000 }), []],
  [
    service('v1.h.io', { version: 'v1', group: 'g.io', versionPriority: -1 }),
    [
      'metadata.name: Invalid value: "v1.h.io": must be `spec.version+"."+spec.group`: "v1.g.io"',
      'spec.versionPriority: Invalid value: -1: must be positive and less than 1000',
    ],
  ],
];

for (const [object, expected] of CASES) {
  test(`${JSON.stringify(object)} is ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
    assert.deepEqual(refusals(apiservice, object), expected);
  });
}

test('a row says why a group is not available', () => {
  const available = (...conditions: object[]): unknown =>
    cellsOf(apiservice, { spec: { service: { namespace: 'n', name: 's' } }, status: { conditions } })[2];
  assert.equal(available(), 'Unknown');
  assert.equal(available({ type: 'Available', status: 'True', reason: 'Passed' }), 'True');
  assert.equal(available({ type: 'Available', status: 'False', reason: 'ServiceNotFound' }), 'False (ServiceNotFound)');
  assert.equal(available({ type: 'Available', status: 'Unknown' }), 'Unknown');
});
