/** Bounds of what requests hold for their clients. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { RequestContext } from './context.ts';
import { createHeldMemory } from './held-memory.ts';
import { TooManyInFlight } from './in-flight.ts';

const KB = 1024;

function request(): RequestContext & { cut: boolean; end(): void } {
  const cleanups: (() => void)[] = [];
  const made = {
    cut: false,
    cleanups,
    reply: {
      raw: {
        socket: {
          destroy: () => {
            made.cut = true;
          },
        },
      },
    },
    end: () => {
      for (const cleanup of cleanups) cleanup();
    },
  };
  return made as never;
}

it('large bodies beyond the bound are turned away, small ones are taken, and room comes back', () => {
  const memory = createHeldMemory(1000 * KB);
  const first = request();
  for (let kb = 100; kb <= 600; kb += 100) memory.body(first, kb * KB);
  memory.body(request(), 400 * KB);
  assert.throws(() => memory.body(request(), 65 * KB), TooManyInFlight);
  memory.body(request(), 64 * KB);
  first.end();
  memory.body(request(), 600 * KB);
});

it('of answers that are not read the oldest is cut off, never the one that is given', () => {
  const memory = createHeldMemory(2000 * KB);
  const all = [400, 400, 400, 2000].map((kb) => ({ of: request(), kb }));
  for (const { of, kb } of all.slice(0, 3)) memory.answer(of, kb * KB);
  assert.deepEqual(
    all.map(({ of }) => of.cut),
    [true, false, false, false],
  );
  all[1]!.of.end();
  memory.answer(all[3]!.of, 2000 * KB);
  assert.deepEqual(
    all.map(({ of }) => of.cut),
    [true, false, true, false],
  );
});
