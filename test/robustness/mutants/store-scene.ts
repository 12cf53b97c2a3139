/**
 * A store on disk with a watch hub above it, in this process, driven step by step and recorded like the traffic of a run: what happens between two
 * awaits is decided by the test, so a race is a matter of order, not of luck.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Store, Stored } from '../../../apiserver/storage/interface.ts';
import { openLevelStore } from '../../../apiserver/storage/level/store.ts';
import type { StoreOptions } from '../../../apiserver/storage/log-store.ts';
import { createWatchHub, type WatchHub } from '../../../apiserver/watch/hub.ts';
import { form, RecordingSink } from '../../../apiserver/watch/testing/watches.ts';
import type { AnyObject, KubeObject } from '../../../machinery/api/object.ts';
import type { WatchEvent } from '../../../machinery/client/client.ts';
import { configmaps } from '../../../machinery/client/resource-type.ts';
import { systemRandom } from '../../../machinery/process/random.ts';
import { FakeClock } from '../../../machinery/process/testing/fake-clock.ts';
import { journalReading } from '../batch.ts';
import { COUNT, History, prefixOf, seenOf, TOKEN, type WriteOp } from '../history.ts';
import { type Journal, keepJournal, syncedLength } from '../journal.ts';
import { judge, violationsOf } from '../judge.ts';
import { cutToFlushed } from '../power-cut.ts';
import { expiryOf, toldOf } from '../recorded-client.ts';
import { type Reading, readStore } from '../revisions.ts';
import { closeLater } from './scenario.ts';

const NAMESPACE = 'default';
const PREFIX = prefixOf(configmaps);
export const BOOKMARK_INTERVAL_MS = 60_000;

export interface Content {
  readonly color?: string;
  readonly count?: number;
  /** The revision it expects; the present one when absent. */
  readonly expected?: number;
}

export interface OpenWatch {
  readonly sink: RecordingSink;
  /** Takes down what it was told. */
  end(): void;
}

export class StoreScene {
  readonly history = new History();
  readonly clock = new FakeClock();
  readonly #directory = mkdtempSync(join(tmpdir(), 'flyball-scene-'));
  readonly #readings: Reading[] = [];
  readonly #uids = new Map<string, string>();
  readonly #options: StoreOptions;
  #journal: Journal;
  #lives = 0;
  #tokens = 0;
  store!: Store;
  #hub!: WatchHub;
  /** Before the end, or because a watch ends. */
  readonly #watches = new Set<OpenWatch>();

