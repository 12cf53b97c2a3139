/**
 * The ground truth of a run: all revisions that were ever durable. They are read offline from copies of the database after each end of the server, and
 * from the journal that the server under test keeps of its batches (compaction forgets what the database once had).
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Level } from 'level';
import { decodeMarker, MARKER_KEY } from '../../apiserver/storage/level/marker.ts';
import { decodeRecord, END_OF_RECORDS, FIRST_RECORD_KEY, objectOf } from '../../apiserver/storage/level/record.ts';
import type { KubeObject } from '../../machinery/api/object.ts';
import { COUNT, hashOf, TOKEN } from './history.ts';

export interface Revision {
  readonly revision: number;
  readonly key: string;
  readonly deleted: boolean;
  /** The revision it replaced, 0 for none. */
  readonly previous: number;
  readonly uid: string;
  readonly hash: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly token?: string;
  readonly count?: number;
}

export function revisionOf(record: Buffer): Revision {
  const { revision, deleted, previousRevision, key } = decodeRecord(record);
  const object = JSON.parse(objectOf(record).toString('utf8')) as KubeObject;
  const { uid = '', labels = {}, annotations = {} } = object.metadata;
  const { [TOKEN]: token, [COUNT]: count } = annotations;
  return {
    revision,
    key,
    deleted,
    previous: previousRevision,
    uid,
    hash: hashOf(object),
    labels,
    ...(token !== undefined && !deleted && { token }),
    ...(count !== undefined && { count: Number(count) }),
  };
}

/** What was found at one time. */
export interface Reading {
  readonly revisions: readonly Revision[];
  /** How far it goes; what was compacted ends below it. */
  readonly through: number;
  /** How far it must go at least: that much had been flushed. */
  readonly atLeast: number;
  /** Everything that was current at `through` must be in it: it is a store, not a journal. */
  readonly whole: boolean;
}

/** Of a store directory (the one with `db/`), without touching it: LevelDB rewrites what it opens. */
export async function readStore(directory: string): Promise<Pick<Reading, 'revisions' | 'through'>> {
  const copy = mkdtempSync(join(tmpdir(), 'flyball-revisions-'));
  try {
    cpSync(join(directory, 'db'), join(copy, 'db'), { recursive: true });
    const database = new Level<Buffer, Buffer>(join(copy, 'db'), {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
      createIfMissing: false,
    });
    await database.open();
    const revisions: Revision[] = [];
    for await (const [, record] of database.iterator({ gte: FIRST_RECORD_KEY, lt: END_OF_RECORDS })) revisions.push(revisionOf(record));
    const marker = database.getSync(MARKER_KEY);
    await database.close();
    const compacted = marker === undefined ? 1 : decodeMarker(marker).revision;
    return { revisions, through: Math.max(compacted, revisions.at(-1)?.revision ?? 1) };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** What `journal.ts` wrote: records, each after its length. A record cut short by a kill was told to nobody. */
export function readJournal(path: string): Revision[] {
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  const revisions: Revision[] = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) break;
    revisions.push(revisionOf(bytes.subarray(at + 4, end)));
    at = end;
  }
  return revisions;
}

/** Several readings of one history as one, and where they contradict each other (D4: a revision is given once). */
export function merged(readings: readonly Pick<Reading, 'revisions'>[]): { truth: Revision[]; violations: string[] } {
  const byRevision = new Map<number, Revision>();
  const violations: string[] = [];
  for (const { revisions } of readings) {
    for (const revision of revisions) {
      const known = byRevision.get(revision.revision);
      if (known === undefined) byRevision.set(revision.revision, revision);
      else if (known.key !== revision.key || known.hash !== revision.hash || known.deleted !== revision.deleted)
        violations.push(`revision ${revision.revision} was ${known.key} ${known.hash} and later ${revision.key} ${revision.hash}`);
    }
  }
  return { truth: [...byRevision.values()].sort((a, b) => a.revision - b.revision), violations: [...new Set(violations)] };
}
