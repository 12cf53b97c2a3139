/**
 * Listens to what a store gives to LevelDB and when that is on disk, without the store's knowing: `records` gets every record of every batch that
 * succeeded, `synced` how long each log file was when a flush returned. From the first comes the ground truth of a run, from the second what a power
 * cut must leave.
 */
import { appendFileSync, closeSync, existsSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Level } from 'level';

interface Operation {
  readonly type: string;
  readonly key: Buffer;
  readonly value?: Buffer;
}

export interface Journal {
  readonly records: string;
  readonly synced: string;
  /** What is under way is not recorded any more. */
  stop(): void;
}

export const recordsIn = (directory: string): string => join(directory, 'records');
export const syncedIn = (directory: string): string => join(directory, 'synced.jsonl');

const original = {
  batch: Level.prototype.batch as unknown as (...args: unknown[]) => Promise<void>,
  put: Level.prototype.put as unknown as (...args: unknown[]) => Promise<void>,
};

/** From now on, in this process, of all databases: meant for one store at a time. */
export function keepJournal(directory: string): Journal {
  const records = recordsIn(directory);
  const synced = syncedIn(directory);
  const file = openSync(records, 'a');
  let stopped = false;
  const flushed = (database: Level): void => {
    if (stopped) return;
    const log = newestLog(database.location);
    if (log !== undefined) appendFileSync(synced, `${JSON.stringify(log)}\n`);
  };
  const observed = {
    async batch(this: Level, operations: readonly Operation[], options: { sync?: boolean } = {}): Promise<void> {
      await original.batch.call(this, operations, options);
      // how long it is now was flushed with it: the store has one write under way at a time
      if (options.sync) flushed(this);
      if (stopped) return;
      for (const { type, key, value } of operations) if (type === 'put' && key.toString('latin1', 0, 2) === 'r/') append(file, value!);
    },
    async put(this: Level, key: unknown, value: unknown, options: { sync?: boolean } = {}): Promise<void> {
      await original.put.call(this, key, value, options);
      if (options.sync) flushed(this);
    },
  };
  Object.assign(Level.prototype, observed);
  const stop = (): void => {
    if (stopped) return;
    stopped = true;
    Object.assign(Level.prototype, original);
    closeSync(file);
  };
  return { records, synced, stop };
}

function append(file: number, record: Buffer): void {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(record.length);
  writeSync(file, Buffer.concat([length, record]));
}

export interface LogLength {
  readonly file: string;
  readonly size: number;
}

export function newestLog(database: string): LogLength | undefined {
  const file = readdirSync(database)
    .filter((name) => name.endsWith('.log'))
    .sort()
    .at(-1);
  return file === undefined ? undefined : { file, size: statSync(join(database, file)).size };
}

/** How much of a log file is known to be on disk. */
export function syncedLength(synced: string, file: string): number {
  if (!existsSync(synced)) return 0;
  let length = 0;
  for (const line of readFileSync(synced, 'utf8').split('\n')) {
    if (!line.endsWith('}')) continue;
    const entry = JSON.parse(line) as LogLength;
    if (entry.file === file) length = Math.max(length, entry.size);
  }
  return length;
}
