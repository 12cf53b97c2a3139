/** Topologies of a storage class. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldError } from '../../../machinery/api/field-error.ts';
import type { TopologySelectorTerm } from '../../../machinery/api/types/core.v1.ts';
import { allowedTopologyErrors } from './topologies.ts';

const CASES: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['without values', { key: 'zone' }, ['allowedTopologies[0].matchLabelExpressions[0].values: Required value']],
  [
    'whose values are printed as null',
    { key: 'zone', values: null },
    ['allowedTopologies[0].matchLabelExpressions[0].values: Required value'],
  ],
  [
    'that names a value twice',
    { key: 'zone', values: ['a', 'a'] },
    ['allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"'],
  ],
];

for (const [name, requirement, expected] of CASES) {
  test(`a requirement ${name} is refused`, () => {
    const errors: FieldError[] = [];
    allowedTopologyErrors([{ matchLabelExpressions: [requirement] } as TopologySelectorTerm], errors);
    assert.deepEqual(
      errors.map(({ message }) => message),
      expected,
    );
  });
}
