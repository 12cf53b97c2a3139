/** The writer killed at random moments and at each named failpoint of the store, again and again on one directory. */
import { join } from 'node:path';
import { openLevelStore } from '../../../apiserver/storage/level/store.ts';
import type { Random } from '../../../machinery/process/random.ts';
import { Ledger } from './ledger.ts';
import { killAfter, runWriter, type Told, type WriterOptions } from './run-writer.ts';

export interface CycleOptions {
  readonly bundle: string;
  /** Exists and is empty. */
  readonly directory: string;
  readonly random: Random;
  readonly count: number;
  readonly mutants?: readonly string[];
}

export interface Verdict {
  readonly cycles: number;
  readonly acknowledged: number;
  readonly violations: readonly string[];
}

/** Where the store can be made to die, and how many passes there may be before. `create.*` only a new store passes. */
const POINTS: readonly { readonly name: string; readonly passes: number }[] = [
  { name: 'store.before-batch', passes: 20 },
  { name: 'store.after-batch', passes: 20 },
  { name: 'store.before-publish', passes: 20 },
  { name: 'store.before-ack', passes: 20 },
  { name: 'mark.before-note', passes: 20 },
  { name: 'mark.after-note', passes: 20 },
  { name: 'compact.before-commit', passes: 2 },
  { name: 'compact.after-commit', passes: 2 },
  { name: 'compact.mid-slices', passes: 2 },
  { name: 'recovery.mid', passes: 1 },
  { name: 'create.before-ready', passes: 1 },
  { name: 'create.after-ready', passes: 1 },
];

const LIFE_MS = 60;
/** A new directory after so many cycles, so that creation dies too and logs stay short. */
const CYCLES_A_DIRECTORY = 25;

/** `count` deaths, half of them at failpoints. Stops at the first cycle with violations. */
export async function killCycles(options: CycleOptions): Promise<Verdict> {
  const { random, count, bundle, mutants } = options;
  let ledger = new Ledger();
  let directory = '';
  let acknowledged = 0;
  for (let cycle = 0; cycle < count; cycle++) {
    const fresh = cycle % CYCLES_A_DIRECTORY === 0;
    if (fresh) {
      ledger = new Ledger();
      directory = join(options.directory, `store-${cycle}`);
    }
    const point = random.integer(2) === 0 ? POINTS[random.integer(POINTS.length)] : undefined;
    const failpoints = point && `${point.name}=${random.integer(point.passes)}+1*crash`;
    const writer: WriterOptions = {
      directory,
      seed: random.integer(2 ** 31),
      keys: 40,
      writers: 16,
      textBytes: 2000,
      compactEveryMs: 15,
      failpoints,
      mutants,
    };
    const told = await runWriter({ bundle, options: writer, strike: killAfter(random.integer(LIFE_MS)) });
    acknowledged += told.acknowledged.length;
    const violations = [...endOf(told), ...ledger.add(told), ...(await reopened(directory, ledger))];
    if (violations.length > 0) {
      const where = `cycle ${cycle} (${failpoints ?? 'killed at random'})`;
      return { cycles: cycle + 1, acknowledged, violations: violations.map((violation) => `${where}: ${violation}`) };
    }
  }
  return { cycles: count, acknowledged, violations: [] };
}

function endOf({ end, errors }: Told): string[] {
  return end === 'SIGKILL' ? [] : [`the writer ended with ${end}: ${errors.slice(0, 500)}`];
}

/** Opens the directory in this process and compares. */
export async function reopened(directory: string, ledger: Ledger): Promise<string[]> {
  try {
    const store = await openLevelStore(directory);
    const violations = ledger.check(store);
    await store.close();
    return violations;
  } catch (error) {
    return [`it does not open: ${(error as Error).message}`];
  }
}
