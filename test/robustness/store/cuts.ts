/**
 * Power cuts (power-cut.ts) of a store whose writer was killed, many images of each directory. Each image must open, and show all that was acknowledged.
 */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openLevelStore } from '../../../apiserver/storage/level/store.ts';
import { cutPower } from '../power-cut.ts';
import type { CycleOptions, Verdict } from './kills.ts';
import { Ledger } from './ledger.ts';
import { killAfter, runWriter } from './run-writer.ts';

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
      const what = cutPower(copy, (file) => told.flushed.get(file) ?? 0, random);
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
