/** How far a rollout is, state by state. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AnyObject } from '../../machinery/api/object.ts';
import { rolloutState } from './status.ts';

const deployment = (status: object, rest: object = {}): AnyObject =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', generation: 2 },
    spec: { replicas: 3 },
    status: { observedGeneration: 2, ...status },
    ...rest,
  }) as unknown as AnyObject;

describe('how far a rollout is', () => {
  const waiting = 'Waiting for deployment "web" rollout to finish:';
  const cases: [name: string, status: object, text: string, done: boolean][] = [
    ['not yet observed', { observedGeneration: 1 }, 'Waiting for deployment spec update to be observed...\n', false],
    ['new pods are missing', { updatedReplicas: 1 }, `${waiting} 1 out of 3 new replicas have been updated...\n`, false],
    ['old pods are left', { updatedReplicas: 3, replicas: 4 }, `${waiting} 1 old replicas are pending termination...\n`, false],
    [
      'new pods are not available',
      { updatedReplicas: 3, replicas: 3, availableReplicas: 2 },
      `${waiting} 2 of 3 updated replicas are available...\n`,
      false,
    ],
    ['done', { updatedReplicas: 3, replicas: 3, availableReplicas: 3 }, 'deployment "web" successfully rolled out\n', true],
  ];
  for (const [name, status, text, done] of cases) test(name, () => assert.deepEqual(rolloutState(deployment(status), 0), { text, done }));

  test('a missed deadline is a failure', () => {
    const conditions = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
    assert.throws(() => rolloutState(deployment({ conditions }), 0), { message: 'deployment "web" exceeded its progress deadline' });
  });
});
