/** How long a client waits before it tries again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tooManyRequests } from '../api/status.ts';
import { FakeClock } from '../process/testing/fake-clock.ts';
import { Backoff } from './backoff.ts';
import { ConnectionError } from './errors.ts';

const refused = new ConnectionError('s', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
const lost = new ConnectionError('s', Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }));
const busy = tooManyRequests('busy', 0);

function waits(error: unknown, count: number, draw: number): number[] {
  const random = { next: () => draw, integer: () => 0, uuid: () => '', suffix: () => '' };
  const backoff = new Backoff({ clock: new FakeClock(), random });
  return Array.from({ length: count }, () => Math.round(backoff.next(error)));
}

test('where nobody listens a try is made several times a second; a lost connection waits at most 5 s; a busy server up to 30 s', () => {
  assert.deepEqual(waits(refused, 5, 0), [50, 100, 200, 200, 200]);
  assert.deepEqual(waits(lost, 9, 0), [50, 100, 200, 400, 800, 1600, 2500, 2500, 2500]);
  assert.deepEqual(waits(busy, 7, 0), [800, 1600, 3200, 6400, 12_800, 15_000, 15_000]);
  for (const [error, most] of [
    [refused, 400],
    [lost, 5_000],
    [busy, 30_000],
  ] as const)
    assert.ok(waits(error, 50, 0.999).every((ms) => ms <= most));
});

test('a success, or two quiet minutes, make the next failure a first one', async () => {
  const clock = new FakeClock();
  const backoff = new Backoff({ clock, random: { next: () => 0, integer: () => 0, uuid: () => '', suffix: () => '' } });
  for (let i = 0; i < 5; i++) backoff.next(busy);
  backoff.reset();
  assert.equal(backoff.next(busy), 800);
  assert.equal(backoff.next(busy), 1600);
  await clock.advance(121_000);
  assert.equal(backoff.next(busy), 800);
});
