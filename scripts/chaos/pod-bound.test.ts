/** The bound of pods on made-up histories: what breaks it is found, what a shrinking spec excuses is not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SeenEvent, Watched } from './history.ts';
import { tooManyPods } from './pod-bound.ts';

type Step = readonly [
  resource: 'deployments' | 'replicasets' | 'pods',
  event: Omit<SeenEvent, 'namespace' | 'revision' | 'terminating'> & { terminating?: boolean },
];

/** Each step is the next revision. */
function judge(steps: readonly Step[]): string[] {
  const of = (resource: Step[0]): Watched => ({
    resource,
    initial: [],
    events: steps.flatMap(([each, event], i) =>
      each === resource ? [{ namespace: 'default', terminating: false, ...event, revision: i + 1 }] : [],
    ),
    resumes: 0,
    errors: [],
  });
  return tooManyPods({ deployments: of('deployments'), replicasets: of('replicasets'), pods: of('pods') });
}

const deployment = (replicas: number, generation: number, observedGeneration: number, type: SeenEvent['type'] = 'MODIFIED'): Step => [
  'deployments',
  { type, name: 'web', uid: 'web', replicas, maxSurge: 1, generation, observedGeneration },
];
const set = (name: string, replicas: number, generation: number, observedGeneration: number, owner = 'web'): Step => [
  'replicasets',
  {
    type: generation === 1 && observedGeneration === 0 ? 'ADDED' : 'MODIFIED',
    name,
    uid: name,
    owner,
    replicas,
    generation,
    observedGeneration,
  },
];
const pod = (name: string, owner: string, type: SeenEvent['type'] = 'ADDED'): Step => ['pods', { type, name, uid: name, owner }];
const ending = (name: string, owner: string): Step => ['pods', { type: 'MODIFIED', name, uid: name, owner, terminating: true }];

/** Two replicas, all running. */
const running: readonly Step[] = [
  deployment(2, 1, 0, 'ADDED'),
  set('old', 2, 1, 0),
  pod('a', 'old'),
  pod('b', 'old'),
  set('old', 2, 1, 1),
  deployment(2, 1, 1),
];

test('histories within the bound', async (t) => {
  const cases: readonly (readonly [string, readonly Step[]])[] = [
    ['running', running],
    ['one more while rolling out', [...running, set('new', 1, 1, 0), pod('c', 'new')]],
    ['a new one for one that is ending', [...running, ending('a', 'old'), pod('c', 'old')]],
    ['a new one for one that is gone', [...running, pod('a', 'old', 'DELETED'), pod('c', 'old')]],
    [
      'a spec that shrank and was not yet seen',
      [...running, deployment(1, 2, 1), ending('a', 'old'), ending('b', 'old'), pod('c', 'old'), pod('d', 'old')],
    ],
    [
      'a pod seen first, then its spec shrinks',
      [...running, deployment(0, 2, 1), set('old', 0, 2, 1), set('old', 0, 2, 2), deployment(0, 2, 2)],
    ],
    [
      'an adopted replicaset that is larger',
      [set('old', 5, 1, 0, 'former'), deployment(1, 1, 0, 'ADDED'), set('old', 5, 1, 1), pod('a', 'old')],
    ],
    ['a pod of nobody', [...running, pod('x', 'gone'), pod('y', 'gone'), pod('z', 'gone')]],
  ];
  for (const [what, steps] of cases) await t.test(what, () => assert.deepEqual(judge(steps), []));
});

test('histories beyond the bound', async (t) => {
  const cases: readonly (readonly [string, readonly Step[], RegExp])[] = [
    ['a replicaset makes one too many', [...running, pod('c', 'old')], /^replicaset old: 3 pods at revision 7, at most 2 are allowed$/],
    [
      'replicasets ask for too many',
      [...running, set('new', 2, 1, 0)],
      /^deployment web: its replicasets ask for 4 at revision 7, at most 3 are allowed$/,
    ],
    [
      'a replicaset was made smaller, but its pod runs while another is added',
      [...running, set('old', 1, 2, 1), set('new', 2, 1, 0), pod('c', 'new'), pod('d', 'new')],
      /^deployment web: 4 pods at revision 10, at most 3 are allowed$/,
    ],
    [
      'a pod is added after the smaller spec was seen',
      [...running, deployment(1, 2, 1), set('old', 1, 2, 1), ending('a', 'old'), set('old', 1, 2, 2), deployment(1, 2, 2), pod('c', 'old')],
      /^replicaset old: 2 pods at revision 12, at most 1 are allowed$/,
    ],
  ];
  for (const [what, steps, expected] of cases)
    await t.test(what, () => {
      const violations = judge(steps);
      assert.equal(violations.length, 1, violations.join('\n'));
      assert.match(violations[0]!, expected);
    });
});
