/**
 * Who may touch the files. LevelDB takes the lock of its directory only by opening the database, and opening changes the files; to look at them
 * first, or to copy them, the same lock is taken through a second name of the same lock file.
 *
 * The lock is the operating system's (fcntl) and ends with its process, however that ends. It is per process: a directory that this process has open
 * is reserved in it, since a second lock would succeed, and giving it back would give both back.
 */
import { link, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Level } from 'level';
import { StoreLocked } from '../interface.ts';

/** Directories of stores that are open in this process. */
const openDirectories = new Set<string>();

const HOLDING = 'lock-';

/** Claims a directory within this process. Returns the function that gives it back. */
export async function reserve(directory: string): Promise<() => void> {
  if (openDirectories.has(directory)) throw new StoreLocked(await lockedMessage(directory));
  openDirectories.add(directory);
  return () => void openDirectories.delete(directory);
}

/** For who has reserved the directory. Rejects with StoreLocked when another process has the store open. Resolves with the function that gives the lock back. */
export async function holdLock(directory: string): Promise<() => Promise<void>> {
  for (const name of await readdir(directory)) {
    if (name.startsWith(HOLDING)) await rm(join(directory, name), { recursive: true, force: true }); // of one that died
  }
  const holding = await mkdtemp(join(directory, HOLDING));
  let database: Level | undefined;
  const release = async (): Promise<void> => {
    await database?.close();
    await rm(holding, { recursive: true, force: true });
  };
  try {
    // Without the file nobody has ever opened the database, and there is nothing to keep others from.
    await link(join(directory, 'db', 'LOCK'), join(holding, 'LOCK')).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    database = new Level(holding); // opens by itself: the lock file must be there before
    await database.open();
    return release;
  } catch (error) {
    await release();
    if (isLocked(error)) throw new StoreLocked(await lockedMessage(directory), { cause: error });
    throw error;
  }
}

export async function lockedMessage(directory: string): Promise<string> {
  const holder = await readFile(join(directory, 'HOLDER'), 'utf8').catch(() => '');
  const who = /^\d+$/.test(holder.trim()) ? `process ${holder.trim()}` : 'another process';
  return `${directory} is in use by ${who}: stop it first, or choose another data directory`;
}

export function isLocked(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ((cause as { code?: string }).code === 'LEVEL_LOCKED') return true;
  }
  return false;
}
