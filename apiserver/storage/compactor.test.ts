/** When history goes. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FakeClock } from '../../machinery/process/testing/fake-clock.ts';
import { runCompactor } from './compactor.ts';
import { createMemoryStore } from './memory/store.ts';

it('keeps one interval of history, and ends with its signal', async () => {
  const clock = new FakeClock();
  const store = createMemoryStore();
  const stop = new AbortController();
  const done = runCompactor(store, 300_000, { clock, signal: stop.signal });
  const write = (name: string) => store.create(`/core/pods/x/${name}`, () => Buffer.from(name));
  await write('a');
  await clock.advance(300_000);
  assert.equal(store.compactedRevision, 1, 'what was there at the start');
  await write('b');
  await clock.advance(290_000);
  assert.equal(store.compactedRevision, 1);
  await clock.advance(10_000);
  assert.equal(store.compactedRevision, 2, 'what was there one interval ago');
  await clock.advance(300_000);
  assert.equal(store.compactedRevision, 3);
  stop.abort();
  await done;
});
