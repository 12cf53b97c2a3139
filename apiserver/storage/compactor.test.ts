import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Clock, sleepOn } from '../../machinery/process/clock.ts';
import { runCompactor } from './compactor.ts';
import { createMemoryStore } from './memory/store.ts';

it('keeps one interval of history, and ends with its signal', async () => {
  let nowMs = 0;
  let due: { at: number; callback: () => void } | undefined;
  const clock: Clock = {
    now: () => new Date(nowMs),
    monotonicMs: () => nowMs,
    setTimer: (delayMs, callback) => {
      due = { at: nowMs + delayMs, callback };
      return () => {};
    },
    sleep: (delayMs, signal) => sleepOn(clock, delayMs, signal),
  };
  const pass = async (ms: number): Promise<void> => {
    for (const end = nowMs + ms; nowMs < end; ) {
      nowMs = Math.min(end, due?.at ?? end);
      if (due !== undefined && due.at <= nowMs) due.callback();
      for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const store = createMemoryStore();
  const stop = new AbortController();
  const done = runCompactor(store, 300_000, { clock, signal: stop.signal });
  const write = (name: string) => store.create(`/core/pods/x/${name}`, () => Buffer.from(name));
  await write('a');
  await pass(300_000);
  assert.equal(store.compactedRevision, 1, 'what was there at the start');
  await write('b');
  await pass(290_000);
  assert.equal(store.compactedRevision, 1);
  await pass(10_000);
  assert.equal(store.compactedRevision, 2, 'what was there one interval ago');
  await pass(300_000);
  assert.equal(store.compactedRevision, 3);
  stop.abort();
  await done;
});
