/** What watchers are shown: where they start, what selectors make of changes, bookmarks, the end (guarantees W1, W3 to W8, W11, W12). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { turnEnd } from '../../machinery/process/clock.ts';
import type { WatchForm } from './form.ts';
import { byLabel, byName, byNode, form, RecordingSink, setup } from './testing/watches.ts';

const turns = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await turnEnd();
};

describe('watch hub: where a watch starts', () => {
  it('after a revision: history, then live, each once', async (t) => {
    const { put, remove, open } = setup(t);
    await put('x/a');
    await put('x/b');
    await put('x/a');
    const sink = open({ from: 'revision', revision: 2 });
    await put('x/c');
    await remove('x/b');
    await turns();
    assert.deepEqual(sink.events, ['ADDED b@3', 'MODIFIED a@4', 'ADDED c@5', 'DELETED b@6']);
  });

  it('from the state: an ADDED for each object in key order, then live', async (t) => {
    const { put, open } = setup(t);
    for (const name of ['x/b', 'x/a', 'y/a', 'x/b']) await put(name);
    const sink = open({ from: 'state' });
    await put('x/c');
    await turns();
    assert.deepEqual(sink.events, ['ADDED a@3', 'ADDED b@5', 'ADDED a@4', 'ADDED c@6']);
  });

  it('from the state, announcing its end with a bookmark', async (t) => {
    const { put, open } = setup(t);
    await put('x/a');
    await put('x/a', {}, 'secrets');
    const sink = open({ from: 'state', announceEnd: true }, { bookmarks: true });
    await turns();
    await put('x/b');
    assert.deepEqual(sink.events, ['ADDED a@2', 'BOOKMARK 3 k8s.io/initial-events-end', 'ADDED b@4']);
  });

  it('from a state that lies in the future: waits for it', async (t) => {
    const { put, open } = setup(t);
    await put('x/a');
    const sink = open({ from: 'state', atLeast: 4, announceEnd: true }, { bookmarks: true });
    await put('x/b');
    await turns();
    assert.deepEqual(sink.events, []);
    await put('x/c');
    await turns();
    assert.deepEqual(sink.events, ['ADDED a@2', 'ADDED b@3', 'ADDED c@4', 'BOOKMARK 4 k8s.io/initial-events-end']);
  });

  it('from now: nothing of what there is', async (t) => {
    const { put, open } = setup(t);
    await put('x/a');
    const sink = open({ from: 'now' });
    await put('x/a');
    assert.deepEqual(sink.events, ['MODIFIED a@3']);
  });

  it('after a revision that lies in the future: neither events nor bookmarks up to it', async (t) => {
    const { put, open, clock } = setup(t);
    const sink = open({ from: 'revision', revision: 3 }, { bookmarks: true });
    await put('x/a');
    await clock.advance(61_000);
    await put('x/b');
    await put('x/c');
    assert.deepEqual(sink.events, ['ADDED c@4']);
  });

  it('before the history: one ERROR event, then the end', async (t) => {
    const { put, open, store } = setup(t);
    for (let i = 0; i < 5; i++) await put('x/a');
    await store.compact(4);
    const sink = open({ from: 'revision', revision: 3 });
    assert.deepEqual(sink.events, ['ERROR 410 Expired: too old resource version: 3 (4)']);
    assert.equal(sink.state, 'ended');
    const edge = open({ from: 'revision', revision: 4 });
    assert.deepEqual(edge.events, ['MODIFIED a@5', 'MODIFIED a@6']);
  });

  it('reads a large state no faster than its client takes it', async (t) => {
    const { put, open } = setup(t);
    const names = Array.from({ length: 1000 }, (_, i) => `x/p${String(i).padStart(4, '0')}`);
    await Promise.all(names.map((name) => put(name, { labels: { pad: 'x'.repeat(2000) } })));
    const sink = new RecordingSink();
    sink.stalled = true;
    open({ from: 'state' }, { sink });
    await turns();
    assert.ok(sink.pendingBytes < 200_000, String(sink.pendingBytes));
    for (let i = 0; i < 40; i++) {
      sink.drain();
      await turns();
    }
    assert.equal(sink.events.length, 1000);
    assert.equal(sink.state, 'open');
  });
});

describe('watch hub: selectors', () => {
  it('turn changes into events of what can be seen', async (t) => {
    const { put, remove, open } = setup(t);
    await put('x/other', { labels: { app: 'b' } });
    const sink = open({ from: 'state' }, { selector: byLabel('a') });
    await put('x/p', { labels: { app: 'a' } });
    await put('x/p', { labels: { app: 'a', more: '"resourceVersion":"1"' } });
    await put('x/p', { labels: { app: 'b' } });
    await put('x/p', { labels: { app: 'c' } });
    await put('x/p', { labels: { app: 'a' } });
    await remove('x/p');
    await remove('x/other');
    assert.deepEqual(sink.events, ['ADDED p@3', 'MODIFIED p@4', 'DELETED p@5', 'ADDED p@7', 'DELETED p@8']);
    const left = JSON.parse(sink.text.split('\n')[2]).object;
    assert.deepEqual(left.metadata.labels, { app: 'a', more: '"resourceVersion":"1"' }, 'the old state at the new revision');
  });

  it('give the same events from history', async (t) => {
    const { put, remove, open } = setup(t);
    for (const app of ['a', 'b', 'a', 'a']) await put('x/p', { labels: { app } });
    await remove('x/p');
    const sink = open({ from: 'revision', revision: 1 }, { selector: byLabel('a') });
    assert.deepEqual(sink.events, ['ADDED p@2', 'DELETED p@3', 'ADDED p@4', 'MODIFIED p@5', 'DELETED p@6']);
  });

  it('by namespace, node and name each see their own', async (t) => {
    const { put, remove, open } = setup(t);
    const all = open({ from: 'now' });
    const inX = open({ from: 'now' }, { namespace: 'x' });
    const onN1 = open({ from: 'now' }, { selector: byNode('n1') });
    const onN1inY = open({ from: 'now' }, { selector: byNode('n1'), namespace: 'y' });
    const onN2 = open({ from: 'now' }, { selector: byNode('n2') });
    const named = open({ from: 'now' }, { selector: byName('a'), namespace: 'y' });
    await put('x/a');
    await put('y/a', { node: 'n1' });
    await put('x/a', { node: 'n1' });
    await put('y/a', { node: 'n2' });
    await put('y/b');
    await remove('y/a');
    await put('x/a', {}, 'secrets');
    assert.equal(all.events.length, 6);
    assert.deepEqual(inX.events, ['ADDED a@2', 'MODIFIED a@4']);
    assert.deepEqual(onN1.events, ['ADDED a@3', 'ADDED a@4', 'DELETED a@5']);
    assert.deepEqual(onN1inY.events, ['ADDED a@3', 'DELETED a@5']);
    assert.deepEqual(onN2.events, ['ADDED a@5', 'DELETED a@7']);
    assert.deepEqual(named.events, ['ADDED a@3', 'MODIFIED a@5', 'DELETED a@7']);
  });

  it('that throw end their own watches only', async (t) => {
    const errors: unknown[] = [];
    const { put, open } = setup(t, { onError: (error) => errors.push(error) });
    const healthy = open({ from: 'now' });
    const broken = open(
      { from: 'now' },
      {
        selector: {
          id: 'broken',
          matches: () => {
            throw new TypeError('no');
          },
        },
      },
    );
    await put('x/a');
    assert.deepEqual(healthy.events, ['ADDED a@2']);
    assert.match(broken.events.join(), /^ERROR 500 InternalError/);
    assert.deepEqual([broken.state, errors.length], ['ended', 1]);
  });
});

describe('watch hub: framing', () => {
  it('frames a commit once for all watchers of a group, and as one chunk', async (t) => {
    const { put, open } = setup(t);
    let framed = 0;
    const counting: WatchForm = {
      ...form,
      event: (...args) => {
        framed++;
        return form.event(...args);
      },
    };
    const sinks = Array.from({ length: 20 }, (_, i) => open({ from: 'now' }, { form: counting, namespace: i % 2 ? 'x' : '' }));
    await Promise.all(['x/a', 'x/b', 'x/c'].map((path) => put(path)));
    assert.equal(framed, 3);
    for (const sink of sinks) assert.deepEqual([sink.events, sink.chunks], [['ADDED a@2', 'ADDED b@3', 'ADDED c@4'], 1]);
  });

  it('frames the first event of each stream apart where the form wants it', async (t) => {
    const { put, open } = setup(t);
    const table: WatchForm = {
      ...form,
      id: 'table',
      firstDiffers: true,
      event: (type, { revision }, first) => Buffer.from(`${type} ${revision}${first ? ' with columns' : ''}\n`),
    };
    await put('x/a');
    const early = open({ from: 'state' }, { form: table });
    const late = open({ from: 'now' }, { form: table });
    await Promise.all([put('x/b'), put('x/c')]);
    assert.equal(early.text, 'ADDED 2 with columns\nADDED 3\nADDED 4\n');
    assert.equal(late.text, 'ADDED 3 with columns\nADDED 4\n');
  });
});

describe('watch hub: bookmarks', () => {
  it('come about once a minute, with the revision everything was sent up to', async (t) => {
    const { put, open, clock } = setup(t);
    await put('x/a');
    const sink = open({ from: 'revision', revision: 2 }, { bookmarks: true });
    const without = open({ from: 'revision', revision: 2 });
    await put('x/a', {}, 'secrets');
    await clock.advance(60_000);
    await clock.advance(60_000);
    assert.deepEqual([sink.events, without.events], [['BOOKMARK 3', 'BOOKMARK 3'], []]);
  });

  it('come soon after changes of the resource that were not shown, and not after those that were', async (t) => {
    const { put, open, clock } = setup(t);
    const filtered = open({ from: 'now' }, { bookmarks: true, selector: byLabel('a') });
    const all = open({ from: 'now' }, { bookmarks: true });
    await put('x/a', {});
    await put('x/b', {});
    await clock.advance(1_000);
    await clock.advance(5_000);
    await put('x/a', {}, 'secrets');
    await clock.advance(5_000);
    assert.deepEqual(filtered.events, ['BOOKMARK 3']);
    assert.deepEqual(all.events, ['ADDED a@2', 'ADDED b@3']);
  });

  it('come soon after a start that left something unsaid', async (t) => {
    const { put, remove, open, clock } = setup(t);
    await put('x/a');
    await put('x/b');
    await remove('x/b');
    const state = open({ from: 'state' }, { bookmarks: true });
    const filtered = open({ from: 'revision', revision: 2 }, { bookmarks: true, selector: byLabel('a') });
    const current = open({ from: 'revision', revision: 4 }, { bookmarks: true });
    await clock.advance(1_000);
    assert.deepEqual([state.events, filtered.events, current.events], [['ADDED a@2', 'BOOKMARK 4'], ['BOOKMARK 4'], []]);
  });

  it('end a stream that times out', async (t) => {
    const { put, open, clock } = setup(t);
    const sink = open({ from: 'now' }, { bookmarks: true, timeoutMs: 5_000 });
    const short = open({ from: 'now' }, { bookmarks: true, timeoutMs: 0 });
    await put('x/a', {}, 'secrets');
    await clock.advance(5_000);
    assert.deepEqual([sink.events, sink.state, short.events, short.state], [['BOOKMARK 2'], 'ended', [], 'ended']);
  });
});

describe('watch hub: the end', () => {
  it('cuts a watcher that does not read, at its cap, and no other', async (t) => {
    const ends: string[] = [];
    const { put, open, hub } = setup(t, { maxPendingBytes: 1000, onEnd: (_, why) => ends.push(why) });
    const stalled = new RecordingSink();
    stalled.stalled = true;
    open({ from: 'now' }, { sink: stalled });
    const reading = open({ from: 'now' });
    for (let i = 0; i < 30; i++) await put(`x/p${i}`);
    assert.equal(stalled.state, 'destroyed');
    assert.ok(stalled.events.length < 15);
    assert.deepEqual(
      stalled.events,
      Array.from(stalled.events, (_, i) => `ADDED p${i}@${i + 2}`),
      'nothing was skipped before the cut',
    );
    assert.deepEqual([reading.events.length, ends, hub.counts().get('/core/pods/')], [30, ['tooSlow'], 1]);
  });

  it('forgets a watcher whose client has gone', async (t) => {
    const { put, open, hub } = setup(t);
    const sink = open({ from: 'now' });
    sink.close();
    await put('x/a');
    assert.deepEqual([sink.events, hub.counts().size, sink.state], [[], 0, 'open']);
  });

  it('ends all watches of a resource, or all', async (t) => {
    const { open, hub } = setup(t);
    const pods = open({ from: 'now' });
    const secrets = open({ from: 'now' }, { prefix: '/core/secrets/' });
    hub.endResource('/core/pods/');
    assert.deepEqual([pods.state, secrets.state], ['ended', 'open']);
    hub.close();
    assert.equal(secrets.state, 'ended');
    assert.equal(open({ from: 'now' }).state, 'ended');
  });
});
