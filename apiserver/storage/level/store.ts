/**
 * Opens the store of a directory:
 *
 *   db/      the LevelDB database
 *   READY    exists once the database has been created completely; from then on a database that does not open is damage, not a beginning
 *   TAIL     how far the log had come at least
 *   HOLDER   the process id of who has it open, for the message to whoever comes second
 *
 * LevelDB flushes neither its first manifest nor the directory, so a power cut during creation can leave a database that does not open. It has
 * served no one then: it is made anew. After READY nothing is ever made anew, and what looks like data without READY is not either.
 */
import { access, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Level } from 'level';
import { failpoint } from '../../../machinery/process/failpoints.ts';
import { type Store, StoreDamaged, StoreLocked } from '../interface.ts';
import { LogStore } from '../log-store.ts';
import { type Database, LevelLog } from './log.ts';
import { END_OF_RECORDS, FIRST_RECORD_KEY } from './record.ts';
import { RESTORE_HINT, recover } from './recover.ts';
import { readTail, syncDirectory, writeSynced, writeTail } from './tail.ts';

const READY_KEY = Buffer.from('m/ready');
const READY_VALUE = Buffer.from('{"format":1}');

/** The log of a database that holds no more than its ready mark is smaller. */
const EMPTY_LOG_BYTES = 1024;

export async function openLevelStore(directory: string): Promise<Store> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return await openStore(directory);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new Error(
      `${directory}: no permission (${reasonOf(error)}); the user who runs the API server must be able to read and write it`,
      {
        cause: error,
      },
    );
  }
}

async function openStore(directory: string): Promise<Store> {
  const database = await openDatabase(directory);
  try {
    await writeFile(join(directory, 'HOLDER'), `${process.pid}\n`);
    const tail = await readTail(directory);
    const { revisions, hash, marker } = await recover(database, directory, tail);
    if (revisions.revision !== (tail?.revision ?? 1))
      await writeTail(directory, { revision: revisions.revision, hash: hash.toString('hex') });
    const log = new LevelLog(
      database,
      { revision: revisions.revision, hash, marker },
      {
        mark: (end) => writeTail(directory, end),
        closed: () => rm(join(directory, 'HOLDER'), { force: true }),
      },
    );
    return new LogStore(log, revisions);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function openDatabase(directory: string): Promise<Database> {
  const location = join(directory, 'db');
  const ready = await exists(join(directory, 'READY'));
  let database: Database;
  try {
    database = await openLevel(location, !ready);
  } catch (error) {
    if (isLocked(error)) throw new StoreLocked(await lockedMessage(directory), { cause: error });
    if (isForbidden(error)) throw error;
    if (ready || (await hasServed(directory)))
      throw new StoreDamaged(`${directory}: the database does not open (${reasonOf(error)}); ${RESTORE_HINT}`, { cause: error });
    await rm(location, { recursive: true, force: true });
    database = await openLevel(location, true);
  }
  try {
    await settleReadiness(database, directory, ready);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
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
    await database.put(READY_KEY, READY_VALUE, { sync: true });
  }
  failpoint('create.before-ready');
  await syncDirectory(join(directory, 'db'));
  await writeSynced(join(directory, 'READY'), READY_VALUE);
  failpoint('create.after-ready');
  await syncDirectory(directory);
}

async function openLevel(location: string, createIfMissing: boolean): Promise<Database> {
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

async function lockedMessage(directory: string): Promise<string> {
  const holder = await readFile(join(directory, 'HOLDER'), 'utf8').catch(() => '');
  const who = /^\d+$/.test(holder.trim()) ? `process ${holder.trim()}` : 'another process';
  return `${directory} is in use by ${who}: stop it first, or choose another data directory`;
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
function isForbidden(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (['EACCES', 'EPERM', 'EROFS'].includes((cause as NodeJS.ErrnoException).code ?? '')) return true;
    if (/^IO error: .*(Permission denied|Operation not permitted|Read-only file system)$/.test(cause.message)) return true;
  }
  return false;
}

function isLocked(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ((cause as { code?: string }).code === 'LEVEL_LOCKED') return true;
  }
  return false;
}

function reasonOf(error: unknown): string {
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
