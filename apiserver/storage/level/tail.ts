/**
 * A lower bound of what the log must contain, kept beside the database: LevelDB drops the end of a damaged log silently, and a log that merely
 * ends earlier has no gap to be found by. Written when the store opens and closes, when it compacts, and after each so many revisions; always
 * after what it tells of is durable, so what a power cut may tear lies behind it.
 */
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { failpoint } from '../../../machinery/process/failpoints.ts';
import { StoreDamaged } from '../interface.ts';

export interface Tail {
  readonly revision: number;
  /** Hash of the record at that revision, in hex. */
  readonly hash: string;
}

const NAME = 'TAIL';

export async function readTail(directory: string): Promise<Tail | undefined> {
  const text = await readFile(join(directory, NAME), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (text === undefined) return undefined;
  const [revision, hash] = text.trim().split(' ');
  if (!/^\d+$/.test(revision) || !/^[0-9a-f]*$/.test(hash ?? ''))
    throw new StoreDamaged(`${join(directory, NAME)} is not readable: ${text.slice(0, 80)}`);
  return { revision: Number(revision), hash };
}

/** Replaces the file as a whole, or not at all. */
export async function writeTail(directory: string, tail: Tail): Promise<void> {
  const path = join(directory, NAME);
  await writeSynced(`${path}.new`, `${tail.revision} ${tail.hash}\n`);
  failpoint('mark.before-rename');
  await rename(`${path}.new`, path);
  failpoint('mark.after-rename');
  await syncDirectory(directory);
}

/** Writes a file and makes its content durable; its name is only after `syncDirectory`. */
export async function writeSynced(path: string, content: string | Buffer): Promise<void> {
  const handle = await open(path, 'w');
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
