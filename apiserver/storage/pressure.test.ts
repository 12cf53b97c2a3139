/** How full a store is: what counts, what is said, and that history goes sooner. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { silentLogger } from '../../machinery/process/logger.ts';
import { FakeClock } from '../../machinery/process/testing/fake-clock.ts';
import { runCompactor } from './compactor.ts';
import { type Store, StoreFull } from './interface.ts';
import { createMemoryStore } from './memory/store.ts';
import { pressureOf, quotaBytesOf, warnOfPressure } from './pressure.ts';

const bytes = (count: number) => (): Buffer => Buffer.alloc(count);
const KEY = '/core/pods/x/a';

async function filledTo(quotaBytes: number, count: number): Promise<Store> {
  const store = createMemoryStore({ quotaBytes });
  await store.create(KEY, bytes(count));
  return store;
}

it('reads the quota as etcd does', () => {
  assert.deepEqual([quotaBytesOf(0), quotaBytesOf(-1), quotaBytesOf(5)], [2 * 1024 ** 3, 0, 5]);
});

it('counts history as well as objects, until it is compacted', async () => {
  const store = createMemoryStore();
  await store.create(KEY, bytes(1000));
  const one = store.size().used;
  assert.ok(one >= 1000);
  await store.update(KEY, 2, bytes(1000));
  assert.equal(store.size().used, 2 * one);
  await store.compact(3);
  assert.equal(store.size().used, one);
  await store.delete(KEY, 3, bytes(1000));
  await store.compact(4);
  assert.equal(store.size().used, 0);
});

it('refuses at the quota what is not urgent, a sixteenth above it what is, and never a deletion', async () => {
  const store = await filledTo(10_000, 9_000);
  await assert.rejects(store.update(KEY, 2, bytes(1000)), StoreFull);
  await assert.rejects(store.create('/core/pods/x/b', bytes(1000)), StoreFull);
  const urgent = { fromReserve: true };
  await store.update(KEY, 2, bytes(1000), urgent);
  await assert.rejects(store.update(KEY, 3, bytes(1000), urgent), StoreFull);
  assert.equal(store.revision, 3, 'what is refused uses up no revision');
  await store.delete(KEY, 3, bytes(1000));
});

it('warns once when it becomes tight, once when it is full, and tells when there is room again', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const told: string[] = [];
  const tell =
    (level: string) =>
    (_: object, message: string): void =>
      void told.push(`${level}: ${message.split(':')[0]}`);
  const logger = Object.assign(Object.create(silentLogger), { info: tell('info'), warn: tell('warn'), error: tell('error') });
  const store = await filledTo(10_000, 8_500);
  const done = warnOfPressure(store, { clock, logger, signal: stop.signal });
  await clock.advance(10_000);
  await store.create('/core/pods/x/b', bytes(1000));
  await clock.advance(10_000);
  await store.delete(KEY, 2, bytes(0));
  await store.compact(store.revision);
  await clock.advance(10_000);
  stop.abort();
  await done;
  assert.deepEqual(told, ['warn: the store is nearly full', 'error: the store is full', 'info: the store has room again']);
});

it('lets all history but that of the last seconds go while it is full', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const store = await filledTo(10_000, 9_600);
  const done = runCompactor(store, 300_000, { clock, signal: stop.signal });
  await store.delete(KEY, 2, bytes(10));
  assert.equal(pressureOf(store), 'full');
  await clock.advance(5_000);
  await clock.advance(5_000);
  assert.equal(pressureOf(store), 'room');
  stop.abort();
  await done;
});
