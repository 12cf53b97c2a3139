/** The attacks on the store alone, and how often in each tier. A seed repeats the choices; when a kill strikes it cannot. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '../../../machinery/process/random.ts';
import { powerCuts } from './cuts.ts';
import { killCycles, type Verdict } from './kills.ts';
import { bundleWriter } from './run-writer.ts';
import { sweeps } from './sweeps.ts';

export interface Counts {
  /** Deaths of the writer. */
  readonly kills: number;
  /** Images of power cuts. */
  readonly cuts: number;
  /** Places of each sweep; infinite: every one. */
  readonly sweeps: number;
}

export const STORE_COUNTS = {
  test: { kills: 30, cuts: 60, sweeps: 20 },
  pr: { kills: 200, cuts: 300, sweeps: 300 },
  nightly: { kills: 5_000, cuts: 5_000, sweeps: 5_000 },
  release: { kills: 50_000, cuts: 20_000, sweeps: Number.POSITIVE_INFINITY },
} as const satisfies Record<string, Counts>;

export interface Attack {
  readonly seed: number;
  readonly counts: Counts;
  readonly mutants?: readonly string[];
  readonly tell?: (line: string) => void;
}

/** By name of the attack. The directory with the evidence is kept, and told, when something was violated that is no seeded bug. */
export async function attackStore({ seed, counts, mutants = [], tell = () => {} }: Attack): Promise<Readonly<Record<string, Verdict>>> {
  const directory = mkdtempSync(join(tmpdir(), 'flyball-robust-store-'));
  const bundle = await bundleWriter();
  const verdicts: Record<string, Verdict> = {};
  const attacks = { kills: killCycles, cuts: powerCuts, sweeps };
  try {
    for (const [i, name] of (['kills', 'cuts', 'sweeps'] as const).entries()) {
      const own = join(directory, name);
      mkdirSync(own);
      const verdict = await attacks[name]({
        bundle: bundle.path,
        directory: own,
        random: seededRandom(seed + i),
        count: counts[name],
        mutants,
      });
      verdicts[name] = verdict;
      tell(`store ${name}: ${verdict.cycles} times, ${verdict.acknowledged} acknowledged writes, ${verdict.violations.length} violations`);
      if (verdict.violations.length > 0) tell(`the evidence of seed ${seed} is in ${own}`);
      else rmSync(own, { recursive: true });
    }
  } finally {
    bundle.remove();
    if (mutants.length > 0 || Object.values(verdicts).every(({ violations }) => violations.length === 0))
      rmSync(directory, { recursive: true, force: true });
  }
  return verdicts;
}
