/**
 * The store over a log of revisions: decides, orders, commits in groups and publishes. The backends give it a place to append to.
 * Mirrors what etcd's server does between Raft and mvcc, for a single writer.
 *
 * A write is decided at once, synchronously, against the *pending* state: what is committed plus what waits. It gets its revision then, and
 * is encoded with it. The group commit takes all that wait, appends them with one flush, and only then publishes: index, subscribers, callers,
 * in revision order. So no two writes can be based on the same version, and no one sees what a power cut could take back.
 *
 * A failed append fences the store: nothing that was queued is acknowledged, nothing is accepted any more, `failed` settles.
 */
import { afterTurn, turnEnd } from '../../machinery/process/clock.ts';
import { failpoint } from '../../machinery/process/failpoints.ts';
import { mutant } from '../../machinery/process/mutants.ts';
import {
  type ChangesResult,
  KeyExists,
  KeyMissing,
  type ListOptions,
  type ListResult,
  type OnChanges,
  RevisionConflict,
  type Store,
  type Stored,
  StoreFailed,
  StoreFull,
  type StoreSize,
  type Subscription,
  type WriteOptions,
} from './interface.ts';
import { type ReadBytes, type Revisions, Version } from './revisions.ts';
import { Subscribers } from './subscribers.ts';

export interface LogEntry {
  readonly revision: number;
  readonly type: 'put' | 'delete';
  readonly key: string;
  /** The version it replaces, 0 for none. */
  readonly previousRevision: number;
  readonly bytes: Buffer;
}

/** Where revisions become durable. Called by one caller only, one append or compaction at a time. */
export interface RevisionLog {
  /** Takes an entry in, to be written by the next `commit` that reaches it; answers the bytes to keep in memory (a copy of its own, off-heap). */
  stage(entry: LogEntry): Buffer;
  /** Makes the first `count` staged entries durable: all of them, or the store has failed. */
  commit(count: number): Promise<void>;
  /** Forgets `dropped`, which make up `freed` bytes, and that revisions up to `revision` can be read, in one step. */
  compact(revision: number, dropped: readonly number[], freed: number): Promise<void>;
  /** Gives room back that compaction has freed, when it is much beside the `kept` bytes. Writes go on meanwhile; ends early with the signal. */
  reclaim?(kept: number, signal: AbortSignal): Promise<void>;
  /** Bytes of the files. */
  sizeOnDisk?(): number;
  /** Reads old bytes back; without it they stay in memory. */
  readonly read?: ReadBytes;
  close(): Promise<void>;
}

interface Waiting {
  readonly version: Version;
  resolve(stored: Stored): void;
  reject(error: Error): void;
}

/** The last undecided state of a key, and the calls to be refused once it is committed. */
interface Pending {
  readonly version: Version;
  readonly refused: (() => void)[];
}

/** A group is cut here so that its publication does not hold up the event loop. The queue itself is bounded by the requests in flight. */
const MAX_GROUP = 1024;
/** How far above the quota writes `fromReserve` may go, as a part of it. Deletions may go any way: what they add is bounded by what there is. */
const RESERVE = 1 / 16;
/** Revisions per compaction step. */
const COMPACTION_SLICE = 256;
/** Turns and groups of writes between two steps. */
const GROUPS_A_SLICE = 8;

export interface StoreOptions {
  /** How many bytes objects and history may take; 0 or absent: any. */
  readonly quotaBytes?: number;
}

interface Write {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly current: Version | undefined;
  /** How full the store may become; 0: however full. */
  readonly room: number;
}

type Encode = (revision: number) => Buffer;

export class LogStore implements Store {
  readonly #log: RevisionLog;
  readonly #revisions: Revisions;
  readonly #subscribers: Subscribers;
  readonly #pending = new Map<string, Pending>();
  #queue: Waiting[] = [];
  #nextRevision: number;
  /** Set while a commit or compaction runs; settles when the log is idle again. */
  #running: Promise<void> | undefined;
  #scheduled = false;
  #failure: StoreFailed | undefined;
  readonly #quota: number;
  readonly #closing = new AbortController();
  #closed = false;
  #reportFailure: (error: Error) => void = () => {};
  readonly failed: Promise<Error> = new Promise((resolve) => {
    this.#reportFailure = resolve;
  });

