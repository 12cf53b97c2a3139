/** A few at a time, in order. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { turnEnd } from './clock.ts';
import { Gate } from './gate.ts';

it('lets in as many as there are places, the others in order, also after a failure', async () => {
  const gate = new Gate(2);
  const log: string[] = [];
  let inside = 0;
  const all = [0, 1, 2, 3, 4].map((i) =>
    gate.run(async () => {
      assert.ok(++inside <= 2);
      log.push(`in ${i}`);
      await turnEnd();
      inside--;
      if (i === 1) throw new Error('one');
    }),
  );
  const settled = await Promise.allSettled(all);
  assert.deepEqual(
    settled.map(({ status }) => status === 'fulfilled'),
    [true, false, true, true, true],
  );
  assert.deepEqual(log, ['in 0', 'in 1', 'in 2', 'in 3', 'in 4']);
});
