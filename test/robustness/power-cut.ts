/**
 * What a power cut may leave of a store directory whose writer was killed: of the active log all that was flushed, any part of what was not, and behind it
 * nothing, zeros, garbage or what once stood elsewhere in the file; of the note how far the log had come, whose last lines are not flushed, the newest
 * line, an old one or half a line; of the MANIFEST an entry that was just being appended. Everything else is flushed before it is relied on.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../machinery/process/random.ts';
import { newestLog } from './journal.ts';

/** How much of a log file is known to be on disk. */
export type Flushed = (file: string) => number;

/** Cuts the files in place, and says how. */
export function cutPower(store: string, flushed: Flushed, random: Random): string {
  return [cutLog(store, flushed, random), ageTail(store, random), tearManifest(join(store, 'db'), random)].join(', ');
}

/** The least that a power cut may leave of the log: what was flushed. */
export function cutToFlushed(store: string, flushed: Flushed): void {
  const log = newestLog(join(store, 'db'));
  if (log === undefined) return;
  const path = join(store, 'db', log.file);
  writeFileSync(path, readFileSync(path).subarray(0, flushed(log.file)));
}

function cutLog(store: string, flushed: Flushed, random: Random): string {
  const log = newestLog(join(store, 'db'));
  if (log === undefined) return 'no log';
  const path = join(store, 'db', log.file);
  const bytes = readFileSync(path);
  const least = Math.min(flushed(log.file), bytes.length);
  // half of the times nothing more than what was flushed: it is the case that must hold
  const kept = random.integer(2) === 0 ? least : least + random.integer(bytes.length - least + 1);
  const rest = restOf(random, bytes);
  writeFileSync(path, Buffer.concat([bytes.subarray(0, kept), rest]));
  return `${log.file}: ${least} flushed, ${kept} of ${bytes.length} kept, ${rest.length} after`;
}

function restOf(random: Random, bytes: Buffer): Buffer {
  const length = random.integer(3000);
  const forms = [
    () => Buffer.alloc(0),
    () => Buffer.alloc(length),
    () => Buffer.from(Array.from({ length }, () => random.integer(256))),
    () =>
      Buffer.concat([
        Buffer.alloc(1 + random.integer(100), 0x55),
        bytes.subarray(bytes.length - random.integer(Math.min(6, bytes.length))),
      ]),
  ];
  return forms[random.integer(forms.length)]!();
}

function ageTail(store: string, random: Random): string {
  const path = join(store, 'TAIL');
  if (!existsSync(path)) return 'no TAIL';
  const [first = '', second = ''] = readFileSync(path, 'latin1').split('\n');
  const [older, newer] = first < second ? [first, second] : [second, first];
  const forms: readonly (readonly [string, string])[] = [
    ['TAIL as it was', `${first}\n${second}\n`],
    ['TAIL one commit old', `${older}\n${older}\n`],
    ['TAIL half written', `${older}\n${newer.slice(0, random.integer(newer.length))}`],
  ];
  const [form, text] = forms[random.integer(forms.length)]!;
  writeFileSync(path, text, 'latin1');
  return form;
}

function tearManifest(database: string, random: Random): string {
  if (random.integer(3) > 0) return 'MANIFEST whole';
  const name = readdirSync(database)
    .filter((file) => file.startsWith('MANIFEST-'))
    .sort()
    .at(-1)!;
  const path = join(database, name);
  const bytes = readFileSync(path);
  const rest =
    random.integer(2) === 0
      ? bytes.subarray(0, 5 + random.integer(20))
      : Buffer.from(Array.from({ length: 1 + random.integer(60) }, () => random.integer(256)));
  writeFileSync(path, Buffer.concat([bytes, rest]));
  return `MANIFEST with ${rest.length} bytes more`;
}
