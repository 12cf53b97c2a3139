/** What waits for slow watchers: shared bytes are counted once, and who waits for too much is cut off. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Backlog, HeldBytes } from './backlog.ts';
import { RecordingSink, setup } from './testing/watches.ts';

const LARGE = 100_000;

describe('the backlogs of watchers', () => {
  it('hand over in order what did not fit, as the connection takes it', () => {
    const sink = new RecordingSink();
    const held = new HeldBytes();
    const backlog = new Backlog(sink, held, () => assert.fail('cut off'));
    sink.stalled = true;
    const sent = Array.from({ length: 10 }, (_, i) => String(i).repeat(LARGE));
    for (const text of sent) backlog.write(Buffer.from(text));
    assert.equal(sink.text.length, LARGE);
    assert.equal(held.bytes, 9 * LARGE);
    assert.equal(backlog.pendingBytes, 10 * LARGE);
    for (let i = 0; i < 10; i++) sink.drain();
    assert.equal(sink.text, sent.join(''));
    assert.deepEqual([held.bytes, backlog.pendingBytes], [0, 0]);
  });

  it('count bytes once that several wait for, and cut off first who has been behind for longest', () => {
    const held = new HeldBytes(4 * LARGE);
    const cut: number[] = [];
    const backlogs = Array.from({ length: 50 }, (_, i) => {
      const sink = Object.assign(new RecordingSink(), { pendingBytes: LARGE });
      const backlog: Backlog = new Backlog(sink, held, () => {
        cut.push(i);
        backlog.drop();
      });
      return backlog;
    });
    const shared = Buffer.alloc(LARGE);
    for (const backlog of backlogs) backlog.write(shared);
    assert.equal(held.bytes, LARGE);
    for (const backlog of backlogs.slice(0, 3)) backlog.write(Buffer.alloc(LARGE));
    assert.deepEqual([held.bytes, cut], [4 * LARGE, []]);
    backlogs[3]!.write(Buffer.alloc(LARGE));
    assert.deepEqual([held.bytes, cut], [4 * LARGE, [0]]);
    backlogs[3]!.write(Buffer.alloc(3 * LARGE));
    assert.deepEqual(cut, [0, 1, 2, 3]);
    assert.equal(held.bytes, LARGE);
    for (const backlog of backlogs) backlog.drop();
    assert.equal(held.bytes, 0);
  });

  it('give a watcher that ends in good order everything, and one that is cut off nothing more', async (t) => {
    const { put, open, hub, clock } = setup(t, { maxPendingBytes: 2_000_000 });
    const sinks = [1, 2].map(() => Object.assign(new RecordingSink(), { stalled: true }));
    open({ from: 'now' }, { sink: sinks[0]!, timeoutMs: 5_000 });
    open({ from: 'now' }, { sink: sinks[1]! });
    for (let i = 0; i < 10; i++) await put(`x/p${i}`, { labels: { pad: 'x'.repeat(LARGE) } });
    assert.ok(sinks[0]!.events.length < 10);
    await clock.advance(5_000);
    assert.deepEqual([sinks[0]!.state, sinks[0]!.events.length], ['ended', 10]);
    for (let i = 0; i < 15; i++) await put(`x/p${i}`, { labels: { pad: 'y'.repeat(LARGE) } });
    assert.equal(sinks[1]!.state, 'destroyed');
    assert.ok(sinks[1]!.events.length < 3);
    assert.deepEqual([hub.counts().size, hub.heldBytes], [0, 0]);
  });
});
