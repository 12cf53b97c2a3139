/** The semantics of client-go workqueue, on a fake clock (K8). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../process/testing/fake-clock.ts';
import { Workqueue } from './workqueue.ts';

const setup = (): { clock: FakeClock; queue: Workqueue } => {
  const clock = new FakeClock();
  return { clock, queue: new Workqueue(clock) };
};

test('a key added twice is got once', async () => {
  const { queue } = setup();
  queue.add('a');
  queue.add('b');
  queue.add('a');
  assert.equal(await queue.get(), 'a');
  assert.equal(await queue.get(), 'b');
  assert.equal(queue.length, 0);
});

test('a key added while it is worked on comes again, but not before it is done', async () => {
  const { queue } = setup();
  queue.add('a');
  assert.equal(await queue.get(), 'a');
  queue.add('a');
  assert.equal(queue.length, 0);
  queue.done('a');
  assert.equal(queue.length, 1);
  assert.equal(await queue.get(), 'a');
  queue.done('a');
  assert.equal(queue.length, 0);
});

test('a waiting worker gets the next key', async () => {
  const { queue } = setup();
  const first = queue.get();
  const second = queue.get();
  queue.add('a');
  queue.add('b');
  assert.deepEqual(await Promise.all([first, second]), ['a', 'b']);
});

test('of several delays the earliest counts', async () => {
  const { clock, queue } = setup();
  queue.addAfter('a', 100);
  queue.addAfter('a', 50);
  queue.addAfter('a', 200);
  await clock.advance(49);
  assert.equal(queue.length, 0);
  await clock.advance(1);
  assert.equal(queue.length, 1);
  assert.equal(await queue.get(), 'a');
  queue.done('a');
  await clock.advance(1000);
  assert.equal(queue.length, 0);
});

test('a key that keeps failing waits 5, 10, 20 … ms, and from the start after forget', async () => {
  const { clock, queue } = setup();
  queue.add('a');
  for (const waitMs of [5, 10, 20, 40]) {
    assert.equal(await queue.get(), 'a');
    queue.addRateLimited('a');
    queue.done('a');
    await clock.advance(waitMs - 1);
    assert.equal(queue.length, 0, `before ${waitMs} ms`);
    await clock.advance(1);
    assert.equal(queue.length, 1, `after ${waitMs} ms`);
  }
  assert.equal(queue.failures('a'), 4);
  await queue.get();
  queue.forget('a');
  queue.addRateLimited('a');
  queue.done('a');
  await clock.advance(5);
  assert.equal(queue.length, 1);
});

test('the wait of one key never grows beyond 1000 s', async () => {
  const { clock, queue } = setup();
  for (let i = 0; i < 40; i++) {
    queue.addRateLimited('a');
    await clock.advance(1_000_000);
    assert.equal(await queue.get(), 'a');
    queue.done('a');
  }
});

test('over all keys a hundred retries go at once, then ten a second', async () => {
  const { clock, queue } = setup();
  for (let i = 0; i < 120; i++) queue.addRateLimited(`key-${i}`);
  await clock.advance(5);
  assert.equal(queue.length, 100);
  await clock.advance(995);
  assert.equal(queue.length, 110);
  await clock.advance(1000);
  assert.equal(queue.length, 120);
});

test('a change during back-off is worked on at once', async () => {
  const { queue } = setup();
  for (let i = 0; i < 10; i++) queue.addRateLimited('a');
  queue.add('a');
  assert.equal(queue.length, 1);
});

test('closing ends every worker and hands out nothing more', async () => {
  const { clock, queue } = setup();
  const waiting = queue.get();
  queue.addAfter('a', 10);
  queue.close();
  assert.equal(await waiting, undefined);
  queue.add('b');
  await clock.advance(100);
  assert.equal(await queue.get(), undefined);
});

test('many keys keep their order', async () => {
  const { queue } = setup();
  const keys = Array.from({ length: 5000 }, (_, i) => `k${i}`);
  for (const key of keys) queue.add(key);
  const got: (string | undefined)[] = [];
  for (let i = 0; i < keys.length; i++) {
    got.push(await queue.get());
    queue.done(keys[i]!);
  }
  assert.deepEqual(got, keys);
});

test('a key that rests is not got again before its rest is over, however often it is added; others are', async () => {
  const clock = new FakeClock();
  const queue = new Workqueue(clock);
  queue.add('dear');
  assert.equal(await queue.get(), 'dear');
  queue.add('dear');
  queue.done('dear', 30);
  queue.add('dear');
  queue.add('other');
  assert.equal(await queue.get(), 'other');
  assert.equal(queue.length, 0);
  await clock.advance(30);
  assert.equal(queue.length, 1);
  assert.equal(await queue.get(), 'dear');
});
