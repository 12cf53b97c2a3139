/**
 * What every backend of the store must do, as tests. A backend's test file calls `storeSuite` with a way to make an empty store; one that
 * survives a restart also gives `reopen`. Mirrors apiserver `storage/testing`.
 */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { turnEnd } from '../../machinery/process/clock.ts';
import {
  type Change,
  KeyExists,
  KeyMissing,
  RevisionCompacted,
  RevisionConflict,
  RevisionTooNew,
  type Store,
  type Stored,
  StoreFailed,
} from './interface.ts';

export interface Backend {
  /** An empty store; whatever it needs is removed when the test ends. */
  create(t: TestContext): Promise<Store>;
  /** Closes the store and opens it again from what it left behind. */
  reopen?(t: TestContext, store: Store): Promise<Store>;
}

const PODS = '/core/pods/';

/** Bytes that carry their revision, as objects do. */
export const textOf =
  (text: string) =>
  (revision: number): Buffer =>
    Buffer.from(`${text}@${revision}`);

const shown = (stored: Stored | undefined): string | undefined => stored && `${stored.key}=${stored.bytes}`;
const keys = (items: readonly Stored[]): string[] => items.map((item) => item.key);
const told = (changes: readonly Change[]): string[] =>
  changes.map(({ type, current, previous }) => `${type} ${current.key}=${current.bytes}${previous ? ` was ${previous.bytes}` : ''}`);

export function storeSuite(name: string, backend: Backend): void {
  describe(`store: ${name}`, () => {
    describe('writes', () => writes(backend));
    describe('lists', () => lists(backend));
    describe('changes', () => changesAndWatches(backend));
    describe('compaction', () => compaction(backend));
    const { reopen } = backend;
    if (reopen) describe('restart', () => restarts(backend.create, reopen));
  });
}