  static async open(options: StoreOptions = {}): Promise<StoreScene> {
    const scene = new StoreScene(options);
    closeLater(() => scene.#dispose());
    await scene.#open();
    return scene;
  }

  private constructor(options: StoreOptions) {
    this.#options = options;
    this.#journal = keepJournal(this.#directory);
  }

  get live(): string {
    return join(this.#directory, `live-${this.#lives}`);
  }

  async #open(): Promise<void> {
    this.store = await openLevelStore(this.live, this.#options);
    const parse = (stored: Stored): AnyObject => JSON.parse(stored.bytes.toString()) as AnyObject;
    this.#hub = createWatchHub({ store: this.store, clock: this.clock, parse, bookmarkIntervalMs: BOOKMARK_INTERVAL_MS });
  }

  /** Creates or updates. */
  async put(name: string, content: Content = {}): Promise<WriteOp> {
    const current = this.store.get(keyOf(name));
    if (current === undefined) this.#uids.set(name, systemRandom.uuid());
    const token = `t${this.#tokens++}`;
    const encode = (revision: number): Buffer => this.#encoded(name, revision, { ...content, token });
    const write = (): Promise<Stored> =>
      current === undefined
        ? this.store.create(keyOf(name), encode)
        : this.store.update(keyOf(name), content.expected ?? current.revision, encode);
    const expected = content.expected ?? current?.revision;
    return this.#record({ op: current === undefined ? 'create' : 'update', key: keyOf(name), token, ...(expected && { expected }) }, write);
  }

  async remove(name: string): Promise<WriteOp> {
    const { revision, bytes } = this.store.get(keyOf(name))!;
    const last = JSON.parse(bytes.toString()) as KubeObject;
    const encode = (at: number): Buffer =>
      Buffer.from(JSON.stringify({ ...last, metadata: { ...last.metadata, resourceVersion: String(at) } }));
    return this.#record({ op: 'delete', key: keyOf(name) }, () => this.store.delete(keyOf(name), revision, encode));
  }

  /** True when it is there. */
  get(name: string): boolean {
    const start = performance.now();
    const stored = this.store.get(keyOf(name));
    const rest = stored === undefined ? { status: 404 } : { status: 200, seen: seenOf(configmaps, JSON.parse(stored.bytes.toString())) };
    this.history.add({ op: 'get', client: 'g', key: keyOf(name), start, end: performance.now(), ...rest });
    return stored !== undefined;
  }

  watch(from: number | 'state', color?: string): OpenWatch {
    const start = performance.now();
    const sink = new RecordingSink();
    const open = this.#hub.open({
      prefix: PREFIX,
      namespace: '',
      ...(color !== undefined && { selector: { id: color, matches: (object: AnyObject) => object.metadata.labels?.['color'] === color } }),
      form,
      start: from === 'state' ? { from: 'state', announceEnd: true } : { from: 'revision', revision: from },
      bookmarks: true,
      timeoutMs: 86_400_000,
      sink,
    });
    const watch: OpenWatch = {
      sink,
      end: () => {
        this.#watches.delete(watch);
        open.close();
        const events = sink.text
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as WatchEvent<KubeObject>);
        const told = events.flatMap((event) => (event.type === 'ERROR' ? [] : [toldOf(configmaps, event)]));
        const expired = events.flatMap((event) => (event.type === 'ERROR' ? (expiryOf(event.object) ?? []) : []))[0];
        const label = color === undefined ? {} : { label: `color=${color}` };
        this.history.add({
          op: 'watch',
          client: 'r',
          prefix: PREFIX,
          ...label,
          from,
          events: told,
          ...(expired && { refused: 410, expired }),
          start,
          end: performance.now(),
          status: 200,
        });
      },
    };
    this.#watches.add(watch);
    return watch;
  }

  /** The watch should have come so far. */
  settled(watch: OpenWatch, awaited: number): void {
    const told = watch.sink.text.split('\n').filter((line) => line !== '');
    const last = told.length === 0 ? 0 : Number(JSON.parse(told.at(-1)!).object.metadata?.resourceVersion ?? 0);
    const [start, end] = [performance.now(), performance.now()];
    this.history.add({ op: 'settle', client: 'r', start, end, status: 200, awaited, reached: last });
  }

  async restart(): Promise<void> {
    await this.#close();
    await this.#read();
    await this.#open();
  }

  /** What a kill leaves, or a power cut: in this very turn. */
  async crash(power: 'on' | 'off'): Promise<void> {
    const image = join(this.#directory, `live-${this.#lives + 1}`);
    cpSync(this.live, image, { recursive: true });
    const atLeast = journalReading(this.#directory).through;
    if (power === 'off') cutToFlushed(image, (file) => syncedLength(this.#journal.synced, file));
    // what the old process still does, nobody hears of
    this.#journal.stop();
    await this.#close();
    this.#journal = keepJournal(this.#directory);
    this.#lives++;
    await this.#read(atLeast);
    await this.#open();
  }

  /** Ends the story. */
  async violations(compacting = false): Promise<string[]> {
    await this.#close();
    await this.#read();
    this.#journal.stop();
    const readings = [journalReading(this.#directory), ...this.#readings];
    return violationsOf(judge({ operations: this.history.operations, readings, compacting }));
  }

  /** What is done to the files from now on is no part of the history. */
  stopJournal(): void {
    this.#journal.stop();
  }

  async #dispose(): Promise<void> {
    this.#journal.stop();
    await this.store.close().catch(() => undefined);
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #read(atLeast = journalReading(this.#directory).through): Promise<void> {
    this.#readings.push({ ...(await readStore(this.live)), atLeast, whole: true });
  }

  async #close(): Promise<void> {
    for (const watch of [...this.#watches]) watch.end();
    this.#hub.close();
    await this.store.close();
  }

  #encoded(name: string, revision: number, { color = 'red', count, token }: Content & { token: string }): Buffer {
    const annotations = { [TOKEN]: token, ...(count !== undefined && { [COUNT]: String(count) }) };
    const uid = this.#uids.get(name)!;
    const metadata = { name, namespace: NAMESPACE, uid, resourceVersion: String(revision), labels: { color }, annotations };
    return Buffer.from(JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata }));
  }

  async #record(what: Pick<WriteOp, 'op' | 'key' | 'token' | 'expected'>, write: () => Promise<Stored>): Promise<WriteOp> {
    const start = performance.now();
    let result: Pick<WriteOp, 'status' | 'answer'>;
    try {
      const { revision, uid, hash } = seenOf(configmaps, JSON.parse((await write()).bytes.toString()));
      result = { status: 200, answer: what.op === 'delete' ? { uid } : { revision, uid, hash } };
    } catch {
      result = { status: 500 };
    }
    const done: WriteOp = { client: 'w', ...what, start, end: performance.now(), ...result };
    this.history.add(done);
    return done;
  }
}

const keyOf = (name: string): string => `${PREFIX}${NAMESPACE}/${name}`;
