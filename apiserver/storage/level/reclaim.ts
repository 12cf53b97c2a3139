/**
 * Gives room on the disk back. LevelDB only marks what is deleted, and rewrites a table when enough was written over it, which records keyed by
 * ascending revisions never are: without this the files of a busy store only grow.
 *
 * It rewrites the range that compaction has gone through, in slices, on LevelDB's own thread. Writers wait for none of it (measured in
 * docs/decisions/0012); what is rewritten is bounded by what became free.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { compactRange } from './database.ts';
import type { Database } from './log.ts';
import { FIRST_RECORD_KEY, recordKey, revisionOfKey } from './record.ts';

/** Less is not worth it. */
const MIN_FREED = 16 * 1024 * 1024;
/** Bytes of table a slice rewrites, about. */
const SLICE = 16 * 1024 * 1024;

export class Reclaimer {
  readonly #database: Database;
  #freed = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Compaction has dropped so many bytes. */
  freed(bytes: number): void {
    this.#freed += bytes;
  }

  /** Rewrites up to `revision` when as much has become free as half of what is kept there. */
  async run(revision: number, kept: number, signal: AbortSignal): Promise<void> {
    if (this.#freed < Math.max(MIN_FREED, kept / 2)) return;
    this.#freed = 0;
    const [first] = await this.#database.keys({ gte: FIRST_RECORD_KEY, limit: 1 }).all();
    if (first === undefined) return;
    const from = revisionOfKey(first);
    const slices = Math.max(1, Math.ceil(sizeOfFiles(this.#database.location) / SLICE));
    const step = Math.ceil((revision - from + 1) / slices);
    // From 0: the records that were deleted lie before the first that is left.
    for (let start = 0, end = from + step; !signal.aborted && start <= revision; start = end, end += step) {
      await compactRange(this.#database, recordKey(start), recordKey(Math.min(end, revision)));
    }
  }
}

/**
 * LevelDB removes files on its own thread, so one may be gone between two looks. A directory that somebody took away counts nothing: whoever measures is not
 * the one to end the process, the next write will.
 */
export function sizeOfFiles(location: string): number {
  if (!existsSync(location)) return 0;
  let bytes = 0;
  for (const name of readdirSync(location)) bytes += statSync(join(location, name), { throwIfNoEntry: false })?.size ?? 0;
  return bytes;
}
