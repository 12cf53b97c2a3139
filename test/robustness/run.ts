/** Runs the batches of a tier, or named faults, and keeps the evidence of those that failed; judges kept evidence again. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '../../machinery/process/random.ts';
import { type BatchVerdict, HISTORIES, journalReading, MIN_RATE, READINGS, runBatch } from './batch.ts';
import { readHistory } from './history.ts';
import { type Finding, judge } from './judge.ts';
import type { Reading } from './revisions.ts';
import { bundleServer } from './server.ts';
import type { PlannedBatch } from './tiers.ts';

/** In half of all batches history is let go so often. */
export const COMPACTION_MS = 200;

export interface RunOptions {
  readonly batches: readonly PlannedBatch[];
  readonly seed: number;
  readonly mutants?: readonly string[];
  /** Keeps the evidence of all batches, or of none; else of those that failed. */
  readonly keep?: boolean;
  readonly discard?: boolean;
  readonly patience?: number;
  readonly tell: (line: string) => void;
}

export interface RunVerdict {
  readonly cycles: number;
  /** Cycles that count: under enough load, and the fault was reached. */
  readonly valid: number;
  /** To be done again: the faults of the cycles that do not count. */
  readonly missing: readonly PlannedBatch[];
  /** By name of the check, over all batches. */
  readonly findings: readonly Finding[];
  /** Directories of the batches that failed. */
  readonly kept: readonly string[];
  readonly slowestRestartMs: number;
}

export async function runBatches({ batches, seed, mutants, keep, discard, patience, tell }: RunOptions): Promise<RunVerdict> {
  const bundle = await bundleServer();
  const verdicts: BatchVerdict[] = [];
  const kept: string[] = [];
  try {
    for (const [i, { faults, compacting, cold }] of batches.entries()) {
      const directory = mkdtempSync(join(tmpdir(), 'flyball-robustness-'));
      tell(`batch ${i + 1} of ${batches.length}${compacting ? ', history is let go' : ''}${cold ? `, ${cold} objects at rest` : ''}`);
      const verdict = await runBatch({
        bundle: bundle.path,
        directory,
        seed: seed + i * 1000,
        faults,
        ...(cold !== undefined && { cold }),
        ...(compacting && { compactionMs: COMPACTION_MS }),
        ...(mutants && { mutants }),
        ...(patience !== undefined && { patience }),
        tell: (line) => tell(`  ${line}`),
      }).catch((error: unknown) => {
        throw new Error(`the batch could not be played to its end; what there is of it: ${directory}`, { cause: error });
      });
      verdicts.push(verdict);
      const failed = verdict.findings.some(({ violations }) => violations.length > 0);
      if (keep || (failed && !discard)) kept.push(directory);
      else rmSync(directory, { recursive: true, force: true });
    }
  } finally {
    bundle.remove();
  }
  const cycles = verdicts.flatMap((verdict) => verdict.cycles);
  return {
    cycles: cycles.length,
    valid: cycles.filter((cycle) => !cycle.void).length,
    missing: batches.flatMap(({ faults, compacting }, i) => {
      const again = faults.filter((_fault, at) => verdicts[i]?.cycles[at]?.void ?? true);
      return again.length > 0 ? [{ faults: again, compacting }] : [];
    }),
    findings: summed(verdicts.map(({ findings }) => findings)),
    kept,
    slowestRestartMs: Math.max(0, ...cycles.map(({ restartMs = 0 }) => restartMs)),
  };
}

/** Two runs as one. */
export function together(a: RunVerdict, b: RunVerdict): RunVerdict {
  return {
    cycles: a.cycles + b.cycles,
    valid: a.valid + b.valid,
    missing: b.missing,
    findings: summed([a.findings, b.findings]),
    kept: [...a.kept, ...b.kept],
    slowestRestartMs: Math.max(a.slowestRestartMs, b.slowestRestartMs),
  };
}

/** The same checks over several batches as one. */
function summed(all: readonly (readonly Finding[])[]): Finding[] {
  return (all[0] ?? []).map(({ name }, i) => {
    const parts = all.map((findings) => findings[i]!);
    const figures = parts.map(({ judged }) =>
      [...judged.matchAll(/(\d+) ([^,]+)/g)].map(([, count, what]) => ({ count: Number(count), what: what! })),
    );
    const judged = figures[0]!
      .map(({ what }, at) => `${figures.reduce((sum, each) => sum + (each[at]?.count ?? 0), 0)} ${what}`)
      .join(', ');
    return { name, judged, violations: parts.flatMap(({ violations }) => violations) };
  });
}

/** Judges the evidence of a kept batch again. */
export function recheck(directory: string): Finding[] {
  const schedule = JSON.parse(readFileSync(join(directory, 'schedule.json'), 'utf8')) as { compactionMs?: number };
  const readings = readdirSync(join(directory, READINGS))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((name) => JSON.parse(readFileSync(join(directory, READINGS, name), 'utf8')) as Reading);
  return judge({
    operations: readHistory(join(directory, HISTORIES)),
    readings: [journalReading(directory), ...readings],
    compacting: schedule.compactionMs !== undefined,
  });
}

/** Of one check; the evidence has them all. */
const SHOWN = 5;

export function table(findings: readonly Finding[]): string {
  return findings
    .map(({ name, judged, violations }) => {
      const more = violations.length > SHOWN ? `\n        and ${violations.length - SHOWN} more` : '';
      const shown = violations.slice(0, SHOWN).map((violation) => `\n        ${violation.slice(0, 300)}`);
      return `${violations.length === 0 ? 'ok  ' : 'FAIL'}  ${name.padEnd(48)}${String(violations.length).padStart(6)} of ${judged}${shown.join('')}${more}`;
    })
    .join('\n');
}

export function summary({ cycles, valid, slowestRestartMs, kept }: RunVerdict): string {
  const lines = [
    `${cycles} cycles, ${valid} of them under at least ${MIN_RATE} acknowledged writes a second; slowest restart ${slowestRestartMs} ms`,
  ];
  if (kept.length > 0)
    lines.push('evidence (seed, schedule, histories, store, revisions, log):', ...kept.map((directory) => `  ${directory}`));
  return lines.join('\n');
}

export const shuffler = (seed: number): ((below: number) => number) => {
  const random = seededRandom(seed);
  return (below) => random.integer(below);
};