function writes({ create }: Backend): void {
  it('starts at revision 1 and gives every write the next one', async (t) => {
    const store = await create(t);
    assert.equal(store.revision, 1);
    const a = await store.create('/core/pods/x/a', textOf('a'));
    const b = await store.create('/core/nodes/b', textOf('b'));
    assert.deepEqual([a.revision, b.revision, store.revision], [2, 3, 3]);
    assert.equal(shown(store.get('/core/pods/x/a')), '/core/pods/x/a=a@2');
  });

  it('does not create a key twice, nor two at a time', async (t) => {
    const store = await create(t);
    const results = await Promise.allSettled(['1', '2', '3'].map((text) => store.create('/core/pods/x/a', textOf(text))));
    assert.deepEqual(
      results.map((r) => r.status),
      ['fulfilled', 'rejected', 'rejected'],
    );
    await assert.rejects(store.create('/core/pods/x/a', textOf('4')), KeyExists);
    assert.equal(shown(store.get('/core/pods/x/a')), '/core/pods/x/a=1@2');
    assert.equal(store.revision, 2);
  });

  it('updates only the expected version; one of many wins', async (t) => {
    const store = await create(t);
    await store.create('/core/pods/x/a', textOf('a'));
    const results = await Promise.allSettled(Array.from({ length: 50 }, (_, i) => store.update('/core/pods/x/a', 2, textOf(`u${i}`))));
    assert.equal(results.filter((r) => r.status === 'fulfilled').length, 1);
    for (const result of results.slice(1)) assert.ok(result.status === 'rejected' && result.reason instanceof RevisionConflict);
    assert.equal(shown(store.get('/core/pods/x/a')), '/core/pods/x/a=u0@3');
    await assert.rejects(store.update('/core/pods/x/none', 2, textOf('x')), KeyMissing);
  });

  it('answers a conflict only when the write it lost to can be read', async (t) => {
    const store = await create(t);
    await store.create('/core/pods/x/a', textOf('a'));
    void store.update('/core/pods/x/a', 2, textOf('first'));
    await assert.rejects(store.update('/core/pods/x/a', 2, textOf('second')), RevisionConflict);
    assert.equal(shown(store.get('/core/pods/x/a')), '/core/pods/x/a=first@3');
  });

  it('deletes the expected version and lets the key be created again', async (t) => {
    const store = await create(t);
    await store.create('/core/pods/x/a', textOf('a'));
    await assert.rejects(store.delete('/core/pods/x/a', 9, textOf('gone')), RevisionConflict);
    const gone = await store.delete('/core/pods/x/a', 2, textOf('gone'));
    assert.equal(shown(gone), '/core/pods/x/a=gone@3');
    assert.equal(store.get('/core/pods/x/a'), undefined);
    await assert.rejects(store.delete('/core/pods/x/a', 3, textOf('gone')), KeyMissing);
    assert.equal((await store.create('/core/pods/x/a', textOf('again'))).revision, 4);
  });

  it('lets writes that wait build on each other', async (t) => {
    const store = await create(t);
    const done = [
      store.create('/core/pods/x/a', textOf('a')),
      store.update('/core/pods/x/a', 2, textOf('b')),
      store.delete('/core/pods/x/a', 3, textOf('c')),
      store.create('/core/pods/x/a', textOf('d')),
    ];
    assert.equal(store.get('/core/pods/x/a'), undefined, 'nothing is shown before it is committed');
    assert.deepEqual(
      (await Promise.all(done)).map(shown),
      ['a@2', 'b@3', 'c@4', 'd@5'].map((text) => `/core/pods/x/a=${text}`),
    );
  });

  it('answers in revision order, after the change was published', async (t) => {
    const store = await create(t);
    const seen: string[] = [];
    store.watch(PODS, store.revision, (changes) => seen.push(...changes.map((c) => `event ${c.current.revision}`)));
    await Promise.all(
      ['a', 'b', 'c'].map((n) => store.create(`${PODS}x/${n}`, textOf(n)).then((stored) => seen.push(`answer ${stored.revision}`))),
    );
    assert.deepEqual(seen, ['event 2', 'event 3', 'event 4', 'answer 2', 'answer 3', 'answer 4']);
  });

  it('uses up no revision when the object cannot be encoded', async (t) => {
    const store = await create(t);
    await assert.rejects(
      store.create('/core/pods/x/a', () => {
        throw new TypeError('no');
      }),
      TypeError,
    );
    assert.equal((await store.create('/core/pods/x/b', textOf('b'))).revision, 2);
  });

  it('keeps its own copy of the bytes, exactly', async (t) => {
    const store = await create(t);
    const bytes = Buffer.from([0, 255, 10, 128]);
    await store.create('/core/secrets/x/a', () => bytes);
    bytes.fill(7);
    assert.deepEqual([...(store.get('/core/secrets/x/a')?.bytes ?? [])], [0, 255, 10, 128]);
  });

  it('commits what waits when it is closed, and takes nothing after', async (t) => {
    const store = await create(t);
    const write = store.create('/core/pods/x/a', textOf('a'));
    await store.close();
    assert.equal((await write).revision, 2);
    await assert.rejects(store.create('/core/pods/x/b', textOf('b')), StoreFailed);
  });
}

