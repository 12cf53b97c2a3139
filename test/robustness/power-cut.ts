/**
 * What a power cut may leave of a store directory: of the active log all that was flushed, any part of what was not, and behind it nothing, zeros or
 * garbage. Of the note how far the log had come, whose last lines are not flushed, the newest may be torn. Everything else is flushed before it is relied on.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../machinery/process/random.ts';
import { newestLog, syncedLength } from './journal.ts';

export interface Cut {
  readonly kept: number;
  readonly flushed: number;
  readonly written: number;
  readonly tail: 'none' | 'zeros' | 'garbage';
}

const TAILS = ['none', 'zeros', 'garbage'] as const;

/** Cuts the log in `store/db` in place. `synced` is the journal of flushes (journal.ts). */
export function cutPower(store: string, synced: string, random: Random): Cut {
  const database = join(store, 'db');
  const log = newestLog(database);
  if (log === undefined) return { kept: 0, flushed: 0, written: 0, tail: 'none' };
  const path = join(database, log.file);
  const bytes = readFileSync(path);
  const flushed = Math.min(syncedLength(synced, log.file), bytes.length);
  // often nothing more than what was flushed: it is the case that must hold
  const kept = random.integer(3) === 0 ? flushed + random.integer(bytes.length - flushed + 1) : flushed;
  const tail = TAILS[random.integer(TAILS.length)]!;
  const length = tail === 'none' ? 0 : 1 + random.integer(300);
  const rest = Buffer.from(Array.from({ length }, () => (tail === 'zeros' ? 0 : random.integer(256))));
  writeFileSync(path, Buffer.concat([bytes.subarray(0, kept), rest]));
  if (random.integer(2) === 0) tearNote(join(store, 'TAIL'));
  return { kept, flushed, written: bytes.length, tail };
}

function tearNote(path: string): void {
  if (!existsSync(path)) return;
  const lines = readFileSync(path, 'latin1').split('\n');
  const newest = lines.reduce((best, line, i) => (line > lines[best]! ? i : best), 0);
  const line = lines[newest]!;
  lines[newest] = line.slice(0, line.length / 2) + '?'.repeat(line.length - Math.floor(line.length / 2));
  writeFileSync(path, lines.join('\n'), 'latin1');
}
