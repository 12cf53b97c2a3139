/**
 * What the simulated runtime remembers across a restart of the kubelet process: one line of JSON for each change of a pod, the last line of a uid counts.
 *
 * Invariant: a change is in the file before anybody outside the process can learn of it, because the write is synchronous.
 * A kill of the process loses nothing; the content is not synced to the disk, so a power cut may.
 */
import { appendFileSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Journal<Entry> {
  /** The newest entry of each key. */
  readonly entries: ReadonlyMap<string, Entry>;
  put(key: string, entry: Entry): void;
  remove(key: string): void;
  close(): void;
}

interface Line<Entry> {
  readonly key: string;
  /** Absent: the key is gone. */
  readonly entry?: Entry;
}

const SLACK_LINES = 10_000;

export function openJournal<Entry>(file: string): Journal<Entry> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const entries = read<Entry>(file);
  let lines = rewrite(file, entries);
  let descriptor = openSync(file, 'a', 0o600);
  const append = (line: Line<Entry>): void => {
    if (descriptor < 0) return;
    writeSync(descriptor, `${JSON.stringify(line)}\n`);
    lines++;
    if (lines > SLACK_LINES + 2 * entries.size) {
      closeSync(descriptor);
      lines = rewrite(file, entries);
      descriptor = openSync(file, 'a', 0o600);
    }
  };
  return {
    entries,
    put: (key, entry) => {
      entries.set(key, entry);
      append({ key, entry });
    },
    remove: (key) => {
      if (entries.delete(key)) append({ key });
    },
    close: () => {
      if (descriptor >= 0) closeSync(descriptor);
      descriptor = -1;
    },
  };
}

/** A last line cut off by a kill is not valid JSON and is left out. */
function read<Entry>(file: string): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  if (!existsSync(file)) return entries;
  for (const text of readFileSync(file, 'utf8').split('\n')) {
    if (text === '') continue;
    let line: Line<Entry>;
    try {
      line = JSON.parse(text) as Line<Entry>;
    } catch {
      continue;
    }
    if (line.entry === undefined) entries.delete(line.key);
    else entries.set(line.key, line.entry);
  }
  return entries;
}

function rewrite<Entry>(file: string, entries: ReadonlyMap<string, Entry>): number {
  const next = `${file}.new`;
  writeFileSync(next, '', { mode: 0o600 });
  const text = [...entries].map(([key, entry]) => `${JSON.stringify({ key, entry })}\n`).join('');
  appendFileSync(next, text);
  renameSync(next, file);
  return entries.size;
}