function lists({ create }: Backend): void {
  it('lists a prefix in the order of the keys as UTF-8', async (t) => {
    const store = await create(t);
    const names = ['x/b', 'x-a/z', 'x0/a', 'x/a', 'x/é', 'x/😀', 'x/～', 'x/a-b'];
    for (const n of names) await store.create(`${PODS}${n}`, textOf(n));
    await store.create('/core/pods-x/y/a', textOf('other'));
    const expected = names.map((n) => `${PODS}${n}`).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    assert.deepEqual(keys(store.list(PODS).items), expected);
    assert.deepEqual(
      keys(store.list(`${PODS}x/`).items),
      expected.filter((key) => key.startsWith(`${PODS}x/`)),
    );
    assert.deepEqual([store.count(PODS), store.count(`${PODS}x/`), store.count('/core/none/'), store.count('/')], [8, 6, 0, 9]);
  });

  for (const limit of [1, 2, 7, 500]) {
    it(`pages by ${limit} through one revision while everything changes`, async (t) => {
      const store = await create(t);
      const name = (i: number): string => `${PODS}x/p${String(i).padStart(3, '0')}`;
      for (let i = 0; i < 40; i += 2) await store.create(name(i), textOf('old'));
      const { revision } = store;
      const expected = store.list(PODS).items.map(shown);
      const got: (string | undefined)[] = [];
      let startKey: string | undefined;
      for (let page = 0; ; page++) {
        const result = store.list(PODS, { revision, limit, startKey });
        assert.equal(result.revision, revision);
        got.push(...result.items.map(shown));
        assert.equal(got.length + result.remaining, expected.length);
        if (result.nextKey === undefined) break;
        startKey = result.nextKey;
        const i = (page * 6) % 40;
        await Promise.allSettled([
          store.create(name(i + 1), textOf('new')),
          store.delete(name(i), store.get(name(i))?.revision ?? 0, textOf('gone')),
        ]);
      }
      assert.deepEqual(got, expected);
    });
  }

  it('reads any state of its history and none that is not there yet', async (t) => {
    const store = await create(t);
    const states: (string | undefined)[][] = [[], []];
    for (let i = 0; i < 60; i++) {
      const key = `${PODS}x/${(i * 7) % 11}`;
      const current = store.get(key);
      if (!current) await store.create(key, textOf(`v${i}`));
      else if (i % 3 === 0) await store.delete(key, current.revision, textOf('gone'));
      else await store.update(key, current.revision, textOf(`v${i}`));
      states.push(store.list(PODS).items.map(shown));
    }
    for (let revision = 1; revision < states.length; revision++) {
      assert.deepEqual(store.list(PODS, { revision }).items.map(shown), states[revision], `at ${revision}`);
      const { items, remaining } = store.list(PODS, { revision, limit: 1 });
      assert.equal(items.length + remaining, states[revision].length);
    }
    assert.throws(() => store.list(PODS, { revision: store.revision + 1 }), RevisionTooNew);
  });
}

function changesAndWatches({ create }: Backend): void {
  async function history(t: TestContext): Promise<Store> {
    const store = await create(t);
    await store.create('/core/pods/x/a', textOf('a'));
    await store.create('/core/nodes/n', textOf('n'));
    await store.update('/core/pods/x/a', 2, textOf('b'));
    await store.create('/core/pods/y/a', textOf('y'));
    await store.delete('/core/pods/x/a', 4, textOf('gone'));
    return store;
  }
  const pods = [
    'put /core/pods/x/a=a@2',
    'put /core/pods/x/a=b@4 was a@2',
    'put /core/pods/y/a=y@5',
    'delete /core/pods/x/a=gone@6 was b@4',
  ];

  it('gives the changes after a revision, under a prefix, in slices', async (t) => {
    const store = await history(t);
    assert.deepEqual(told(store.changes(PODS, 1, 100).changes), pods);
    assert.deepEqual(told(store.changes(`${PODS}x/`, 2, 100).changes), [pods[1], pods[3]]);
    assert.equal(store.changes('/', 0, 100).changes.length, 5);
    const first = store.changes(PODS, 1, 2);
    assert.deepEqual([told(first.changes), first.revision], [pods.slice(0, 2), 4]);
    const rest = store.changes(PODS, first.revision, 2);
    assert.deepEqual([told(rest.changes), store.changes(PODS, 6, 9)], [pods.slice(2), { changes: [], revision: 6 }]);
  });

  it('watches from the past into the present without a gap', async (t) => {
    const store = await create(t);
    for (let i = 0; i < 1500; i += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, j) => store.create(`${PODS}x/${i + j}`, textOf('p'))));
    }
    const got: number[] = [];
    let reached = 0;
    store.watch(PODS, 100, (changes, revision) => {
      got.push(...changes.map((change) => change.current.revision));
      reached = revision;
    });
    assert.deepEqual(got, [], 'nothing before watch has returned');
    for (let i = 0; i < 20; i++) await store.create(`${PODS}y/${i}`, textOf('p'));
    while (reached < store.revision) await turnEnd();
    assert.deepEqual(
      got,
      Array.from({ length: store.revision - 100 }, (_, i) => 101 + i),
    );
  });

  it('tells a watcher of every commit how far it reached, also without changes of its own', async (t) => {
    const store = await create(t);
    const calls: string[] = [];
    const subscription = store.watch(PODS, store.revision, (changes, revision) => calls.push(`${told(changes).join()} to ${revision}`));
    await store.create('/core/nodes/n', textOf('n'));
    await store.create('/core/pods/x/a', textOf('a'));
    subscription.close();
    await store.create('/core/pods/x/b', textOf('b'));
    assert.deepEqual(calls, [' to 2', 'put /core/pods/x/a=a@3 to 3']);
  });

  it('sends nothing up to a revision that lies in the future', async (t) => {
    const store = await create(t);
    const got: number[] = [];
    store.watch(PODS, 4, (changes) => got.push(...changes.map((change) => change.current.revision)));
    for (let i = 0; i < 5; i++) await store.create(`${PODS}x/${i}`, textOf('p'));
    assert.deepEqual(got, [5, 6]);
  });
}

