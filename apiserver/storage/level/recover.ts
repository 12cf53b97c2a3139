/**
 * Rebuilds the state from the log with one scan, and checks while it goes that the log is what was acknowledged: every record whole, the chain
 * unbroken, no revision missing, everything that compaction kept still there. Damage is named and refused, never repaired.
 *
 * A torn tail needs no care here: LevelDB drops a batch that was not written whole, and one that was not flushed was acknowledged to nobody.
 */

import { failpoint } from '../../../machinery/process/failpoints.ts';
import { mutant } from '../../../machinery/process/mutants.ts';
import { StoreDamaged } from '../interface.ts';
import { type ReadBytes, Revisions, Version } from '../revisions.ts';
import type { Database } from './log.ts';
import { decodeMarker, FIRST_MARKER, foldIn, MARKER_KEY, type Marker } from './marker.ts';
import {
  type DecodedRecord,
  decodeRecord,
  END_OF_RECORDS,
  FIRST_RECORD_KEY,
  hashOf,
  objectOf,
  recordKey,
  revisionOfKey,
} from './record.ts';
import type { Tail } from './tail.ts';

const READ_AHEAD = 512;

export const RESTORE_HINT =
  'restore the directory from a backup (flyball store restore FILE), or move it away to start with an empty store';

export interface Recovered {
  readonly revisions: Revisions;
  /** The hash of the last record, which the next one continues. */
  readonly hash: Buffer;
  readonly marker: Marker;
}

/** `tail` is what the log must reach at least. */
export async function recover(database: Database, location: string, tail: Tail | undefined): Promise<Recovered> {
  const stored = database.getSync(MARKER_KEY);
  const marker = stored === undefined ? FIRST_MARKER : decodeMarker(stored);
  const scan = new Scan({ marker, location, tail }, (revision) => {
    const record = database.getSync(recordKey(revision));
    if (record === undefined) throw new StoreDamaged(`${location}: the record of revision ${revision} is gone`);
    return objectOf(record);
  });
  const iterator = database.iterator({ gte: FIRST_RECORD_KEY, lt: END_OF_RECORDS, fillCache: false, highWaterMarkBytes: 1024 * 1024 });
  try {
    for (let entries = await iterator.nextv(READ_AHEAD); entries.length > 0; entries = await iterator.nextv(READ_AHEAD)) {
      failpoint('recovery.mid');
      for (const [key, record] of entries) scan.take(key, record);
    }
  } finally {
    await iterator.close();
  }
  return scan.finish();
}

class Scan {
  readonly #marker: Marker;
  readonly #location: string;
  readonly #tail: Tail | undefined;
  readonly #read: ReadBytes;
  readonly #revisions = new Revisions();
  #hash: Buffer;
  #count = 0;
  #fold = 0;
  #boundaryCrossed = false;

  constructor({ marker, location, tail }: { marker: Marker; location: string; tail: Tail | undefined }, read: ReadBytes) {
    this.#marker = marker;
    this.#location = location;
    this.#tail = tail;
    this.#read = read;
    this.#hash = marker.hash;
  }

  take(key: Buffer, record: Buffer): void {
    const revision = revisionOfKey(key);
    let decoded: DecodedRecord;
    try {
      decoded = decodeRecord(record);
    } catch (error) {
      throw this.#damaged(revision, (error as Error).message);
    }
    if (decoded.revision !== revision) throw this.#damaged(revision, `it is the record of revision ${decoded.revision}`);
    const version = new Version(decoded.key, revision, decoded.deleted, { bytes: objectOf(record), read: this.#read });
    if (revision <= this.#marker.revision) {
      this.#count++;
      this.#fold = foldIn(this.#fold, revision);
      if (this.#revisions.newest(decoded.key)) throw this.#damaged(revision, `${decoded.key} has two versions below the compaction`);
      this.#revisions.restore(version);
      return;
    }
    this.#crossBoundary();
    this.#follow(revision, decoded);
    this.#revisions.apply(version);
    this.#hash = hashOf(record);
    if (revision === this.#tail?.revision && this.#hash.toString('hex') !== this.#tail.hash) {
      throw this.#damaged(revision, 'it is not the one that was last known');
    }
  }

  finish(): Recovered {
    this.#crossBoundary();
    const { revision } = this.#revisions;
    if (this.#tail !== undefined && revision < this.#tail.revision && !mutant('store.tail-unchecked')) {
      throw new StoreDamaged(
        `${this.#location}: the log in db ends at revision ${revision}, but it has reached ${this.#tail.revision}, as TAIL beside it tells; ${RESTORE_HINT}`,
      );
    }
    return { revisions: this.#revisions, hash: Buffer.from(this.#hash), marker: this.#marker };
  }

  #follow(revision: number, decoded: DecodedRecord): void {
    const expected = this.#revisions.revision + 1;
    if (revision !== expected) throw this.#damaged(expected, `it is missing (the next record is ${revision})`);
    if (!decoded.previousHash.equals(this.#hash) && !mutant('store.chain-unchecked'))
      throw this.#damaged(revision, 'it does not continue the record before it');
    const current = this.#revisions.get(decoded.key)?.revision ?? 0;
    if (decoded.previousRevision !== current) {
      throw this.#damaged(revision, `it replaces revision ${decoded.previousRevision} of ${decoded.key}, which is at ${current}`);
    }
  }

  #crossBoundary(): void {
    if (this.#boundaryCrossed) return;
    this.#boundaryCrossed = true;
    const { revision, count, fold } = this.#marker;
    if (this.#count !== count || this.#fold !== fold) {
      throw new StoreDamaged(
        `${this.#location}: of the ${count} records kept up to revision ${revision}, ${this.#count} are there or others stand in their place`,
      );
    }
    this.#revisions.revision = revision;
    this.#revisions.compacted = this.#marker === FIRST_MARKER ? 0 : revision;
  }

  #damaged(revision: number, what: string): StoreDamaged {
    return new StoreDamaged(`${this.#location}: the record of revision ${revision} is damaged: ${what}`);
  }
}
