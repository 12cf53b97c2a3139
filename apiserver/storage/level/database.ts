/**
 * Opens the LevelDB database of a store directory, after its files were inspected, and tells a beginning from damage.
 *
 * LevelDB flushes neither its first manifest nor the directory, so a power cut during creation can leave a database that does not open. It has
 * served no one then: it is made anew. After READY nothing is ever made anew, and what looks like data without READY is not either.
 */
import { access, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Level } from 'level';
import { failpoint } from '../../../machinery/process/failpoints.ts';
import { mutant } from '../../../machinery/process/mutants.ts';
import { syncDirectory } from '../../../machinery/process/new-file.ts';
import { systemRandom } from '../../../machinery/process/random.ts';
import { StoreDamaged, StoreLocked } from '../interface.ts';
import { type Inspection, inspectDatabase, type TornEnd } from './inspect.ts';
import { holdLock, isLocked, lockedMessage } from './lock.ts';
import type { Database } from './log.ts';
import { END_OF_RECORDS, FIRST_RECORD_KEY } from './record.ts';
import { RESTORE_HINT } from './recover.ts';
import { type Tail, writeSynced } from './tail.ts';

export const READY_KEY = Buffer.from('m/ready');

/** `epoch` names the history: a restored store begins a new one. */
export const readyValue = (epoch: string): Buffer => Buffer.from(JSON.stringify({ format: 1, epoch }));

/** The log of a database that holds no more than its ready mark is smaller. */
const EMPTY_LOG_BYTES = 1024;