function compaction({ create }: Backend): void {
  it('forgets what was superseded and keeps what is current', async (t) => {
    const store = await create(t);
    const a = `${PODS}x/a`;
    await store.create(a, textOf('a'));
    for (let revision = 2; revision < 700; revision++) await store.update(a, revision, textOf('u'));
    await store.create(`${PODS}x/b`, textOf('b'));
    await store.compact(690);
    assert.equal(store.compactedRevision, 690);
    assert.throws(() => store.list(PODS, { revision: 689 }), RevisionCompacted);
    assert.throws(() => store.changes(PODS, 689, 1), RevisionCompacted);
    assert.throws(() => store.watch(PODS, 689, () => {}), RevisionCompacted);
    assert.deepEqual(store.list(PODS, { revision: 690 }).items.map(shown), [`${a}=u@690`]);
    assert.equal(told(store.changes(PODS, 690, 1).changes)[0], `put ${a}=u@691 was u@690`);
    assert.deepEqual(store.list(PODS).items.map(shown), [`${a}=u@700`, `${PODS}x/b=b@701`]);
  });

  it('never loses a deletion beside the compaction', async (t) => {
    const store = await create(t);
    const a = `${PODS}x/a`;
    await store.create(a, textOf('a'));
    await store.delete(a, 2, textOf('gone'));
    await store.compact(2);
    assert.deepEqual(told(store.changes(PODS, 2, 9).changes), [`delete ${a}=gone@3 was a@2`]);
    await store.compact(store.revision);
    assert.deepEqual([store.changes(PODS, 3, 9).changes, store.list('/').items, store.compactedRevision], [[], [], 3]);
    await store.create(a, textOf('b'));
    await store.compact(99);
    assert.equal(shown(store.get(a)), `${a}=b@4`);
  });

  it('waits for a watcher that still reads history', async (t) => {
    const store = await create(t);
    for (let i = 0; i < 1200; i += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, j) => store.create(`${PODS}x/${i + j}`, textOf('p'))));
    }
    let count = 0;
    store.watch(PODS, 1, (changes) => {
      count += changes.length;
    });
    await store.compact(store.revision);
    assert.equal(count, 1200);
  });
}

function restarts(create: Backend['create'], reopen: NonNullable<Backend['reopen']>): void {
  it('comes back with the same state, history and revision', async (t) => {
    const store = await create(t);
    for (let i = 0; i < 30; i++) {
      const key = `${PODS}x/${i % 7}`;
      const current = store.get(key);
      if (!current) await store.create(key, textOf(`v${i}`));
      else if (i % 4 === 0) await store.delete(key, current.revision, textOf('gone'));
      else await store.update(key, current.revision, textOf(`v${i}`));
    }
    const before = { list: store.list('/').items.map(shown), changes: told(store.changes('/', 1, 99).changes), revision: store.revision };
    const again = await reopen(t, store);
    const after = { list: again.list('/').items.map(shown), changes: told(again.changes('/', 1, 99).changes), revision: again.revision };
    assert.deepEqual(after, before);
    assert.equal((await again.create('/core/nodes/n', textOf('n'))).revision, before.revision + 1);
  });

  it('comes back after compaction, and never with a lower revision', async (t) => {
    let store = await create(t);
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 5; i++) {
        const stored = await store.create(`${PODS}x/${round}-${i}`, textOf('p'));
        if (i > 0) await store.delete(stored.key, stored.revision, textOf('gone'));
      }
      await store.compact(store.revision - round);
      const { revision, compactedRevision } = store;
      const listed = store.list('/').items.map(shown);
      store = await reopen(t, store);
      assert.deepEqual([store.revision, store.compactedRevision, store.list('/').items.map(shown)], [revision, compactedRevision, listed]);
      store = await reopen(t, store);
    }
    assert.equal(store.count(PODS), 4);
  });
}
