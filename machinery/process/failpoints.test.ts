/** Arming and passing failpoints. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { armFailpoints, asyncFailpoint, failpoint, failpointPasses } from './failpoints.ts';
import { seededRandom } from './random.ts';
import { FakeClock } from './testing/fake-clock.ts';

afterEach(() => armFailpoints(''));

test('an unarmed failpoint does nothing', () => {
  failpoint('x');
  assert.equal(asyncFailpoint('x'), undefined);
  assert.deepEqual(failpointPasses(), {});
});

test('error throws so often as it is told to, and passes are counted', () => {
  armFailpoints('x=2*error(broken)');
  assert.throws(() => failpoint('x'), /broken/);
  assert.throws(() => failpoint('x'), /broken/);
  failpoint('x');
  failpoint('y');
  assert.deepEqual(failpointPasses(), { x: 3 });
});

test('so many passes go by before it acts', () => {
  armFailpoints('x=2+1*error');
  failpoint('x');
  failpoint('x');
  assert.throws(() => failpoint('x'));
  failpoint('x');
  assert.deepEqual(failpointPasses(), { x: 4 });
});

test('sleep waits on the clock', async () => {
  const clock = new FakeClock();
  armFailpoints('x=sleep(50)', { clock });
  let woken = false;
  const waiting = asyncFailpoint('x')?.then(() => {
    woken = true;
  });
  await clock.advance(49);
  assert.equal(woken, false);
  await clock.advance(1);
  await waiting;
  assert.equal(woken, true);
});

test('a percentage acts in so many passes', () => {
  armFailpoints('x=25%error', { random: seededRandom(7) });
  let thrown = 0;
  for (let i = 0; i < 1000; i++) {
    try {
      failpoint('x');
    } catch {
      thrown++;
    }
  }
  assert.ok(thrown > 200 && thrown < 300, String(thrown));
});

test('text that cannot be read is refused by name', () => {
  for (const text of ['x', 'x=', 'x=explode', 'x=3*', '=crash']) assert.throws(() => armFailpoints(text), /failpoint ".*" is not/, text);
});
