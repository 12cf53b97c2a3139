/**
 * The log in LevelDB. One batch per group, each with `sync: true`: LevelDB rolls its own log without flushing the old one, so one unsynced
 * write could be lost from the middle while a later synced one survives. Never mix.
 */
import type { Level } from 'level';
import { asyncFailpoint, failpoint } from '../../../machinery/process/failpoints.ts';
import { mutant } from '../../../machinery/process/mutants.ts';
import type { LogEntry, RevisionLog } from '../log-store.ts';
import { encodeMarker, foldIn, MARKER_KEY, type Marker } from './marker.ts';
import { Reclaimer, sizeOfFiles } from './reclaim.ts';
import { decodeRecord, encodeRecord, hashOf, objectOf, recordKey, revisionOfKey } from './record.ts';
import type { Tail } from './tail.ts';

export type Database = Level<Buffer, Buffer>;

interface Staged {
  readonly key: Buffer;
  readonly record: Buffer;
}

/** After so many revisions what stands beside the database is flushed. */
const FLUSH_EVERY = 500;

/** What is kept beside the database (tail.ts). */
export interface Beside {
  /** Notes how far the log has come. */
  note(end: Tail): void;
  /** Makes the last note durable. */
  flush(): Promise<void>;
  closed(): Promise<void>;
}

export class LevelLog implements RevisionLog {
  readonly #database: Database;
  readonly #beside: Beside;
  readonly #reclaimer: Reclaimer;
  #staged: Staged[] = [];
  /** Hash of the last staged record. */
  #hash: Buffer;
  #marker: Marker;
  #committed: Tail;
  /** The revision of the last note that was flushed. */
  #flushed: number;
  #flushing: Promise<void> | undefined;

  constructor(database: Database, state: { revision: number; hash: Buffer; marker: Marker }, beside: Beside) {
    this.#database = database;
    this.#reclaimer = new Reclaimer(database);
    this.#hash = state.hash;
    this.#committed = { revision: state.revision, hash: state.hash.toString('hex') };
    this.#marker = state.marker;
    this.#flushed = state.revision;
    this.#beside = beside;
  }

  stage(entry: LogEntry): Buffer {
    const record = encodeRecord(entry, this.#hash);
    this.#hash = hashOf(record);
    this.#staged.push({ key: recordKey(entry.revision), record });
    return objectOf(record);
  }

  async commit(count: number): Promise<void> {
    const group = this.#staged.slice(0, count);
    await asyncFailpoint('store.before-batch');
    await this.#database.batch(
      group.map(({ key, record }) => ({ type: 'put' as const, key, value: record })),
      { sync: !mutant('store.no-fsync') },
    );
    await asyncFailpoint('store.after-batch');
    this.#staged = this.#staged.slice(count);
    const last = group[group.length - 1];
    this.#committed = { revision: revisionOfKey(last.key), hash: hashOf(last.record).toString('hex') };
    this.#beside.note(this.#committed);
    if (this.#committed.revision - this.#flushed >= FLUSH_EVERY) this.#flush();
  }

  /** Nobody waits for it. A disk that does not take it will not take the next group either, and that is told. */
  #flush(): void {
    if (this.#flushing !== undefined || this.#flushed === this.#committed.revision) return;
    this.#flushed = this.#committed.revision;
    const settled = (): void => {
      this.#flushing = undefined;
    };
    this.#flushing = this.#beside.flush().then(settled, settled);
  }

  async compact(revision: number, dropped: readonly number[], freed: number): Promise<void> {
    if (revision <= this.#marker.revision) return;
    const boundary = this.#database.getSync(recordKey(revision));
    if (boundary === undefined) throw new Error(`the record of revision ${revision} is gone`);
    let { count, fold } = this.#marker;
    for (let r = this.#marker.revision + 1; r <= revision; r++) fold = foldIn(fold, r);
    count += revision - this.#marker.revision - dropped.length;
    for (const r of dropped) fold = foldIn(fold, r);
    const marker: Marker = { revision, hash: Buffer.from(hashOf(boundary)), count, fold };
    await asyncFailpoint('compact.before-commit');
    await this.#database.batch(
      [
        ...dropped.map((r) => ({ type: 'del' as const, key: recordKey(r) })),
        { type: 'put' as const, key: MARKER_KEY, value: encodeMarker(marker) },
      ],
      { sync: true },
    );
    await asyncFailpoint('compact.after-commit');
    this.#marker = marker;
    this.#reclaimer.freed(freed);
    this.#flush();
  }

  async reclaim(kept: number, signal: AbortSignal): Promise<void> {
    await this.#reclaimer.run(this.#marker.revision, kept, signal);
  }

  sizeOnDisk(): number {
    return sizeOfFiles(this.#database.location);
  }

  readonly read = (revision: number): Buffer => {
    const record = this.#database.getSync(recordKey(revision));
    if (record === undefined) throw new Error(`the record of revision ${revision} is gone`);
    decodeRecord(record); // a changed byte is served to nobody
    return objectOf(record);
  };

  async close(): Promise<void> {
    failpoint('store.before-close');
    await this.#database.close();
    await this.#flushing;
    await this.#beside.flush();
    await this.#beside.closed();
  }
}
