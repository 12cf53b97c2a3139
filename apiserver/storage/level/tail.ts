/**
 * `TAIL`: how far the log had come at least, kept beside the database. LevelDB drops the end of a log that it cannot read, and a log that merely ends
 * earlier has no gap to be found by.
 *
 * It is written after each group commit, once the group is durable and before anyone is told, and flushed only now and then. So after the death of the
 * process it is exact, and after a power cut it is a lower bound. Two lines take turns, each with a checksum: a write that was cut short leaves the other.
 */
import { closeSync, existsSync, fdatasync, openSync, writeSync } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { failpoint } from '../../../machinery/process/failpoints.ts';
import { syncDirectory } from '../../../machinery/process/new-file.ts';
import { StoreDamaged } from '../interface.ts';

export interface Tail {
  readonly revision: number;
  /** Hash of the record at that revision, in hex. */
  readonly hash: string;
}

/** As it was found. */
export interface FoundTail extends Tail {
  /** Which of the two lines tells it. */
  readonly line: number;
}

const NAME = 'TAIL';
const flush = promisify(fdatasync);

export async function readTail(directory: string): Promise<FoundTail | undefined> {
  const text = await readFile(join(directory, NAME), 'latin1').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (text === undefined) return undefined;
  const whole = text.split('\n').flatMap((text, line) => {
    const tail = tailOf(text);
    return tail === undefined ? [] : [{ ...tail, line }];
  });
  if (whole.length === 0) throw new StoreDamaged(`${join(directory, NAME)} is not readable: ${JSON.stringify(text.slice(0, 80))}`);
  return whole.reduce((a, b) => (b.revision > a.revision ? b : a));
}

/** `0000000000000042 <32 hex digits> <checksum>`; 16 digits hold every safe integer. */
function lineOf({ revision, hash }: Tail): string {
  const text = `${String(revision).padStart(16, '0')} ${hash}`;
  return `${text} ${crc32(text).toString(16).padStart(8, '0')}\n`;
}

function tailOf(line: string): Tail | undefined {
  const match = /^((\d+) ([0-9a-f]{32})) ([0-9a-f]{8})$/.exec(line);
  if (match === null || Number.parseInt(match[4], 16) !== crc32(match[1])) return undefined;
  return { revision: Number(match[2]), hash: match[3] };
}

/** The file, open for writing. */
export class TailFile {
  readonly #file: number;
  #line = 0;

  private constructor(file: number) {
    this.#file = file;
  }

  /** Makes the file when it is missing, and notes where the log is unless it says so. `found` is what it says. Durable when it resolves. */
  static async open(directory: string, tail: Tail, found?: FoundTail): Promise<TailFile> {
    const path = join(directory, NAME);
    if (!existsSync(path)) {
      await writeSynced(`${path}.new`, lineOf(tail).repeat(2));
      failpoint('mark.before-rename');
      await rename(`${path}.new`, path);
      await syncDirectory(directory);
      return new TailFile(openSync(path, 'r+'));
    }
    const file = new TailFile(openSync(path, 'r+'));
    if (found?.revision === tail.revision && found.hash === tail.hash) {
      file.#line = 1 - found.line;
      return file;
    }
    // Both lines: one that was cut short goes, and one of a longer log that was taken for granted does not come back.
    file.note(tail);
    await file.flush();
    file.note(tail);
    await file.flush();
    return file;
  }

  /** What it tells of must be durable. Synchronous: a few microseconds, and exact whenever the process may die. */
  note(tail: Tail): void {
    const line = lineOf(tail);
    failpoint('mark.before-note');
    writeSync(this.#file, line, this.#line * line.length, 'latin1');
    this.#line = 1 - this.#line;
    failpoint('mark.after-note');
  }

  flush(): Promise<void> {
    return flush(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
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
