/**
 * Large files that are there as a whole or not at all, and replace none. What comes in is written aside, under a name that says so and that nobody else
 * uses; only when all of it is on the disk does it get its name.
 *
 * Invariant: neither a crash nor a full disk leaves anything under the name that was asked for, and no file that was there, nor what a link leads to, is changed.
 */
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemRandom } from './random.ts';

/** Adds bytes at the end, all of them. */
export type Append = (bytes: Buffer) => Promise<void>;

/** Rejects with EEXIST when there is something of that name. Answers what `fill` does; when that rejects nothing is left. */
export async function writeNewFile<Result>(path: string, fill: (append: Append) => Promise<Result>): Promise<Result> {
  await requireAbsent(path);
  const unfinished = `${path}.${systemRandom.suffix(5)}.unfinished`;
  const handle = await open(unfinished, 'wx', 0o600);
  try {
    let result: Result;
    try {
      result = await fill((bytes) => handle.appendFile(bytes));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await giveName(unfinished, path);
    return result;
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function requireAbsent(path: string): Promise<void> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (found !== undefined) throw Object.assign(new Error(`EEXIST: file already exists, '${path}'`), { code: 'EEXIST', path });
}

/** A second name is refused when it is taken; renaming would replace. Where files have one name only, the name is taken first. */
async function giveName(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
    await rm(from);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await (await open(to, 'wx', 0o600)).close();
    await rename(from, to);
  }
  await syncDirectory(dirname(to));
}

/** Makes the names in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
