/**
 * Attacks the API server and its store, and says what was violated (docs/guarantees.md):
 *
 *   npm run robustness                              tier pr, about ten minutes
 *   npm run robustness -- --tier nightly            or release
 *   npm run robustness -- --faults kill,power-cut   these faults, in this order
 *   npm run robustness -- --seed 42                 the same faults and the same traffic again
 *   npm run robustness -- --recheck DIR             judges the evidence of a failed batch again, without a server
 *   npm run robustness -- --mutants                 proves that every seeded bug is found
 *   npm run robustness -- --mutant store.no-fsync --faults power-cut    the general run with one seeded bug in the server
 *
 * Ends with 1 on any violation, and names the directory with the evidence.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { allFaults, faultNamed } from '../test/robustness/faults.ts';
import { fullDisks } from '../test/robustness/full-disk.ts';
import type { Finding } from '../test/robustness/judge.ts';
import { proveAll } from '../test/robustness/mutants/prove.ts';
import { attackByOverload } from '../test/robustness/overload/attack.ts';
import { recheck, runBatches, shuffler, summary, table, together } from '../test/robustness/run.ts';
import { attackStore, STORE_COUNTS } from '../test/robustness/store/attack.ts';
import { FIGURES, type PlannedBatch, planned, TIERS, type TierName } from '../test/robustness/tiers.ts';

const { values } = parseArgs({
  options: {
    tier: { type: 'string', default: 'pr' },
    seed: { type: 'string', default: String(process.hrtime.bigint() % 1_000_000n) },
    faults: { type: 'string' },
    compacting: { type: 'boolean', default: false },
    mutant: { type: 'string', multiple: true },
    mutants: { type: 'boolean', default: false },
    recheck: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});

const start = performance.now();
const tell = (line: string): void => console.log(`${((performance.now() - start) / 1000).toFixed(1).padStart(7)} s  ${line}`);
const failed = (findings: readonly Finding[]): boolean => findings.some(({ violations }) => violations.length > 0);

if (!/^\d{1,9}$/.test(values.seed)) throw new Error(`--seed needs a whole number, not ${JSON.stringify(values.seed)}`);
if (!TIERS.includes(values.tier as TierName)) throw new Error(`--tier is one of ${TIERS.join(', ')}, not ${JSON.stringify(values.tier)}`);
const seed = Number(values.seed);
const tier = values.tier as TierName;

if (values.recheck !== undefined) finish(recheck(values.recheck));
else if (values.mutants) await prove();
else await attack();

function finish(findings: readonly Finding[]): void {
  console.log(`\n${table(findings)}\n`);
  process.exitCode = failed(findings) ? 1 : 0;
}

async function prove(): Promise<void> {
  const missed = await proveAll(tell);
  console.log(missed.length === 0 ? '\nevery seeded bug was found' : `\nNOT FOUND: ${missed.join(', ')}`);
  process.exitCode = missed.length === 0 ? 0 : 1;
}

async function attack(): Promise<void> {
  console.log(`seed ${seed}`);
  for (const { name, skipped } of allFaults()) if (skipped !== undefined) console.log(`skipped: ${name}, ${skipped}`);
  const named = values.faults?.split(',').map(faultNamed);
  const figures = FIGURES[tier];
  const batches: readonly PlannedBatch[] =
    named === undefined
      ? planned(figures, shuffler(seed))
      : [{ faults: named, compacting: values.compacting || named.some((fault) => fault.compacting) }];
  const run = (some: readonly PlannedBatch[], from: number): ReturnType<typeof runBatches> =>
    runBatches({ batches: some, seed: from, keep: values.keep, ...(values.mutant && { mutants: values.mutant }), tell });
  let verdict = await run(batches, seed);
  // cycles under too little load prove nothing: once more
  if (named === undefined && verdict.missing.length > 0) verdict = together(verdict, await run(verdict.missing, seed + 500));
  const findings = [...verdict.findings, ...(named === undefined ? await beside() : [])];
  finish(findings);
  console.log(summary(verdict));
  const what = values.faults === undefined ? `--tier ${tier}` : `--faults ${values.faults}${values.compacting ? ' --compacting' : ''}`;
  if (failed(findings)) console.log(`VIOLATED; repeat it with: npm run robustness -- ${what} --seed ${seed}`);
}

/** What needs no traffic, and what concerns the whole cluster. */
async function beside(): Promise<Finding[]> {
  const { fullDisks: disks, chaosSeconds } = FIGURES[tier];
  tell('the store alone');
  const store = await attackStore({ seed, counts: STORE_COUNTS[tier], tell: (line) => tell(`  ${line}`) });
  const findings: Finding[] = [
    ...Object.entries(store).map(([name, { cycles, acknowledged, violations }]) => ({
      name: `D1 to D5 the store alone, ${name}`,
      judged: `${cycles} cycles, ${acknowledged} writes`,
      violations,
    })),
    ...(await fullDisks(disks, seed, tell)),
  ];
  if (chaosSeconds === 0) return findings;
  tell('more than can be served');
  findings.push(...(await attackByOverload((line) => tell(`  ${line}`))));
  tell(`the whole cluster, ${chaosSeconds} s`);
  const { status } = spawnSync('npm', ['run', 'chaos', '--', '--seconds', String(chaosSeconds), '--seed', String(seed)], {
    stdio: 'inherit',
  });
  return [
    ...findings,
    { name: 'the whole cluster (npm run chaos)', judged: `${chaosSeconds} s`, violations: status === 0 ? [] : ['see above'] },
  ];
}
