/**
 * Watches against a model: while a store changes at random, watchers start at random places, lose their connection, resume from the last revision
 * they know, read slowly. Whoever applies the events to a copy must have exactly what a list of that revision shows (guarantees W1, W2, W4, W7).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AnyObject } from '../../machinery/api/object.ts';
import { systemClock, turnEnd } from '../../machinery/process/clock.ts';
import { type Random, seededRandom, systemRandom } from '../../machinery/process/random.ts';
import type { Store } from '../storage/interface.ts';
import { createMemoryStore } from '../storage/memory/store.ts';
import { storedJsonForm, type WatchSelector, type WatchSink } from './form.ts';
import { createWatchHub, type OpenWatch, type WatchHub } from './hub.ts';
import type { WatchStart } from './watcher.ts';

const RUNS = 12;
const STEPS = 250;
const PREFIX = '/core/pods/';

const parse = (bytes: Buffer): AnyObject => JSON.parse(bytes.toString()) as AnyObject;
const form = storedJsonForm('json', (metadata) => Buffer.from(JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata })));

class Client implements WatchSink {
  readonly copy = new Map<string, string>();
  /** The newest revision it knows of, and whether an event said so. */
  revision = 0;
  pendingBytes = 0;
  expired = false;
  ended = false;
  readonly #slow: boolean;
  #drained: (() => void) | undefined;
  watch: OpenWatch | undefined;
  readonly namespace: string;
  readonly selector: WatchSelector | undefined;

  constructor(random: Random) {
    this.namespace = random.integer(2) === 0 ? 'a' : '';
    this.#slow = random.integer(3) === 0;
    const [app, node] = [`app${random.integer(3)}`, `node${random.integer(3)}`];
    const selectors: (WatchSelector | undefined)[] = [
      undefined,
      { id: app, matches: (object) => object.metadata.labels?.['app'] === app },
      { id: node, nodeName: node, matches: (object) => (object['spec'] as { nodeName: string }).nodeName === node },
      { id: 'name', name: 'p1', matches: (object) => object.metadata.name === 'p1' },
    ];
    this.selector = selectors[random.integer(selectors.length)];
  }
  open(hub: WatchHub, start: WatchStart): void {
    this.ended = false;
    this.watch = hub.open({
      prefix: PREFIX,
      namespace: this.namespace,
      ...(this.selector && { selector: this.selector }),
      form,
      start,
      bookmarks: true,
      timeoutMs: 60_000,
      sink: this,
    });
  }
  write(chunk: Buffer): void {
    assert.ok(!this.ended);
    if (this.#slow) this.pendingBytes += chunk.length;
    for (const line of chunk.toString().trimEnd().split('\n')) this.#take(JSON.parse(line));
  }
  onDrain(callback: () => void): void {
    this.#drained = callback;
  }
  drain(): void {
    this.pendingBytes = 0;
    const callback = this.#drained;
    this.#drained = undefined;
    callback?.();
  }
  end(): void {
    this.ended = true;
  }
  destroy(): void {
    this.ended = true;
  }
  /** What a list would show a client with this selector. */
  expected(store: Store, revision: number): Map<string, string> {
    const { items } = store.list(this.namespace === '' ? PREFIX : `${PREFIX}${this.namespace}/`, { revision });
    const seen = items.map((item) => parse(item.bytes)).filter((object) => this.selector?.matches(object) ?? true);
    return new Map(seen.map((object) => [keyOf(object), JSON.stringify(object)]));
  }
  #take({ type, object }: { type: string; object: AnyObject & { code?: number } }): void {
    if (type === 'ERROR') {
      assert.equal(object.code, 410);
      this.expired = true;
      return;
    }
    const revision = Number(object.metadata.resourceVersion);
    const key = keyOf(object);
    if (type === 'BOOKMARK') {
      assert.ok(revision >= this.revision, 'a bookmark is at or above what was sent before');
      this.revision = revision;
      return;
    }
    if (type === 'ADDED') assert.ok(!this.copy.has(key), `${key} was added twice`);
    else assert.ok(this.copy.has(key), `${type} of ${key}, which was not there`);
    if (type === 'DELETED') this.copy.delete(key);
    else this.copy.set(key, JSON.stringify(object));
    if (this.initial) return;
    assert.ok(revision > this.revision, `revision ${revision} after ${this.revision}`);
    this.revision = revision;
  }
  /** Objects of the initial state come in key order; until its end is announced their revisions say nothing. */
  get initial(): boolean {
    return this.revision === 0;
  }
}

function keyOf(object: AnyObject): string {
  return `${object.metadata.namespace}/${object.metadata.name}`;
}

async function writeSomething(store: Store, random: Random): Promise<void> {
  const [namespace, name] = [random.integer(2) === 0 ? 'a' : 'b', `p${random.integer(6)}`];
  const key = random.integer(8) === 0 ? `/core/secrets/${namespace}/${name}` : `${PREFIX}${namespace}/${name}`;
  const current = store.get(key);
  const object = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace, resourceVersion: '', labels: { app: `app${random.integer(3)}` } },
    spec: { nodeName: `node${random.integer(3)}` },
  };
  const encode = (revision: number): Buffer => {
    const shown = current !== undefined && removing ? parse(current.bytes) : object;
    shown.metadata.resourceVersion = String(revision);
    return Buffer.from(JSON.stringify(shown));
  };
  const removing = random.integer(4) === 0;
  if (current === undefined) await store.create(key, encode);
  else if (removing) await store.delete(key, current.revision, encode);
  else await store.update(key, current.revision, encode);
}

it(`every watcher has what a list shows, over ${RUNS} random histories`, async (t) => {
  const seed = systemRandom.integer(2 ** 31);
  t.diagnostic(`seed ${seed}`);
  for (let run = 0; run < RUNS; run++) await history(seededRandom(seed + run));
});

async function history(random: Random): Promise<void> {
  const store = createMemoryStore();
  const hub = createWatchHub({
    store,
    clock: systemClock,
    parse: (stored) => parse(stored.bytes),
    progressIntervalMs: 1,
    bookmarkIntervalMs: 5,
    onError: (error) => assert.fail(String(error)),
  });
  const clients: Client[] = [];
  for (let step = 0; step < STEPS; step++) {
    await Promise.allSettled(Array.from({ length: random.integer(4) }, () => writeSomething(store, random)));
    if (clients.length < 12 && random.integer(4) === 0) {
      const client = new Client(random);
      clients.push(client);
      client.open(hub, { from: 'state', announceEnd: true });
    }
    for (const client of clients) {
      if (random.integer(3) === 0) client.drain();
      if (random.integer(20) === 0) client.watch?.close();
      else if (!client.ended) continue;
      if (client.expired || client.initial) {
        client.copy.clear();
        client.revision = 0;
        client.expired = false;
        client.open(hub, { from: 'state', announceEnd: true });
      } else client.open(hub, { from: 'revision', revision: client.revision });
    }
    if (random.integer(10) === 0) await store.compact(store.revision - random.integer(60));
    if (random.integer(3) === 0) await turnEnd();
  }
  await settle(store, clients);
  for (const client of clients) {
    if (client.ended) continue;
    assert.deepEqual(client.copy, client.expected(store, store.revision));
  }
  hub.close();
}

/** Waits until all that are connected know the last revision of the store. */
async function settle(store: Store, clients: readonly Client[]): Promise<void> {
  for (let i = 0; clients.some((client) => !client.ended && client.revision < store.revision); i++) {
    assert.ok(i < 2000, 'bookmarks bring everybody to the last revision');
    for (const client of clients) client.drain();
    await systemClock.sleep(1);
  }
}
