/** Own writes are read before the next comparison (K6), and nothing waits for ever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../api/object.ts';
import type { Informer, InformerHandler } from '../client/informer.ts';
import { configmaps, pods } from '../client/resource-type.ts';
import { RevisionWaiters } from '../client/revision-waiters.ts';
import { silentLogger } from '../process/logger.ts';
import { FakeClock, settle } from '../process/testing/fake-clock.ts';
import { Freshness } from './freshness.ts';

/** A copy whose progress the test decides. */
class Copy {
  readonly type = pods;
  revision = 10;
  readonly objects = new Map<string, KubeObject>();
  readonly #waiters = new RevisionWaiters();
  readonly #handlers: InformerHandler<KubeObject>[] = [];
  get = (key: string): KubeObject | undefined => this.objects.get(key);
  addHandler = (handler: InformerHandler<KubeObject>): void => void this.#handlers.push(handler);
  reached = (revision: number): Promise<void> => (this.revision >= revision ? Promise.resolve() : this.#waiters.wait(revision));

  moveTo(revision: number): void {
    this.revision = revision;
    this.#waiters.reached(revision);
  }
  tell(change: { object: KubeObject | undefined; old: KubeObject | undefined }): void {
    for (const handler of this.#handlers) handler(change);
  }
}

const pod = (uid: string, deletionTimestamp?: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name: 'p', uid, ...(deletionTimestamp && { deletionTimestamp }) },
});

function setup() {
  const clock = new FakeClock();
  const copy = new Copy();
  const woken: string[] = [];
  const freshness = new Freshness({ clock, logger: silentLogger, wake: (key) => woken.push(key) });
  freshness.follow(copy as unknown as Informer<KubeObject>);
  return { clock, copy, woken, freshness };
}

test('a key is not fresh until the copy has reached its last write, and is woken once then', async () => {
  const { copy, woken, freshness } = setup();
  freshness.note('ns/web', pods, { resourceVersion: '12' });
  freshness.note('ns/web', pods, { resourceVersion: '11' });
  assert.equal(freshness.isFresh('ns/web'), false);
  assert.equal(freshness.isFresh('ns/web'), false);
  assert.equal(freshness.isFresh('ns/other'), true);
  copy.moveTo(11);
  await settle();
  assert.deepEqual(woken, []);
  copy.moveTo(15);
  await settle();
  assert.deepEqual(woken, ['ns/web']);
  assert.equal(freshness.isFresh('ns/web'), true);
  assert.deepEqual(freshness.waiting, []);
});

test('writes the copy has already, and writes to what is not copied, are not waited for', () => {
  const { freshness } = setup();
  freshness.note('ns/web', pods, { resourceVersion: '10' });
  freshness.note('ns/web', configmaps, { resourceVersion: '99' });
  freshness.note('ns/web', pods, undefined);
  assert.equal(freshness.isFresh('ns/web'), true);
});

test('a deletion answered without revision is seen when the object is gone, marked, or another', async () => {
  const ways: ((copy: Copy) => void)[] = [
    (copy) => copy.tell({ object: undefined, old: pod('u1') }),
    (copy) => copy.tell({ object: pod('u1', '2026-01-01T00:00:00Z'), old: pod('u1') }),
    (copy) => copy.tell({ object: pod('u2'), old: pod('u1') }),
  ];
  for (const way of ways) {
    const { copy, woken, freshness } = setup();
    copy.objects.set('ns/p', pod('u1'));
    freshness.noteDeletion('ns/web', pods, { key: 'ns/p', uid: 'u1' });
    assert.equal(freshness.isFresh('ns/web'), false);
    copy.tell({ object: pod('u1'), old: pod('u1') });
    assert.deepEqual(woken, []);
    way(copy);
    assert.deepEqual(woken, ['ns/web']);
    assert.equal(freshness.isFresh('ns/web'), true);
  }
});

test('a deletion the copy knows of already is not waited for', () => {
  for (const seen of [undefined, pod('u2'), pod('u1', '2026-01-01T00:00:00Z')]) {
    const { copy, freshness } = setup();
    if (seen) copy.objects.set('ns/p', seen);
    freshness.noteDeletion('ns/web', pods, { key: 'ns/p', uid: 'u1' });
    assert.equal(freshness.isFresh('ns/web'), true);
  }
});

test('both a revision and a deletion are waited for', async () => {
  const { copy, woken, freshness } = setup();
  copy.objects.set('ns/p', pod('u1'));
  freshness.note('ns/web', pods, { resourceVersion: '20' });
  freshness.noteDeletion('ns/web', pods, { key: 'ns/p', uid: 'u1' });
  assert.equal(freshness.isFresh('ns/web'), false);
  copy.moveTo(20);
  await settle();
  assert.deepEqual(woken, []);
  copy.tell({ object: undefined, old: pod('u1') });
  await settle();
  assert.deepEqual(woken, ['ns/web']);
});

test('a copy that never moves does not stop a loop for ever', async () => {
  const { clock, copy, woken, freshness } = setup();
  copy.objects.set('ns/p', pod('u1'));
  freshness.note('ns/web', pods, { resourceVersion: '20' });
  freshness.noteDeletion('ns/web', pods, { key: 'ns/p', uid: 'u1' });
  assert.equal(freshness.isFresh('ns/web'), false);
  await clock.advance(120_000);
  assert.deepEqual(woken, []);
  await clock.advance(60_000);
  assert.deepEqual(woken, ['ns/web']);
  assert.equal(freshness.isFresh('ns/web'), true);
});
