/** Each check finds what it is for in a made-up bad history, and nothing in the good one it was made from. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  disorder,
  errorLines,
  gaps,
  idleWrites,
  lostWrites,
  orphans,
  type State,
  stuckTerminating,
  unfinished,
  unseenWrites,
} from './checks.ts';
import type { ObjectFacts, SeenEvent, Watched, Write } from './history.ts';

const object = (name: string, revision: number, more: Partial<ObjectFacts> = {}): ObjectFacts => ({
  namespace: 'default',
  name,
  uid: `uid-${name}`,
  revision,
  terminating: false,
  ...more,
});
const event = (type: SeenEvent['type'], name: string, revision: number, more: Partial<ObjectFacts> = {}): SeenEvent => ({
  type,
  ...object(name, revision, more),
});
const watched = (events: readonly SeenEvent[], more: Partial<Watched> = {}): Watched => ({
  resource: 'configmaps',
  initial: [object('a', 1)],
  events,
  resumes: 0,
  errors: [],
  ...more,
});

test('a lost write is one whose name holds something older, something else, or nothing', async (t) => {
  const writes: Write[] = [
    { name: 'a', value: 1, revision: 10 },
    { name: 'a', value: 2, revision: 20 },
    { name: 'a', value: 3 },
  ];
  const cases: readonly (readonly [string, readonly ObjectFacts[], lost: boolean])[] = [
    ['the acknowledged one is stored', [object('a', 20, { value: 2 })], false],
    ['the unanswered one after it is stored', [object('a', 25, { value: 3 })], false],
    ['the one before is stored', [object('a', 10, { value: 1 })], true],
    ['its value is stored, but at another revision', [object('a', 19, { value: 2 })], true],
    ['the unanswered one is stored, but at a revision before', [object('a', 15, { value: 3 })], true],
    ['another value is stored at its revision', [object('a', 20, { value: 9 })], true],
    ['only another name is stored', [object('b', 20, { value: 2 })], true],
    ['nothing is stored', [], true],
  ];
  for (const [what, stored, lost] of cases) await t.test(what, () => assert.equal(lostWrites(writes, stored).length, Number(lost)));
  assert.deepEqual(lostWrites([{ name: 'a', value: 1 }], []), [], 'what was never acknowledged may be missing');
});

test('a watcher must see each acknowledged write at its revision', async (t) => {
  const writes: Write[] = [
    { name: 'a', value: 1, revision: 10 },
    { name: 'a', value: 2 },
  ];
  const cases: readonly (readonly [string, readonly SeenEvent[], unseen: number])[] = [
    ['seen', [event('MODIFIED', 'a', 10, { value: 1 })], 0],
    ['seen at another revision', [event('MODIFIED', 'a', 11, { value: 1 })], 1],
    ['seen with another value', [event('MODIFIED', 'a', 10, { value: 0 })], 1],
    ['another object at its revision', [event('ADDED', 'b', 10, { value: 1 })], 1],
    ['not seen', [], 1],
  ];
  for (const [what, events, unseen] of cases) await t.test(what, () => assert.equal(unseenWrites(writes, watched(events)).length, unseen));
});

test('a watch is in disorder when it repeats, goes back or contradicts itself', async (t) => {
  const good = [event('MODIFIED', 'a', 2), event('ADDED', 'b', 3), event('DELETED', 'a', 4), event('ADDED', 'a', 5)];
  assert.deepEqual(disorder(watched(good)), []);
  const cases: readonly (readonly [string, readonly SeenEvent[], RegExp])[] = [
    ['an event twice', [good[0]!, good[0]!], /MODIFIED default\/a at revision 2 repeats/],
    ['two events swapped', [event('MODIFIED', 'a', 3), event('MODIFIED', 'a', 2)], /comes after revision 3/],
    ['an event from before the start', [event('MODIFIED', 'a', 1)], /repeats/],
    ['added though there', [event('ADDED', 'a', 2)], /it was there/],
    ['modified though not there', [event('MODIFIED', 'b', 2)], /it was not there/],
    ['deleted twice', [event('DELETED', 'a', 2), event('DELETED', 'a', 3)], /it was not there/],
  ];
  for (const [what, events, expected] of cases)
    await t.test(what, () => {
      const violations = disorder(watched(events));
      assert.equal(violations.length, 1);
      assert.match(violations[0]!, expected);
    });
  assert.match(disorder(watched([], { errors: ['{"code":410}'] }))[0]!, /410/, 'an ERROR event');
});

test('a gap shows when the events do not lead to what is there in the end', async (t) => {
  const final = [object('a', 4), object('b', 3)];
  const whole = [event('ADDED', 'b', 3), event('MODIFIED', 'a', 4)];
  assert.deepEqual(gaps(watched(whole), final), []);
  assert.deepEqual(gaps(watched([...whole, event('DELETED', 'b', 5)]), [object('a', 4)]), []);
  const cases: readonly (readonly [string, readonly SeenEvent[], readonly ObjectFacts[], RegExp])[] = [
    ['a missing change', whole.slice(0, 1), final, /default\/a is at revision 4, a watcher knows revision 1/],
    ['a missing addition', whole.slice(1), final, /default\/b is at revision 3, a watcher does not know it/],
    ['a missing deletion', whole, [object('a', 4)], /default\/b is gone/],
  ];
  for (const [what, events, there, expected] of cases)
    await t.test(what, () => assert.match(gaps(watched(events), there).join(), expected));
});

const settled: State = {
  namespaces: [object('default', 1, { namespace: '' })],
  deployments: [object('web', 9, { replicas: 1, updated: 1, ready: 1, generation: 2, observedGeneration: 2 })],
  replicasets: [object('web-1', 8, { owner: 'uid-web' })],
  pods: [object('web-1-x', 7, { owner: 'uid-web-1', ready: 1 })],
};

test('the settled state violates nothing', () => {
  assert.deepEqual([...orphans(settled), ...stuckTerminating(settled), ...unfinished(settled)], []);
});

test('orphans are pods and replicasets whose owner is gone or was never named, and what outlives its namespace', async (t) => {
  const cases: readonly (readonly [string, Partial<State>, RegExp])[] = [
    [
      'a pod of a replicaset that is gone',
      { pods: [...settled.pods, object('lost', 5, { owner: 'uid-gone' })] },
      /^pod default\/lost has no owner$/,
    ],
    ['a pod without an owner', { pods: [...settled.pods, object('lost', 5)] }, /^pod default\/lost has no owner$/],
    ['a replicaset of a deployment that is gone', { deployments: [] }, /^replicaset default\/web-1 has no owner$/],
    ['a namespace that is gone', { namespaces: [] }, /namespace that is gone/],
  ];
  for (const [what, change, expected] of cases) await t.test(what, () => assert.match(orphans({ ...settled, ...change }).join(), expected));
});

test('what is still terminating in the end is stuck, whatever it is', async (t) => {
  for (const resource of ['namespaces', 'deployments', 'replicasets', 'pods'] as const)
    await t.test(resource, () => {
      const state = { ...settled, [resource]: [object('slow', 5, { terminating: true })] };
      assert.deepEqual(stuckTerminating(state), [`${resource} default/slow is still terminating`]);
    });
});

test('a deployment is unfinished by its status or by its pods', async (t) => {
  const [web, pod] = [settled.deployments[0]!, settled.pods[0]!];
  const cases: readonly (readonly [string, Partial<State>])[] = [
    ['not observed', { deployments: [{ ...web, observedGeneration: 1 }] }],
    ['not updated', { deployments: [{ ...web, updated: 0 }] }],
    ['not available', { deployments: [{ ...web, ready: 0 }] }],
    ['no pod', { pods: [] }],
    ['a pod that is not ready', { pods: [{ ...pod, ready: 0 }] }],
    ['a pod that is ending', { pods: [{ ...pod, terminating: true }] }],
    ['a pod too many', { pods: [pod, { ...pod, name: 'more' }] }],
  ];
  for (const [what, change] of cases) await t.test(what, () => assert.equal(unfinished({ ...settled, ...change }).length, 1));
});

test('lines of a log that are errors, or that no logger wrote, are unexpected', async (t) => {
  const line = (level: number, msg: string): string => `${JSON.stringify({ level, msg })}\n`;
  const cases: readonly (readonly [string, string, number])[] = [
    ['information and warnings', line(30, 'ready') + line(40, 'no answer'), 0],
    ['an expected error', line(50, 'lost leadership, standing for election again'), 0],
    ['an error', line(30, 'ready') + line(50, 'request failed'), 1],
    ['a fatal error', line(60, 'unexpected error'), 1],
    ['what a runtime prints when it falls over', 'TypeError: x is not a function\n    at run (main.js:1:1)\n', 2],
    ['JSON that is no log line', '{"a":1}\n', 1],
  ];
  for (const [what, log, count] of cases) await t.test(what, () => assert.equal(errorLines('apiserver', log).length, count));
});

test('idle writes are all but those of leases, also of resources that nobody watched', async (t) => {
  const leases = { resource: 'leases', events: [event('MODIFIED', 'node-1', 2), event('MODIFIED', 'node-1', 3)] };
  const nodes = { resource: 'nodes', events: [event('MODIFIED', 'node-1', 4, { namespace: '' })] };
  const cases: readonly (readonly [string, Parameters<typeof idleWrites>, readonly string[]])[] = [
    ['nothing', [0, []], []],
    ['leases', [2, [leases]], []],
    ['a node', [3, [leases, nodes]], ['nodes node-1 MODIFIED, 1 times']],
    ['something not watched', [4, [leases]], ['2 writes of other resources']],
  ];
  for (const [what, [revisions, seen], expected] of cases)
    await t.test(what, () => assert.deepEqual(idleWrites(revisions, seen), expected));
});
