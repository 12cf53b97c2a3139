/**
 * The log in LevelDB. One batch per group, each with `sync: true`: LevelDB rolls its own log without flushing the old one, so one unsynced
 * write could be lost from the middle while a later synced one survives. Never mix.
 */
import type { Level } from 'level';
import type { LogEntry, RevisionLog } from '../log-store.ts';
import { encodeMarker, foldIn, MARKER_KEY, type Marker } from './marker.ts';
import { encodeRecord, hashOf, objectOf, recordKey, revisionOfKey } from './record.ts';
import type { Tail } from './tail.ts';

export type Database = Level<Buffer, Buffer>;

interface Staged {
  readonly key: Buffer;
  readonly record: Buffer;
}

export class LevelLog implements RevisionLog {
  readonly #database: Database;
  readonly #onClosed: (end: Tail) => Promise<void>;
  #staged: Staged[] = [];
  /** Hash of the last staged record. */
  #hash: Buffer;
  #marker: Marker;
  #committed: Tail;

  constructor(database: Database, state: { revision: number; hash: Buffer; marker: Marker }, onClosed: (end: Tail) => Promise<void>) {
    this.#database = database;
    this.#hash = state.hash;
    this.#committed = { revision: state.revision, hash: state.hash.toString('hex') };
    this.#marker = state.marker;
    this.#onClosed = onClosed;
  }

  stage(entry: LogEntry): Buffer {
    const record = encodeRecord(entry, this.#hash);
    this.#hash = hashOf(record);
    this.#staged.push({ key: recordKey(entry.revision), record });
    return objectOf(record);
  }

  async commit(count: number): Promise<void> {
    const group = this.#staged.slice(0, count);
    await this.#database.batch(
      group.map(({ key, record }) => ({ type: 'put' as const, key, value: record })),
      { sync: true },
    );
    this.#staged = this.#staged.slice(count);
    const last = group[group.length - 1];
    this.#committed = { revision: revisionOfKey(last.key), hash: hashOf(last.record).toString('hex') };
  }

  async compact(revision: number, dropped: readonly number[]): Promise<void> {
    if (revision <= this.#marker.revision) return;
    const boundary = this.#database.getSync(recordKey(revision));
    if (boundary === undefined) throw new Error(`the record of revision ${revision} is gone`);
    let { count, fold } = this.#marker;
    for (let r = this.#marker.revision + 1; r <= revision; r++) fold = foldIn(fold, r);
    count += revision - this.#marker.revision - dropped.length;
    for (const r of dropped) fold = foldIn(fold, r);
    const marker: Marker = { revision, hash: Buffer.from(hashOf(boundary)), count, fold };
    await this.#database.batch(
      [
        ...dropped.map((r) => ({ type: 'del' as const, key: recordKey(r) })),
        { type: 'put' as const, key: MARKER_KEY, value: encodeMarker(marker) },
      ],
      { sync: true },
    );
    this.#marker = marker;
  }

  readonly read = (revision: number): Buffer => {
    const record = this.#database.getSync(recordKey(revision));
    if (record === undefined) throw new Error(`the record of revision ${revision} is gone`);
    return objectOf(record);
  };

  async close(): Promise<void> {
    await this.#database.close();
    await this.#onClosed(this.#committed);
  }
}
