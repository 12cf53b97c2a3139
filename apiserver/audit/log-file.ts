/**
 * Where audit lines go: a file that is put aside when it is full, or stdout. Lines wait in a queue, so that no request waits for the disk; only when the
 * queue is full do requests wait, rather than events be lost or memory be filled. Mirrors apiserver `plugin/audit/log` and its size rotation.
 *
 * Invariant: at most MAX_QUEUED_BYTES (and what is being served at that moment) wait to be written; lines are written in order, each once.
 */
import { mkdirSync } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Clock } from '../../machinery/process/clock.ts';

export interface AuditLog {
  /** Never waits, never throws. */
  write(line: string): void;
  /** Undefined while there is room; else settles when there is again. */
  room(): Promise<void> | undefined;
  /** Writes what is queued. */
  close(): Promise<void>;
}

export interface AuditLogOptions {
  /** `-` is stdout. */
  readonly path: string;
  /** A file is put aside before it grows beyond; 0 lets it grow. */
  readonly maxBytes: number;
  /** Files put aside that are kept; 0 keeps all. */
  readonly maxBackups: number;
  readonly clock: Clock;
  /** Lines that could not be written are lost; this says so. */
  readonly onError: (error: unknown, lost: number) => void;
  readonly maxQueuedBytes?: number;
}

const MAX_QUEUED_BYTES = 32 * 1024 * 1024;
const BATCH_BYTES = 1024 * 1024;

/** Throws one sentence when the file cannot be opened. */
export async function openAuditLog(options: AuditLogOptions): Promise<AuditLog> {
  return new QueuedLog(await openTarget(options), options);
}

interface Target {
  write(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

class QueuedLog implements AuditLog {
  readonly #target: Target;
  readonly #onError: AuditLogOptions['onError'];
  readonly #maxQueuedBytes: number;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #writing: Promise<void> | undefined;
  #waiting: (() => void)[] = [];

  constructor(target: Target, { onError, maxQueuedBytes = MAX_QUEUED_BYTES }: AuditLogOptions) {
    this.#target = target;
    this.#onError = onError;
    this.#maxQueuedBytes = maxQueuedBytes;
  }

  write(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    this.#writing ??= this.#drain();
  }

  room(): Promise<void> | undefined {
    if (this.#queuedBytes < this.#maxQueuedBytes) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async close(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    await this.#target.close();
  }

  async #drain(): Promise<void> {
    // What the requests of this turn have to say goes into one write.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const lines = this.#take();
      const batch = Buffer.concat(lines);
      try {
        await this.#target.write(batch);
      } catch (error) {
        this.#onError(error, lines.length);
      }
      this.#queuedBytes -= batch.length;
      if (this.#queuedBytes < this.#maxQueuedBytes) for (const resolve of this.#waiting.splice(0)) resolve();
    }
    this.#writing = undefined;
  }

  #take(): Buffer[] {
    let bytes = 0;
    let count = 0;
    while (count < this.#queue.length && (count === 0 || bytes + this.#queue[count]!.length <= BATCH_BYTES))
      bytes += this.#queue[count++]!.length;
    return this.#queue.splice(0, count);
  }
}

async function openTarget(options: AuditLogOptions): Promise<Target> {
  if (options.path === '-') return stdout;
  try {
    mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 });
    return new RotatedFile(options, ...(await openForAppend(options.path)));
  } catch (error) {
    throw new Error(`--audit-log-path ${options.path} cannot be opened: ${(error as Error).message}`, { cause: error });
  }
}

const stdout: Target = {
  write: (bytes) => new Promise((resolve, reject) => process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))),
  close: async () => undefined,
};

async function openForAppend(path: string): Promise<[FileHandle, number]> {
  const file = await open(path, 'a', 0o600);
  return [file, (await file.stat()).size];
}

class RotatedFile implements Target {
  readonly #options: AuditLogOptions;
  #file: FileHandle | undefined;
  #size: number;

  constructor(options: AuditLogOptions, file: FileHandle, size: number) {
    this.#options = options;
    this.#file = file;
    this.#size = size;
  }

  async write(bytes: Buffer): Promise<void> {
    const { maxBytes, path } = this.#options;
    if (maxBytes > 0 && this.#size > 0 && this.#size + bytes.length > maxBytes) await this.#putAside();
    // A rotation that failed half way, or a file somebody took: the next write opens it again.
    if (this.#file === undefined) [this.#file, this.#size] = await openForAppend(path);
    await this.#file.appendFile(bytes);
    this.#size += bytes.length;
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  /** `audit.log` becomes `audit-2026-01-02T03-04-05.678.log`, the oldest of which go. */
  async #putAside(): Promise<void> {
    const { path, maxBackups, clock } = this.#options;
    await this.close();
    const [folder, extension] = [dirname(path), extname(path)];
    const prefix = `${basename(path, extension)}-`;
    const stamp = clock.now().toISOString().slice(0, 23).replaceAll(':', '-');
    await rename(path, join(folder, `${prefix}${stamp}${extension}`));
    if (maxBackups === 0) return;
    const isBackup = (name: string): boolean =>
      name.startsWith(prefix) &&
      name.endsWith(extension) &&
      /^\d{4}-\d\d-\d\dT[\d.-]+$/.test(name.slice(prefix.length, name.length - extension.length));
    const backups = (await readdir(folder)).filter(isBackup).sort();
    for (const name of backups.slice(0, Math.max(backups.length - maxBackups, 0))) await rm(join(folder, name), { force: true });
  }
}
