/** Autoscalers: what they may point at and how far down they may go. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AnyObject } from '../../../machinery/api/object.ts';
import { createErrors, stored, updateErrors } from '../testing/rules.ts';
import { horizontalpodautoscaler } from './horizontalpodautoscaler.ts';

const GROUP = 'spec.scaleTargetRef.apiVersion: Invalid value';
const made = (spec: object, target: object = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }): AnyObject =>
  ({ metadata: {}, spec: { scaleTargetRef: target, maxReplicas: 5, ...spec } }) as unknown as AnyObject;
const metric = (source: object): object => ({ metrics: [source] });

describe('a new autoscaler', () => {
  const cases: [string, AnyObject, string[]][] = [
    [
      'does not go down to nothing',
      made({ minReplicas: 0 }),
      [
        'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
        'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
      ],
    ],
    [
      'does not go down to nothing with a metric from outside either',
      made({
        minReplicas: 0,
        ...metric({ type: 'External', external: { metric: { name: 'queue' }, target: { type: 'Value', value: '1n' } } }),
      }),
      ['spec.minReplicas: Invalid value: 0: must be greater than or equal to 1'],
    ],
    ['names the group of its target', made({}, { kind: 'Deployment', name: 'web' }), [`${GROUP}: "": apiVersion must specify API group`]],
    [
      'does not scale what is in the core group',
      made({}, { apiVersion: 'v1', kind: 'Pod', name: 'web' }),
      [`${GROUP}: "v1": apiVersion must specify API group`],
    ],
    ['may scale a replication controller', made({}, { kind: 'ReplicationController', name: 'web' }), []],
    ['takes a version that is empty', made({}, { apiVersion: 'apps/', kind: 'Deployment', name: 'web' }), []],
    [
      'takes no version of three parts',
      made({}, { apiVersion: 'a/b/c', kind: 'ReplicationController', name: 'web' }),
      [`${GROUP}: "a/b/c": unexpected GroupVersion string: a/b/c`],
    ],
    [
      'may describe an object of the core group',
      made(
        metric({
          type: 'Object',
          object: { describedObject: { kind: 'Service', name: 's' }, metric: { name: 'm' }, target: { type: 'Value', value: '-1' } },
        }),
      ),
      ['spec.metrics[0].object.target.value: Invalid value: "-1": must be positive'],
    ],
    [
      'tolerates nothing below none',
      made({ behavior: { scaleDown: { tolerance: '-1n' } } }),
      ['spec.behavior.scaleDown.tolerance: Invalid value: "-1n": must be greater than or equal to 0'],
    ],
    [
      'has a policy where it lists policies',
      made({ behavior: { scaleUp: { policies: [] } } }),
      ['spec.behavior.scaleUp.policies: Required value: must specify at least one Policy'],
    ],
  ];
  for (const [what, object, expected] of cases) it(what, () => assert.deepEqual(createErrors(horizontalpodautoscaler, object), expected));
});

describe('an update of an autoscaler', () => {
  it('looks at the version of the target only when it or the kind changes', () => {
    const old = stored(horizontalpodautoscaler, made({}, { kind: 'Deployment', name: 'web' }));
    const retarget = (target: object): string[] =>
      updateErrors(horizontalpodautoscaler, old, (object) => Object.assign(object['spec'] as object, { scaleTargetRef: target }));
    assert.deepEqual(retarget({ kind: 'Deployment', name: 'other' }), []);
    assert.deepEqual(retarget({ kind: 'StatefulSet', name: 'web' }), [`${GROUP}: "": apiVersion must specify API group`]);
    assert.deepEqual(retarget({ kind: 'Deployment' }), ['spec.scaleTargetRef.name: Required value']);
  });
});
