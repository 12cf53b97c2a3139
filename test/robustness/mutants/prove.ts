/**
 * The proof that the harness is worth something: every seeded bug is found by the story made for it, and those of the API server by the general run as
 * well, in which nobody looks for a bug in particular.
 */
import { MUTANTS, type MutantName } from '../../../machinery/process/mutants.ts';
import { faultNamed } from '../faults.ts';
import { runBatches } from '../run.ts';
import { apiMutants } from './api-mutants.ts';
import { loopMutants } from './loop-mutants.ts';
import { raceMutants } from './race-mutants.ts';
import { played, playedWithBug, type Scenario } from './scenario.ts';
import { storeMutants } from './store-mutants.ts';
import { watchMutants } from './watch-mutants.ts';

export const scenarios: readonly Scenario[] = [...storeMutants, ...watchMutants, ...apiMutants, ...raceMutants, ...loopMutants];

/** Bugs that the general run must find, under these faults. */
export const GENERAL: readonly { readonly mutant: MutantName; readonly faults: readonly string[]; readonly compacting?: boolean }[] = [
  { mutant: 'store.no-fsync', faults: ['power-cut', 'kill'] },
  { mutant: 'store.ack-before-fsync', faults: ['slow-disk-then-power-cut', 'slow-disk-then-power-cut'] },
  { mutant: 'store.publish-before-fsync', faults: ['slow-disk-then-power-cut', 'slow-disk-then-power-cut'] },
  { mutant: 'store.revision-reset', faults: ['kill', 'kill'] },
  { mutant: 'store.compaction-eats-live', faults: ['kill', 'kill'], compacting: true },
  { mutant: 'store.order-swapped', faults: ['kill'] },
  { mutant: 'store.not-fenced', faults: ['write-EIO', 'kill'] },
  { mutant: 'store.cas-skipped', faults: ['kill'] },
  { mutant: 'watch.resume-inclusive', faults: ['kill'] },
  { mutant: 'watch.resume-skips-one', faults: ['kill'] },
  { mutant: 'watch.expired-jumps', faults: ['kill', 'kill'], compacting: true },
  { mutant: 'watch.leave-unseen', faults: ['kill'] },
  { mutant: 'list.page-at-latest', faults: ['kill'] },
  { mutant: 'list.stale', faults: ['kill'] },
  { mutant: 'list.exact-ignored', faults: ['kill'] },
  { mutant: 'list.restarts-silently', faults: ['kill'], compacting: true },
  { mutant: 'store.delete-overtakes', faults: ['kill', 'slow-fsync'] },
  { mutant: 'store.refused-early', faults: ['kill', 'slow-disk-then-power-cut'] },
  { mutant: 'watch.name-anywhere', faults: ['kill'] },
  { mutant: 'create.trial-stored', faults: ['kill'] },
  { mutant: 'patch.retry-overwrites', faults: ['kill'] },
  { mutant: 'create.exists-unchecked', faults: ['kill', 'kill'] },
];

/** Names of those that were not found. */
export async function proveAll(tell: (line: string) => void): Promise<string[]> {
  const missed: string[] = [];
  for (const scenario of scenarios) {
    const { mutant } = scenario;
    const [without, found] = [await played(scenario), await playedWithBug(scenario)];
    if (without.length > 0 || found.length === 0) missed.push(mutant);
    tell(`${mutant}: ${MUTANTS[mutant]}`);
    tell(without.length > 0 ? `  TOLD WITHOUT IT: ${without[0]}` : `  ${found[0]?.slice(0, 200) ?? 'NOT FOUND'}`);
  }
  for (const { mutant, faults, compacting = false } of GENERAL) {
    const batches = [{ faults: faults.map(faultNamed), compacting }];
    const { findings } = await runBatches({ batches, seed: 1, mutants: [mutant], discard: true, tell: () => undefined });
    const found = findings.filter(({ violations }) => violations.length > 0);
    if (found.length === 0) missed.push(`${mutant} (general run)`);
    tell(`${mutant}, general run: ${found.length === 0 ? 'NOT FOUND' : found.map(({ name }) => name).join('; ')}`);
  }
  return missed;
}
