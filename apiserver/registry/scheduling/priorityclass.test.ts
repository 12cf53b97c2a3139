/** Priority classes: the names of the system, and the one default. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../machinery/api/object.ts';
import { admissionRefusal, refusals } from '../testing/kind-under-test.ts';
import { priorityclass } from './priorityclass.ts';

const RESERVED = "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error:";
const named = (name: string, more: object): KubeObject => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  ...more,
});

const CASES: readonly (readonly [KubeObject, readonly string[]])[] = [
  [named('system-node-critical', { value: 2000001000 }), []],
  [named('system-node-critical', { value: 5 }), [`${RESERVED} value of system-node-critical PriorityClass must be 2000001000`]],
  [
    named('system-cluster-critical', { value: 2000000000, globalDefault: true }),
    [`${RESERVED} globalDefault of system-cluster-critical PriorityClass must be false`],
  ],
  [named('system-mine', { value: 5 }), [`${RESERVED} system-mine is not a known system priority class`]],
];

for (const [object, expected] of CASES) {
  test(`${object.metadata.name} ${JSON.stringify(object)} is ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
    assert.deepEqual(refusals(priorityclass, object), expected);
  });
}

test('a second default is refused, whether new or made one by an update', async () => {
  const low = named('low', { value: 1, globalDefault: true });
  const high = named('high', { value: 9, globalDefault: true });
  const why = (name: string): string =>
    `priorityclasses.scheduling.k8s.io "${name}" is forbidden: PriorityClass low is already marked as default. Only one default can exist`;
  const others = [high, low];
  assert.equal(await admissionRefusal(priorityclass, named('c', { globalDefault: true }), { others }), why('c'));
  assert.equal(await admissionRefusal(priorityclass, high, { old: high, others }), why('high'));
  assert.equal(await admissionRefusal(priorityclass, low, { old: low, others }), undefined);
  assert.equal(await admissionRefusal(priorityclass, named('c', { value: 3 }), { others }), undefined);
  assert.equal(await admissionRefusal(priorityclass, named('c', { globalDefault: true }), {}), undefined);
});
