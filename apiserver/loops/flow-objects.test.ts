/** Flow control objects that follow their built-in form, and what schemas say of their levels. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FlowSchema } from '../../machinery/api/types/flowcontrol.apiserver.k8s.io.v1.ts';
import { MANDATORY_LEVELS, MANDATORY_SCHEMAS } from '../registry/flowcontrol/mandatory.ts';
import { SUGGESTED_LEVELS, SUGGESTED_SCHEMAS } from '../registry/flowcontrol/suggested.ts';
import { danglingCondition, followed } from './flow-objects.ts';

const KEY = 'apf.kubernetes.io/autoupdate-spec';
const live = (annotation: string | undefined, spec: object, generation = 1) => ({
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'FlowSchema',
  metadata: { name: 'a', generation, annotations: { other: 'x', ...(annotation !== undefined && { [KEY]: annotation }) } },
  spec,
});
const BUILT_IN = { matchingPrecedence: 1 };
const CHANGED = { matchingPrecedence: 2 };

type Case = readonly [what: string, object: ReturnType<typeof live>, isMandatory: boolean, expected: [string, object] | undefined];
const CASES: readonly Case[] = [
  ['as it should be', live('true', BUILT_IN), false, undefined],
  ['changed, but following', live('true', CHANGED, 2), false, ['true', BUILT_IN]],
  ['changed and not following', live('false', CHANGED, 2), false, undefined],
  ['changed and not following, though it must', live('false', CHANGED, 2), true, ['true', BUILT_IN]],
  ['never changed, from an older server, and silent', live(undefined, CHANGED, 1), false, ['true', BUILT_IN]],
  ['changed and silent', live(undefined, CHANGED, 3), false, ['false', CHANGED]],
  ['saying nonsense', live('perhaps', CHANGED, 3), false, ['false', CHANGED]],
];

for (const [what, object, isMandatory, expected] of CASES) {
  test(`an object that is ${what} ${expected === undefined ? 'stays' : 'is put right'}`, () => {
    const next = followed(object, { spec: BUILT_IN, isMandatory });
    if (expected === undefined) assert.equal(next, undefined);
    else {
      assert.deepEqual(next?.metadata.annotations, { other: 'x', [KEY]: expected[0] });
      assert.deepEqual(next?.spec, expected[1]);
    }
  });
}

test('what the exempt level lends stays as its owner wants it', () => {
  const spec = MANDATORY_LEVELS.get('exempt')!;
  const tuned = { ...spec, exempt: { nominalConcurrencyShares: 7, lendablePercent: 9 } };
  assert.equal(followed(live('true', tuned, 2), { spec, isMandatory: true }), undefined);
});

const schema = (level: string, ...conditions: object[]): FlowSchema =>
  ({ metadata: { name: 'a' }, spec: { priorityLevelConfiguration: { name: level } }, status: { conditions } }) as unknown as FlowSchema;
const NOW = new Date('2026-01-01T00:00:00Z');

test('a schema says whether its level exists, once', () => {
  const levels = new Set(['there']);
  const found = danglingCondition(schema('there'), levels, NOW)!;
  assert.deepEqual(found, {
    type: 'Dangling',
    status: 'False',
    reason: 'Found',
    message: 'This FlowSchema references the PriorityLevelConfiguration object named "there" and it exists',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  assert.equal(danglingCondition(schema('there', { type: 'Own', status: 'True' }, found), levels, NOW), undefined);
  const lost = danglingCondition(schema('gone', found), levels, NOW)!;
  assert.deepEqual([lost.status, lost.reason], ['True', 'NotFound']);
  assert.match(lost.message ?? '', /named "gone" but there is no such object$/);
});

test('every schema that comes with the server has a level that does', () => {
  const levels = new Set([...MANDATORY_LEVELS.keys(), ...SUGGESTED_LEVELS.keys()]);
  for (const [name, spec] of [...MANDATORY_SCHEMAS, ...SUGGESTED_SCHEMAS])
    assert.ok(levels.has(spec.priorityLevelConfiguration.name), name);
});
