/**
 * Opens the store of a directory:
 *
 *   db/      the LevelDB database
 *   READY    exists once the database has been created completely; from then on a database that does not open is damage, not a beginning
 *   TAIL     how far the log had come at least
 *   HOLDER   the process id of who has it open, for the message to whoever comes second
 *   torn-*   what a crash left unfinished at the end of a file, for whoever wants to know
 */
import { mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../../../machinery/process/new-file.ts';
import { type Store, StoreDamaged } from '../interface.ts';
import { LogStore, type StoreOptions } from '../log-store.ts';
import { isCorruption, isForbidden, isFull, openDatabase, reasonOf } from './database.ts';
import { reserve } from './lock.ts';
import { LevelLog } from './log.ts';
import { sizeOfFiles } from './reclaim.ts';
import { RESTORE_HINT, recover } from './recover.ts';
import { readTail, TailFile } from './tail.ts';

/**
 * LevelDB maps tables into memory, and what was read of them stays there: after the one scan of everything, all of it. Opened again it maps only what is
 * asked for, which is next to nothing.
 */
const WORTH_UNMAPPING = 16 * 1024 * 1024;

export async function openLevelStore(path: string, options: StoreOptions = {}): Promise<Store> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const directory = await realpath(path);
    const release = await reserve(directory);
    try {
      return await openStore(directory, options, release);
    } catch (error) {
      release();
      throw error;
    }
  } catch (error) {
    if (isCorruption(error))
      throw new StoreDamaged(`${path}: LevelDB cannot read its tables (${reasonOf(error)}); ${RESTORE_HINT}`, { cause: error });
    const advice = adviceFor(error);
    throw advice === undefined ? error : new Error(`${path}: ${advice}`, { cause: error });
  }
}

function adviceFor(error: unknown): string | undefined {
  if (isForbidden(error)) return `no permission (${reasonOf(error)}); the user who runs the API server must be able to read and write it`;
  if (isFull(error)) return `the disk is full (${reasonOf(error)}); make room and start again: nothing that was acknowledged is lost`;
  return undefined;
}

async function openStore(directory: string, options: StoreOptions, release: () => void): Promise<Store> {
  const tail = await readTail(directory);
  const database = await openDatabase(directory, tail);
  try {
    await writeFile(join(directory, 'HOLDER'), `${process.pid}\n`);
    const { revisions, hash, marker } = await recover(database, directory, tail);
    if (sizeOfFiles(database.location) > WORTH_UNMAPPING) {
      await database.close();
      await database.open();
    }
    // What LevelDB made while it opened is found again from here on, whatever happens.
    await syncDirectory(join(directory, 'db'));
    const tailFile = await TailFile.open(directory, { revision: revisions.revision, hash: hash.toString('hex') }, tail);
    const beside = {
      note: tailFile.note.bind(tailFile),
      flush: tailFile.flush.bind(tailFile),
      closed: async () => {
        tailFile.close();
        await rm(join(directory, 'HOLDER'), { force: true });
        release();
      },
    };
    return new LogStore(new LevelLog(database, { revision: revisions.revision, hash, marker }, beside), revisions, options);
  } catch (error) {
    await database.close();
    throw error;
  }
}
