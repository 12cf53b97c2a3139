/**
 * Makes a store of a backup. Mirrors `etcdutl snapshot restore --bump-revision --mark-compacted`: the revision moves past anything that was ever
 * given out after the backup, and everything before is compacted, so that a client that has seen more than the backup knows starts anew instead of
 * taking old for new.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../../machinery/process/clock.ts';
import { mutant } from '../../../machinery/process/mutants.ts';
import { syncDirectory } from '../../../machinery/process/new-file.ts';
import type { Random } from '../../../machinery/process/random.ts';
import { openLevel, READY_KEY, readyValue } from '../level/database.ts';
import { encodeMarker, foldIn, MARKER_KEY } from '../level/marker.ts';
import { encodeRecord, HASH_BYTES, hashOf, recordKey } from '../level/record.ts';
import { openLevelStore } from '../level/store.ts';
import { TailFile, writeSynced } from '../level/tail.ts';
import { type Backup, readBackup } from './backup-file.ts';

export interface Restored {
  readonly revision: number;
  readonly count: number;
}

const BATCH = 1000;
/** How far the revision moves when the clock is behind it, so wrong. */
const WITHOUT_CLOCK = 1_000_000_000;

export interface RestoreOptions {
  /** By how much the revision moves on; 0: to a revision of its own, by the clock. */
  readonly bumpRevision: number;
  readonly random: Random;
  readonly clock: Clock;
}

/** `path` may not exist, or must be an empty directory, or a link to one. The store is there as a whole afterwards, or not at all. */
export async function restoreBackup(file: string, path: string, options: RestoreOptions): Promise<Restored> {
  const directory = await placeOf(path);
  if ((await filesIn(directory)).length > 0) throw new Error(`${directory} is not empty; move it away first: nothing is overwritten`);
  const backup = await readBackup(file);
  const revision = mutant('restore.revision-kept') ? backup.revision : revisionAfter(backup.revision, options);
  if (!Number.isSafeInteger(revision)) throw new Error(`the revision would be ${revision}, which is too large`);
  const building = `${directory}.restoring`;
  await rm(building, { recursive: true, force: true });
  await mkdir(building, { recursive: true, mode: 0o700 });
  try {
    await build(building, backup, { revision, epoch: options.random.uuid() });
    await verify(building, backup, revision);
    await rm(directory, { recursive: true, force: true });
    await rename(building, directory);
    await syncDirectory(dirname(directory));
  } catch (error) {
    await rm(building, { recursive: true, force: true });
    throw error;
  }
  return { revision, count: backup.items.length };
}

/** Where a link leads, so that it stays one. */
async function placeOf(path: string): Promise<string> {
  return realpath(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return path;
  });
}

/**
 * No store gives a million revisions a second for long, so the microseconds of the clock are ahead of all that was given out, also by what was restored
 * from the same backup before: two restores never give the same revisions.
 */
function revisionAfter(revision: number, { bumpRevision, clock }: RestoreOptions): number {
  if (bumpRevision > 0) return revision + bumpRevision;
  const byClock = clock.now().getTime() * 1000;
  return byClock > revision ? byClock : revision + WITHOUT_CLOCK;
}

async function filesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return [];
  });
}

async function build(directory: string, { items }: Backup, { revision, epoch }: { revision: number; epoch: string }): Promise<void> {
  const location = join(directory, 'db');
  const database = await openLevel(location, true);
  // What follows continues a history of its own: records of another one can never pass for it.
  const start = createHash('sha256').update(`epoch ${epoch}`).digest().subarray(0, HASH_BYTES);
  let fold = 0;
  let hash: Buffer = start;
  try {
    for (let i = 0; i < items.length; i += BATCH) {
      const puts = items.slice(i, i + BATCH).map(({ key, revision: at, bytes }) => {
        const record = encodeRecord({ revision: at, type: 'put', key, previousRevision: 0, bytes }, hash);
        hash = hashOf(record);
        fold = foldIn(fold, at);
        return { type: 'put' as const, key: recordKey(at), value: record };
      });
      await database.batch(puts, { sync: true });
    }
    const marker = encodeMarker({ revision, hash: start, count: items.length, fold });
    const marks = [
      { type: 'put' as const, key: MARKER_KEY, value: marker },
      { type: 'put' as const, key: READY_KEY, value: readyValue(epoch) },
    ];
    await database.batch(marks, { sync: true });
  } finally {
    await database.close();
  }
  await syncDirectory(location);
  await writeSynced(join(directory, 'READY'), readyValue(epoch));
  (await TailFile.open(directory, { revision, hash: start.toString('hex') })).close();
  await syncDirectory(directory);
}

/** Opened as the API server will open it, and compared. */
async function verify(directory: string, { items }: Backup, revision: number): Promise<void> {
  const store = await openLevelStore(directory);
  try {
    const isWhole = store.revision === revision && store.compactedRevision === revision && store.count('/') === items.length;
    if (!isWhole) throw new Error('what was written is not what was read');
    for (const { key, revision: at, bytes } of items) {
      const stored = store.get(key);
      if (stored?.revision !== at || !stored.bytes.equals(bytes)) throw new Error(`${key} was not written as it was read`);
    }
  } finally {
    await store.close();
  }
}