  constructor(log: RevisionLog, revisions: Revisions, options: StoreOptions = {}) {
    this.#quota = options.quotaBytes ?? 0;
    this.#log = log;
    this.#revisions = revisions;
    this.#subscribers = new Subscribers(revisions);
    this.#nextRevision = revisions.revision + 1;
    if (mutant('store.revision-reset')) this.#nextRevision = 2;
    if (mutant('store.revision-in-memory')) this.#nextRevision = Math.max(1, ...this.list('/').items.map((item) => item.revision)) + 1;
  }

  get revision(): number {
    return this.#revisions.revision;
  }
  get compactedRevision(): number {
    return this.#revisions.compacted;
  }

  get(key: string): Stored | undefined {
    if (mutant('store.read-pending')) return this.#newest(key)?.deleted ? undefined : this.#newest(key);
    return this.#revisions.get(key);
  }

  list(prefix: string, options: ListOptions = {}): ListResult {
    const revision = options.revision ?? this.revision;
    const { items, more, remaining } = this.#revisions.list(prefix, options.startKey, options.limit ?? 0, revision);
    return { revision, items, nextKey: more ? `${items[items.length - 1].key}\0` : undefined, remaining };
  }

  count(prefix: string): number {
    return this.#revisions.count(prefix);
  }

  changes(prefix: string, afterRevision: number, limit: number): ChangesResult {
    return this.#revisions.changes(prefix, afterRevision, limit);
  }

  watch(prefix: string, afterRevision: number, onChanges: OnChanges): Subscription {
    return this.#subscribers.add(prefix, afterRevision, onChanges);
  }

  create(key: string, encode: Encode): Promise<Stored> {
    const current = this.#newest(key);
    if (current && !current.deleted && !mutant('create.exists-unchecked')) return this.#refuse(key, () => new KeyExists(key));
    return this.#write({ type: 'put', key, current, room: this.#quota }, encode);
  }

  update(key: string, expectedRevision: number, encode: Encode, options: WriteOptions = {}): Promise<Stored> {
    const current = this.#newest(key);
    const room = this.#quota * (options.fromReserve ? 1 + RESERVE : 1);
    return this.#mismatch(key, current, expectedRevision) ?? this.#write({ type: 'put', key, current, room }, encode);
  }

  delete(key: string, expectedRevision: number, encode: Encode): Promise<Stored> {
    const current = this.#newest(key);
    const expected = mutant('store.delete-overtakes') ? (current?.revision ?? 0) : expectedRevision;
    return this.#mismatch(key, current, expected) ?? this.#write({ type: 'delete', key, current, room: 0 }, encode);
  }

