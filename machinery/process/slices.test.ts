/** Work in slices: the same result, and a turn for others in between. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { systemClock } from './clock.ts';
import { inSlices } from './slices.ts';

it('makes of every item in order, at once where that is quick', () => {
  assert.deepEqual(
    inSlices(systemClock, [1, 2, 3], (n) => n * 2),
    [2, 4, 6],
  );
});

it('gives others their turn when it takes longer, and stops at what throws', async () => {
  let now = 0;
  const clock = { ...systemClock, monotonicMs: () => now };
  let turns = 0;
  const count = setInterval(() => turns++, 0);
  const items = Array.from({ length: 1000 }, (_, i) => i);
  const made = inSlices(clock, items, (n) => {
    now++;
    return n;
  });
  assert.ok(made instanceof Promise);
  assert.deepEqual(await made, items);
  clearInterval(count);
  assert.ok(turns > 0);
  const failing = inSlices(clock, items, (n) => {
    now++;
    if (n === 500) throw new Error('five hundred');
  });
  await assert.rejects(async () => failing, /five hundred/);
});
