/** Shares of a capacity: values and ranges that fit, and what is said of those that do not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldError } from '../../../machinery/api/field-error.ts';
import type { CapacityRequestPolicy, DeviceCapacity } from '../../../machinery/api/types/resource.k8s.io.v1.ts';
import { capacityErrors } from './capacity-policy.ts';

const CASES: readonly (readonly [string, CapacityRequestPolicy, readonly string[]])[] = [
  ['a default alone', { default: '1Gi' }, []],
  ['a range that its steps fill', { default: '3Gi', validRange: { min: '1Gi', max: '5Gi', step: '2Gi' } }, []],
  [
    'a step that leads beyond the capacity',
    { default: '1Gi', validRange: { min: '1Gi', step: '20Gi' } },
    ['c.requestPolicy.validRange.step: Invalid value: "20Gi": one step 21Gi is larger than capacity value: 10Gi'],
  ],
  [
    'a maximum between two steps',
    { default: '1Gi', validRange: { min: '1Gi', max: '4Gi', step: '2Gi' } },
    ['c.requestPolicy.validRange.step: Invalid value: "4Gi": value is not a multiple of a given step (2Gi) from (1Gi)'],
  ],
];

test('a capacity without a value is none', () => {
  const errors: FieldError[] = [];
  capacityErrors({ requestPolicy: { default: '1', validValues: ['1'] } } as DeviceCapacity, true, 'c', errors);
  assert.deepEqual(
    errors.map(({ message }) => message),
    ['c.requestPolicy.validValues[0]: Invalid value: "1": option is larger than capacity value: 0'],
  );
});

for (const [name, requestPolicy, expected] of CASES) {
  test(`${name}: ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
    const errors: FieldError[] = [];
    capacityErrors({ value: '10Gi', requestPolicy }, true, 'c', errors);
    assert.deepEqual(
      errors.map(({ message }) => message),
      expected,
    );
  });
}
