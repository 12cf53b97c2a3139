/** Disruption budgets: what one may ask for and what may be reported of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AnyObject } from '../../../machinery/api/object.ts';
import { createErrors, statusErrors, stored, updateErrors } from '../testing/rules.ts';
import { poddisruptionbudget } from './poddisruptionbudget.ts';

const made = (spec: object): AnyObject => ({ metadata: {}, spec }) as unknown as AnyObject;
const PERCENT = `a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`;

describe('a budget', () => {
  const cases: [string, object, string[]][] = [
    ['may ask for nothing', {}, []],
    ['may ask for all', { minAvailable: '100%' }, []],
    [
      'does not ask for more than all',
      { maxUnavailable: '101%' },
      ['spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
    ],
    ['may ask for more pods than there are', { minAvailable: 1000 }, []],
    ['does not ask for less than none', { minAvailable: -3 }, ['spec.minAvailable: Invalid value: -3: must be greater than or equal to 0']],
    ['does not count in words', { maxUnavailable: '1.5%' }, [`spec.maxUnavailable: Invalid value: "1.5%": ${PERCENT}`]],
    ['does not count in text', { minAvailable: '3' }, [`spec.minAvailable: Invalid value: "3": ${PERCENT}`]],
    [
      'knows two policies',
      { unhealthyPodEvictionPolicy: '' },
      ['spec.unhealthyPodEvictionPolicy: Unsupported value: "": supported values: "AlwaysAllow", "IfHealthyBudget"'],
    ],
    [
      'is told of its figures before its selector and of its policy last',
      {
        minAvailable: '200%',
        selector: { matchExpressions: [{ key: 'a', operator: 'In' }] },
        unhealthyPodEvictionPolicy: 'Never',
      },
      [
        'spec.minAvailable: Invalid value: "200%": must not be greater than 100%',
        "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        'spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": supported values: "AlwaysAllow", "IfHealthyBudget"',
      ],
    ],
  ];
  for (const [what, spec, expected] of cases) it(what, () => assert.deepEqual(createErrors(poddisruptionbudget, made(spec)), expected));

  it('asks for one thing only', () => {
    const [error, ...others] = createErrors(poddisruptionbudget, made({ minAvailable: 1, maxUnavailable: '10%' }));
    assert.match(error!, /^spec: Invalid value: \{.*\}: minAvailable and maxUnavailable cannot be both set$/);
    assert.deepEqual(others, []);
  });

  it('may ask for anything else later', () => {
    const old = stored(poddisruptionbudget, made({ minAvailable: 1, selector: { matchLabels: { a: 'b' } } }));
    const change = (spec: object): string[] => updateErrors(poddisruptionbudget, old, (object) => Object.assign(object, { spec }));
    assert.deepEqual(change({ maxUnavailable: 0, selector: {} }), []);
    assert.deepEqual(change({ maxUnavailable: -1 }), ['spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0']);
  });

  it('is reported of in whole conditions, then in figures that are not negative', () => {
    const time = '2026-01-01T00:00:00Z';
    const condition = { type: 'DisruptionAllowed', status: 'Maybe', reason: 'x y', lastTransitionTime: time, observedGeneration: -1 };
    const fields = statusErrors(poddisruptionbudget, stored(poddisruptionbudget, made({})), {
      conditions: [condition, { type: 'DisruptionAllowed', status: 'True' }],
      expectedPods: -1,
      desiredHealthy: -2,
    }).map((line) => line.split(': ').slice(0, 2).join(': '));
    assert.deepEqual(fields, [
      'status.conditions[0].status: Unsupported value',
      'status.conditions[0].observedGeneration: Invalid value',
      'status.conditions[0].reason: Invalid value',
      'status.conditions[1].type: Duplicate value',
      'status.conditions[1].lastTransitionTime: Required value',
      'status.conditions[1].reason: Required value',
      'status.desiredHealthy: Invalid value',
      'status.expectedPods: Invalid value',
    ]);
  });
});
