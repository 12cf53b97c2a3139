/**
 * What a power cut may leave, made from a directory whose writer was killed: of the active log all that was flushed and any part of what was not, behind
 * it nothing, zeros or garbage; of TAIL the newest line, an old one or half a line; of the MANIFEST an entry that was just being appended. Each image
 * must open, and show all that was acknowledged.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLevelStore } from '../../../apiserver/storage/level/store.ts';
import type { Random } from '../../../machinery/process/random.ts';
import type { CycleOptions, Verdict } from './kills.ts';
import { Ledger } from './ledger.ts';
import { killAfter, runWriter, type Told } from './run-writer.ts';

const IMAGES_A_RUN = 10;

/** `count` images. Stops at the first with violations. */
export async function powerCuts({ bundle, directory, random, count, mutants }: CycleOptions): Promise<Verdict> {
  let acknowledged = 0;
  for (let image = 0; image < count; ) {
    const live = join(directory, `live-${image}`);
    const options = { directory: live, seed: random.integer(2 ** 31), keys: 40, writers: 16, textBytes: 1500, compactEveryMs: 25, mutants };
    const told = await runWriter({ bundle, options, strike: killAfter(random.integer(120)) });
    const ledger = new Ledger();
    const violations = ledger.add(told);
    acknowledged += told.acknowledged.length;
    for (let i = 0; violations.length === 0 && i < IMAGES_A_RUN && image < count; i++, image++) {
      const copy = join(directory, `image-${image}`);
      cpSync(live, copy, { recursive: true });
      const what = cutPower(copy, told, random);
      violations.push(...(await opened(copy, ledger)).map((violation) => `image ${image} (${what}): ${violation}`));
      if (violations.length === 0) rmSync(copy, { recursive: true });
    }
    if (violations.length > 0) return { cycles: image, acknowledged, violations };
    rmSync(live, { recursive: true });
  }
  return { cycles: count, acknowledged, violations: [] };
}

async function opened(directory: string, ledger: Ledger): Promise<string[]> {
  try {
    const store = await openLevelStore(directory);
    const violations = ledger.check(store, false);
    await store.close();
    return violations;
  } catch (error) {
    return [`it does not open: ${(error as Error).message}`];
  }
}

function cutPower(directory: string, { flushed }: Told, random: Random): string {
  const database = join(directory, 'db');
  return [cutLog(database, flushed, random), ageTail(directory, random), tearManifest(database, random)].join(', ');
}

function cutLog(database: string, flushed: Told['flushed'], random: Random): string {
  const name = newest(database, /\.log$/);
  const path = join(database, name);
  const bytes = readFileSync(path);
  const least = Math.min(flushed.get(name) ?? 0, bytes.length);
  const kept = least + random.integer(bytes.length - least + 1);
  const rest = restOf(random, bytes);
  writeFileSync(path, Buffer.concat([bytes.subarray(0, kept), rest]));
  return `${name}: ${least} flushed, ${kept} of ${bytes.length} kept, ${rest.length} after`;
}

/** What may stand behind: nothing, zeros, garbage, or what once stood elsewhere in the file. */
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
  return forms[random.integer(forms.length)]();
}

function ageTail(directory: string, random: Random): string {
  const path = join(directory, 'TAIL');
  const [first, second] = readFileSync(path, 'latin1').split('\n');
  const [older, newer] = first < second ? [first, second] : [second, first];
  const forms: Readonly<Record<string, string>> = {
    'TAIL as it was': `${first}\n${second}\n`,
    'TAIL one commit old': `${older}\n${older}\n`,
    'TAIL half written': `${older}\n${newer.slice(0, random.integer(newer.length))}`,
  };
  const form = Object.keys(forms)[random.integer(3)];
  writeFileSync(path, forms[form]);
  return form;
}

function tearManifest(database: string, random: Random): string {
  if (random.integer(3) > 0) return 'MANIFEST whole';
  const path = join(database, newest(database, /^MANIFEST-/));
  const bytes = readFileSync(path);
  const rest =
    random.integer(2) === 0
      ? bytes.subarray(0, 5 + random.integer(20))
      : Buffer.from(Array.from({ length: 1 + random.integer(60) }, () => random.integer(256)));
  writeFileSync(path, Buffer.concat([bytes, rest]));
  return `MANIFEST with ${rest.length} bytes more`;
}

export function newest(database: string, names: RegExp): string {
  return readdirSync(database)
    .filter((name) => names.test(name))
    .sort()
    .at(-1)!;
}
