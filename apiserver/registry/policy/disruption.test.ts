/** What a disruption budget says to an eviction, and what it remembers of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../machinery/api/object.ts';
import type { StatusError } from '../../../machinery/api/status.ts';
import type { Pod } from '../../../machinery/api/types/core.v1.ts';
import type { PodDisruptionBudget } from '../../../machinery/api/types/policy.v1.ts';
import { isUnprotected, mayGoUnhealthy, takeDisruption } from './disruption.ts';

const NOW = '2026-01-01T00:00:00Z';
type Budget = PodDisruptionBudget & KubeObject;
const budget = (status: object, spec: object = {}): Budget =>
  ({
    metadata: { name: 'b', namespace: 'default', generation: 2 },
    spec,
    status: { observedGeneration: 2, ...status },
  }) as unknown as Budget;

function verdict(status: object): string {
  const asked = budget(status);
  try {
    takeDisruption(asked, 'p', NOW);
    return 'taken';
  } catch (error) {
    const { code, message, details } = (error as StatusError).status;
    const cause = details?.causes?.[0]?.message;
    return `${code} ${details?.retryAfterSeconds ?? '-'} ${cause ?? message}`;
  }
}

const condition = (reason: string, message: string, status = 'False'): object => ({
  conditions: [{ type: 'DisruptionAllowed', status, reason, message, lastTransitionTime: NOW }],
});

describe('a budget that is asked', () => {
  const cases: [string, object, string][] = [
    [
      'has not been counted since it changed',
      { observedGeneration: 1, disruptionsAllowed: 5 },
      '429 10 The disruption budget b is still being processed by the server.',
    ],
    ['has something to give', { disruptionsAllowed: 1 }, 'taken'],
    ['has too few', { currentHealthy: 1, desiredHealthy: 2 }, '429 - The disruption budget b needs 2 healthy pods and has 1 currently'],
    [
      'has enough but gives none',
      { currentHealthy: 3, desiredHealthy: 2 },
      '429 - The disruption budget b does not allow evicting pods currently',
    ],
    [
      'could not be counted',
      { currentHealthy: 0, desiredHealthy: 2, ...condition('SyncFailed', 'no scale') },
      '429 - The disruption budget b does not allow evicting pods currently because it failed sync: no scale',
    ],
    [
      'has too few, whatever its condition says',
      { currentHealthy: 1, desiredHealthy: 2, ...condition('InsufficientPods', 'wait') },
      '429 - The disruption budget b needs 2 healthy pods and has 1 currently',
    ],
    [
      'says why it gives none',
      { currentHealthy: 3, desiredHealthy: 2, ...condition('Frozen', 'by hand') },
      '429 - The disruption budget b does not allow evicting pods currently (Frozen): by hand',
    ],
    [
      'says nothing when its condition is true',
      { currentHealthy: 3, desiredHealthy: 2, ...condition('SyncFailed', 'old', 'True') },
      '429 - The disruption budget b does not allow evicting pods currently',
    ],
    [
      'remembers too many',
      { disruptionsAllowed: 1, disruptedPods: Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`p${i}`, NOW])) },
      '403 - poddisruptionbudget.policy "b" is forbidden: DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    ],
  ];
  for (const [what, status, expected] of cases) it(what, () => assert.equal(verdict(status), expected));

  it('remembers the pod, and says that there is no more only with the last', () => {
    const asked = budget({ disruptionsAllowed: 2, currentHealthy: 4, desiredHealthy: 2, disruptedPods: { other: NOW } });
    takeDisruption(asked, 'p', NOW);
    assert.deepEqual(asked.status?.disruptedPods, { other: NOW, p: NOW });
    assert.equal(asked.status?.conditions, undefined);
    takeDisruption(asked, 'q', '2026-01-02T00:00:00Z');
    assert.equal(asked.status?.disruptionsAllowed, 0);
    assert.deepEqual(asked.status?.conditions, [
      {
        observedGeneration: 2,
        type: 'DisruptionAllowed',
        status: 'False',
        lastTransitionTime: '2026-01-02T00:00:00Z',
        reason: 'InsufficientPods',
        message: '',
      },
    ]);
  });
});

describe('a pod', () => {
  const pod = (phase: string, ready = 'False', metadata: object = {}): Pod =>
    ({ metadata, status: { phase, conditions: [{ type: 'Ready', status: ready }] } }) as unknown as Pod;

  it('is not protected before it runs, after it has, and while it goes', () => {
    for (const phase of ['Pending', 'Succeeded', 'Failed']) assert.equal(isUnprotected(pod(phase)), true, phase);
    for (const phase of ['Running', 'Unknown']) assert.equal(isUnprotected(pod(phase)), false, phase);
    assert.equal(isUnprotected(pod('Running', 'True', { deletionTimestamp: NOW })), true);
  });

  it('may go unhealthy as the policy says', () => {
    const cases: [object, object, string, boolean][] = [
      [{}, { currentHealthy: 2, desiredHealthy: 2 }, 'False', true],
      [{}, { currentHealthy: 2, desiredHealthy: 2 }, 'True', false],
      [{ unhealthyPodEvictionPolicy: 'IfHealthyBudget' }, { currentHealthy: 1, desiredHealthy: 2 }, 'False', false],
      [{}, { currentHealthy: 0, desiredHealthy: 0 }, 'False', false],
      [{ unhealthyPodEvictionPolicy: 'AlwaysAllow' }, {}, 'Unknown', true],
      [{ unhealthyPodEvictionPolicy: 'AlwaysAllow' }, {}, 'True', false],
    ];
    for (const [spec, status, ready, expected] of cases) {
      assert.equal(mayGoUnhealthy(budget(status, spec), pod('Running', ready)), expected, JSON.stringify([spec, status, ready]));
    }
  });
});