  size(): StoreSize {
    return { used: this.#revisions.used, quota: this.#quota, onDisk: this.#log.sizeOnDisk?.() ?? 0 };
  }

  async compact(revision: number, signal?: AbortSignal): Promise<void> {
    const target = Math.min(revision, this.revision);
    while (this.compactedRevision < target) {
      while (this.#running) await this.#running;
      if (this.#failure || this.#closed || signal?.aborted) return;
      // A watcher that still reads history holds compaction back: its next slice must be there.
      const next = Math.min(target, this.compactedRevision + COMPACTION_SLICE, this.#subscribers.oldestReader());
      if (next > this.compactedRevision) await this.#run(() => this.#compactTo(next));
      await turnEnd();
      failpoint('compact.mid-slices');
      await this.#letWriters();
    }
    const ends = [this.#closing.signal, ...(signal ? [signal] : [])];
    if (!this.#failure && !this.#closed) await this.#log.reclaim?.(this.#revisions.used, AbortSignal.any(ends));
  }

  /** Between two slices of compaction: writers that wait get most of the disk. */
  async #letWriters(): Promise<void> {
    for (let groups = 0; groups < GROUPS_A_SLICE && (this.#running || this.#queue.length > 0); groups++) {
      if (this.#failure || this.#closed) return;
      await (this.#running ?? turnEnd());
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#closing.abort();
    while (!this.#failure && (this.#running || this.#queue.length > 0)) {
      if (this.#running) await this.#running;
      else await this.#run(() => this.#commitGroup());
    }
    this.#subscribers.close();
    await this.#log.close();
  }

  #newest(key: string): Version | undefined {
    return this.#pending.get(key)?.version ?? this.#revisions.newest(key);
  }

  #mismatch(key: string, current: Version | undefined, expectedRevision: number): Promise<never> | undefined {
    if (current === undefined || current.deleted) return this.#refuse(key, () => new KeyMissing(key));
    if (current.revision === expectedRevision || mutant('store.cas-skipped')) return undefined;
    return this.#refuse(key, () => new RevisionConflict(`${key} is at revision ${current.revision}, not ${expectedRevision}`));
  }

  /** Refuses once the version that the refusal is about can be read. */
  #refuse(key: string, error: () => Error): Promise<never> {
    if (this.#failure) return Promise.reject(this.#failure);
    const pending = this.#pending.get(key);
    if (pending === undefined || mutant('store.refused-early')) return Promise.reject(error());
    return new Promise((_, reject) => {
      pending.refused.push(() => reject(this.#failure ?? error()));
    });
  }

  #write({ type, key, current, room }: Write, encode: Encode): Promise<Stored> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#closed) return Promise.reject(new StoreFailed('the store is closed'));
    const revision = this.#nextRevision;
    let bytes: Buffer;
    try {
      bytes = encode(revision);
    } catch (error) {
      return Promise.reject(error);
    }
    if (room > 0 && this.#revisions.used + bytes.length > room && !mutant('store.quota-ignored'))
      return Promise.reject(new StoreFull(`${this.#revisions.used} of ${this.#quota} bytes are used`));
    // `encode` must not write; were it to, two writes would share a revision.
    if (this.#nextRevision !== revision) throw new Error('a write was made while another was being encoded');
    this.#nextRevision++;
    const previousRevision = current === undefined || current.deleted ? 0 : current.revision;
    const kept = this.#log.stage({ revision, type, key, previousRevision, bytes });
    const version = new Version(key, revision, type === 'delete', { bytes: kept, read: this.#log.read });
    const refused = this.#pending.get(key)?.refused ?? [];
    this.#pending.set(key, { version, refused });
    return new Promise((resolve, reject) => {
      this.#queue.push({ version, resolve, reject });
      this.#schedule();
    });
  }

  /** Starts a group commit after this turn of the event loop, so that requests read in the same turn share it. */
  #schedule(): void {
    if (this.#scheduled || this.#running || this.#closed) return;
    this.#scheduled = true;
    afterTurn(() => {
      this.#scheduled = false;
      if (!this.#running && !this.#failure && !this.#closed && this.#queue.length > 0) void this.#run(() => this.#commitGroup());
    });
  }

  /** Runs one step on the log. Never rejects: a failed step fences the store. */
  async #run(step: () => Promise<void>): Promise<void> {
    const running = step().catch((error: unknown) => this.#fail(error));
    this.#running = running;
    await running;
    this.#running = undefined;
    if (this.#queue.length > 0 && !this.#failure && !this.#closed) this.#schedule();
  }

  async #commitGroup(): Promise<void> {
    const group = this.#queue.slice(0, MAX_GROUP);
    if (mutant('store.ack-before-fsync')) for (const waiting of group) waiting.resolve(waiting.version);
    const durable = this.#log.commit(group.length);
    if (!mutant('store.publish-before-fsync')) await durable;
    failpoint('store.before-publish');
    const changes = group.map((waiting) => this.#revisions.apply(waiting.version));
    const refused: (() => void)[] = [];
    for (const { version } of group) {
      const pending = this.#pending.get(version.key);
      if (pending?.version !== version) continue;
      this.#pending.delete(version.key);
      refused.push(...pending.refused);
    }
    this.#subscribers.publish(mutant('store.order-swapped') ? changes.reverse() : changes);
    failpoint('store.before-ack');
    if (mutant('store.publish-before-fsync')) await durable;
    this.#queue = this.#queue.slice(group.length);
    for (const waiting of group) waiting.resolve(waiting.version);
    for (const refuse of refused) refuse();
  }

  async #compactTo(revision: number): Promise<void> {
    const { dropped, bytes } = this.#revisions.superseded(revision);
    await this.#log.compact(revision, dropped, bytes);
    this.#revisions.compact(revision);
  }

  #fail(cause: unknown): void {
    const failure = new StoreFailed('the store could not write and takes no more writes', { cause });
    if (!mutant('store.not-fenced')) this.#failure = failure;
    const queue = this.#queue;
    this.#queue = [];
    for (const waiting of queue) waiting.reject(failure);
    for (const pending of this.#pending.values()) for (const refuse of pending.refused) refuse();
    this.#pending.clear();
    if (!mutant('store.not-fenced')) this.#reportFailure(failure);
  }
}
