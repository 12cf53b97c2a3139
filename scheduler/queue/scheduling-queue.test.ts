/** The order of waiting pods, their back-off and what wakes them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../machinery/process/testing/fake-clock.ts';
import { makePod } from '../testing/fixtures.ts';
import { type QueueDeps, SchedulingQueue } from './scheduling-queue.ts';

function makeQueue(over: Partial<QueueDeps> = {}): { queue: SchedulingQueue; clock: FakeClock; pop: () => string | undefined } {
  const clock = new FakeClock();
  const queue = new SchedulingQueue({
    clock,
    initialBackOffMs: 1000,
    maxBackOffMs: 10_000,
    mayHelp: () => true,
    isGated: (pod) => pod.spec.schedulingGates !== undefined,
    onActive: () => undefined,
    ...over,
  });
  return { queue, clock, pop: () => queue.pop()?.pod.metadata.name };
}

test('the higher priority comes first, then who waited longer', async () => {
  const { queue, clock, pop } = makeQueue();
  queue.put(makePod('a'));
  await clock.advance(1);
  queue.put(makePod('b', { priority: 10 }));
  await clock.advance(1);
  queue.put(makePod('c'));
  assert.deepEqual([pop(), pop(), pop(), pop()], ['b', 'a', 'c', undefined]);
});

test('back-off grows from 1 s to 10 s with every try', async () => {
  const { queue, clock } = makeQueue();
  queue.put(makePod('a'));
  const waits: number[] = [];
  for (let i = 0; i < 6; i++) {
    const item = queue.pop();
    assert.ok(item);
    queue.putUnschedulable(item, new Set(['NodeResourcesFit']));
    queue.wake({ kind: 'any' });
    let waited = 0;
    while (queue.sizes.active === 0) {
      await clock.advance(500);
      waited += 500;
    }
    waits.push(waited);
  }
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 10_000, 10_000]);
});

test('only an event that may help wakes a pod', async () => {
  const { queue, clock } = makeQueue({
    mayHelp: (_pod, rejectedBy, event) => rejectedBy.has('NodeAffinity') && event.kind === 'node-labels',
  });
  queue.put(makePod('a'));
  queue.putUnschedulable(queue.pop()!, new Set(['NodeAffinity']));
  await clock.advance(20_000);
  queue.wake({ kind: 'pod-removed', pod: makePod('x') });
  assert.equal(queue.sizes.unschedulable, 1);
  queue.wake({ kind: 'node-labels', node: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec: {} } });
  assert.equal(queue.sizes.active, 1);
});

test('after five minutes a pod is tried again without any event', async () => {
  const { queue, clock } = makeQueue({ mayHelp: () => false });
  queue.start();
  queue.put(makePod('a'));
  queue.putUnschedulable(queue.pop()!, new Set(['NodeAffinity']));
  await clock.advance(5 * 60_000);
  assert.equal(queue.sizes.active, 0);
  await clock.advance(31_000);
  assert.equal(queue.sizes.active, 1);
  queue.stop();
});

test('a gated pod waits until its gates are gone', () => {
  const { queue, pop } = makeQueue();
  const gated = makePod('a', { spec: { schedulingGates: [{ name: 'g' }] } });
  queue.put(gated);
  assert.equal(queue.sizes.gated, 1);
  queue.wake({ kind: 'any' });
  assert.equal(pop(), undefined);
  queue.put(makePod('a'));
  assert.equal(pop(), 'a');
});

test('our own status write is no reason to try again', () => {
  const { queue } = makeQueue();
  const pod = makePod('a');
  queue.put(pod);
  queue.putUnschedulable(queue.pop()!, new Set(['NodeAffinity']));
  queue.put({ ...pod, status: { conditions: [{ type: 'PodScheduled', status: 'False' }] } });
  assert.equal(queue.sizes.unschedulable, 1);
  queue.put({ ...pod, metadata: { ...pod.metadata, labels: { new: 'label' } } });
  assert.equal(queue.sizes.unschedulable, 0);
});

test('a removed pod is nowhere', () => {
  const { queue } = makeQueue();
  queue.put(makePod('a'));
  queue.remove('default-a');
  assert.deepEqual(queue.sizes, { active: 0, backoff: 0, unschedulable: 0, gated: 0 });
});