/** `tail` is what the log must reach at least. */
export async function openDatabase(directory: string, tail: Tail | undefined): Promise<Database> {
  const location = join(directory, 'db');
  const ready = await exists(join(directory, 'READY'));
  // Files may come and go under our eyes when another process has them open.
  let inspection = await inspectDatabase(location).catch(() => undefined);
  if (inspection === undefined || isSuspect(inspection, tail)) {
    // What another process is writing to looks unfinished too.
    const release = await holdLock(directory);
    try {
      inspection = await inspectDatabase(location);
      if (await isCutShort(directory, ready, inspection)) {
        await rm(location, { recursive: true, force: true });
        inspection = await inspectDatabase(location);
      }
      requireWhole(directory, inspection, tail);
      for (const torn of inspection.torn) await settleTornEnd(directory, torn);
    } finally {
      await release();
    }
  }
  if (ready && inspection.isEmpty) throw new StoreDamaged(`${directory}: the database is gone; ${RESTORE_HINT}`);
  const database = await openUnlocked(directory, ready);
  try {
    await settleReadiness(database, directory, ready);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

function isSuspect(inspection: Inspection, tail: Tail | undefined): boolean {
  return inspection.damage.length > 0 || inspection.torn.length > 0 || endsEarly(inspection, tail);
}

/** The newest revision was in the log, and is not: what looks like an unfinished end, or like none at all, is a loss. */
function endsEarly({ newestInLogs }: Inspection, tail: Tail | undefined): boolean {
  return tail !== undefined && newestInLogs !== undefined && newestInLogs < tail.revision && !mutant('store.tail-unchecked');
}

function requireWhole(directory: string, inspection: Inspection, tail: Tail | undefined): void {
  const found = [...inspection.damage];
  if (found.length === 0 && endsEarly(inspection, tail)) {
    const { file, at } = inspection.log ?? { file: 'the log', at: 0 };
    const { newestInLogs } = inspection;
    found.push(
      `${file} is damaged at byte ${at}: it ends there, after revision ${newestInLogs}, but ${tail?.revision} was reached, as TAIL tells`,
    );
  }
  if (found.length > 0)
    throw new StoreDamaged(`${directory}: the database is damaged: ${found.join('; ')}; nothing was changed; ${RESTORE_HINT}`);
}

/** Whether the files are what a crash left of the creation of a database, in which case nothing was ever in it. */
async function isCutShort(directory: string, ready: boolean, { damage }: Inspection): Promise<boolean> {
  return damage.length > 0 && !ready && !(await hasServed(directory));
}

/**
 * Keeps beside the database what LevelDB will drop, if there is room for it. LevelDB does not open with an unfinished MANIFEST, whose last entry nobody
 * has relied on: that end goes.
 */
async function settleTornEnd(directory: string, { file, at }: TornEnd): Promise<void> {
  const end = (await readFile(file)).subarray(at);
  await writeFile(join(directory, `torn-${basename(file)}`), end).catch(() => undefined);
  if (basename(file).startsWith('MANIFEST-')) await truncate(file, at);
}

/** Makes the two marks agree: the record in the database and the file beside it. */
async function settleReadiness(database: Database, directory: string, ready: boolean): Promise<void> {
  const marked = database.getSync(READY_KEY) !== undefined;
  if (marked && ready) return;
  if (ready) throw new StoreDamaged(`${directory}: the database has lost its first record; ${RESTORE_HINT}`);
  if (!marked) {
    for await (const _ of database.keys({ gte: FIRST_RECORD_KEY, lt: END_OF_RECORDS, limit: 1 })) {
      throw new StoreDamaged(`${directory}: the database has revisions but was never marked ready; ${RESTORE_HINT}`);
    }
    await database.put(READY_KEY, readyValue(systemRandom.uuid()), { sync: true });
  }
  failpoint('create.before-ready');
  await syncDirectory(join(directory, 'db'));
  await writeSynced(join(directory, 'READY'), database.getSync(READY_KEY)!);
  failpoint('create.after-ready');
  await syncDirectory(directory);
}

async function openUnlocked(directory: string, ready: boolean): Promise<Database> {
  try {
    return await openLevel(join(directory, 'db'), !ready);
  } catch (error) {
    if (isLocked(error)) throw new StoreLocked(await lockedMessage(directory), { cause: error });
    if (isForbidden(error) || isFull(error)) throw error;
    throw new StoreDamaged(`${directory}: the database does not open (${reasonOf(error)}); ${RESTORE_HINT}`, { cause: error });
  }
}

export async function openLevel(location: string, createIfMissing: boolean): Promise<Database> {
  const database: Database = new Level<Buffer, Buffer>(location, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    createIfMissing,
    writeBufferSize: 16 * 1024 * 1024,
    maxFileSize: 8 * 1024 * 1024,
  });
  await database.open();
  return database;
}

/** Moves a range into tables and rewrites those, so that what was deleted from it takes no more room. `level` does not tell of it in its types. */
export function compactRange(database: Database, from: Buffer, to: Buffer): Promise<void> {
  return (database as unknown as { compactRange(from: Buffer, to: Buffer): Promise<void> }).compactRange(from, to);
}

/** Whether READY must once have been there, though it is not now. */
async function hasServed(directory: string): Promise<boolean> {
  if ((await exists(join(directory, 'TAIL'))) || (await exists(join(directory, 'HOLDER')))) return true;
  for (const name of await readdir(join(directory, 'db'))) {
    if (name.endsWith('.ldb')) return true;
    if (name.endsWith('.log') && (await stat(join(directory, 'db', name))).size > EMPTY_LOG_BYTES) return true;
  }
  return false;
}

/** LevelDB passes the system's refusals on as text only. */
export function isForbidden(error: unknown): boolean {
  return saysSystem(error, ['EACCES', 'EPERM', 'EROFS'], /Permission denied|Operation not permitted|Read-only file system/);
}

export function isFull(error: unknown): boolean {
  return saysSystem(error, ['ENOSPC', 'EDQUOT'], /No space left on device|Disk quota exceeded/);
}

/** What LevelDB says of a block that it cannot make sense of; the records in one that it can are checked by their own hashes. */
export function isCorruption(error: unknown): boolean {
  return error instanceof Error && !(error instanceof StoreDamaged) && /^Corruption: /.test(reasonOf(error).replace(/^Error: /, ''));
}

function saysSystem(error: unknown, codes: readonly string[], texts: RegExp): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (codes.includes((cause as NodeJS.ErrnoException).code ?? '')) return true;
    if (cause.message.startsWith('IO error: ') && texts.test(cause.message)) return true;
  }
  return false;
}

export function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}
