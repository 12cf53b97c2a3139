/** For tests of the watch hub: a store to write to, watches that remember what they got, time that moves when told. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { AnyObject } from '../../../machinery/api/object.ts';
import { FakeClock } from '../../../machinery/process/testing/fake-clock.ts';
import type { Store } from '../../storage/interface.ts';
import { createMemoryStore } from '../../storage/memory/store.ts';
import { storedJsonForm, type WatchForm, type WatchSelector, type WatchSink } from '../form.ts';
import { createWatchHub, type WatchHub, type WatchHubDeps } from '../hub.ts';
import type { WatchRequest, WatchStart } from '../watcher.ts';

export class RecordingSink implements WatchSink {
  text = '';
  chunks = 0;
  pendingBytes = 0;
  state: 'open' | 'ended' | 'destroyed' = 'open';
  stalled = false;
  #onDrain: (() => void)[] = [];
  write(chunk: Buffer): void {
    assert.equal(this.state, 'open');
    this.text += chunk.toString();
    this.chunks++;
    if (this.stalled) this.pendingBytes += chunk.length;
  }
  onDrain(callback: () => void): void {
    this.#onDrain.push(callback);
  }
  drain(): void {
    this.pendingBytes = 0;
    const callbacks = this.#onDrain;
    this.#onDrain = [];
    for (const callback of callbacks) callback();
  }
  end(): void {
    this.state = 'ended';
  }
  destroy(): void {
    this.state = 'destroyed';
  }
  /** `ADDED a@2 {"app":"x"}`, `BOOKMARK 5`, `ERROR 410 …`. */
  get events(): string[] {
    return this.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const { type, object } = JSON.parse(line);
        if (type === 'ERROR') return `ERROR ${object.code} ${object.reason}: ${object.message}`;
        const { resourceVersion, annotations, name } = object.metadata;
        if (type === 'BOOKMARK') return `BOOKMARK ${resourceVersion}${annotations ? ` ${Object.keys(annotations)}` : ''}`;
        return `${type} ${name}@${resourceVersion}`;
      });
  }
}

export const form: WatchForm = storedJsonForm('json', (metadata) =>
  Buffer.from(JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata })),
);
export const byLabel = (app: string): WatchSelector => ({ id: `app=${app}`, matches: (object) => object.metadata.labels?.['app'] === app });
export const byNode = (node: string): WatchSelector => ({
  id: `spec.nodeName=${node}`,
  nodeName: node,
  matches: (object) => (object['spec'] as { nodeName?: string } | undefined)?.nodeName === node,
});
export const byName = (name: string): WatchSelector => ({
  id: `metadata.name=${name}`,
  name,
  matches: (object) => object.metadata.name === name,
});

export interface Setup {
  store: Store;
  hub: WatchHub;
  clock: FakeClock;
  put(path: string, more?: { labels?: Record<string, string>; node?: string }, resource?: string): Promise<number>;
  remove(path: string): Promise<number>;
  open(start: WatchStart, more?: Partial<WatchRequest>): RecordingSink & { close(): void };
}

export function setup(t: TestContext, options: Partial<WatchHubDeps> = {}): Setup {
  const store = createMemoryStore();
  const clock = new FakeClock();
  const hub = createWatchHub({ store, clock, parse: (stored) => JSON.parse(stored.bytes.toString()) as AnyObject, ...options });
  t.after(() => hub.close());
  const encode = (path: string, more: { labels?: Record<string, string>; node?: string }) => (revision: number) => {
    const [namespace, name] = path.split('/');
    const metadata = { name, namespace, resourceVersion: String(revision), ...(more.labels && { labels: more.labels }) };
    return Buffer.from(JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata, spec: { ...(more.node && { nodeName: more.node }) } }));
  };
  return {
    store,
    hub,
    clock,
    put: async (path, more = {}, resource = 'pods') => {
      const key = `/core/${resource}/${path}`;
      const current = store.get(key);
      const write = current ? store.update(key, current.revision, encode(path, more)) : store.create(key, encode(path, more));
      return (await write).revision;
    },
    remove: async (path) => {
      const current = store.get(`/core/pods/${path}`)!;
      const object = JSON.parse(current.bytes.toString());
      return (
        await store.delete(current.key, current.revision, (revision) => {
          object.metadata.resourceVersion = String(revision);
          return Buffer.from(JSON.stringify(object));
        })
      ).revision;
    },
    open: (start, more = {}) => {
      const sink = new RecordingSink();
      const request = { prefix: '/core/pods/', namespace: '', form, start, bookmarks: false, timeoutMs: 3_600_000, sink, ...more };
      const watch = hub.open(request);
      return Object.assign(sink, { close: () => watch.close() });
    },
  };
}
