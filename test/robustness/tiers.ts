/**
 * How much of what: the figures of the tiers. Nothing violated in N cycles means that fewer than 3/N of all such faults violate something (with 95 %
 * confidence): 1,000 kills, less than 0.3 % a kill.
 */
import { allFaults, type Fault } from './faults.ts';

export type TierName = 'pr' | 'nightly' | 'release';
export const TIERS: readonly TierName[] = ['pr', 'nightly', 'release'];

/** Cycles by what the fault is. */
export interface Figures {
  readonly kills: number;
  readonly powerCuts: number;
  /** Over all failpoints. */
  readonly crashes: number;
  readonly disk: number;
  readonly slow: number;
  readonly networks: number;
  /** Seconds of each freeze. */
  readonly stops: readonly number[];
  readonly fullDisks: number;
  readonly chaosSeconds: number;
}

const repeated = (times: number, seconds: readonly number[]): number[] => Array.from({ length: times }, () => seconds).flat();

export const FIGURES: Readonly<Record<TierName, Figures>> = {
  pr: { kills: 30, powerCuts: 20, crashes: 48, disk: 6, slow: 4, networks: 12, stops: [1, 1, 5], fullDisks: 1, chaosSeconds: 0 },
  nightly: {
    kills: 1_000,
    powerCuts: 300,
    crashes: 1_000,
    disk: 150,
    slow: 30,
    networks: 200,
    stops: repeated(10, [1, 5, 16, 60]),
    fullDisks: 10,
    chaosSeconds: 1_800,
  },
  release: {
    kills: 3_000,
    powerCuts: 1_000,
    crashes: 5_000,
    disk: 500,
    slow: 100,
    networks: 600,
    stops: repeated(30, [1, 5, 16, 60]),
    fullDisks: 50,
    chaosSeconds: 14_400,
  },
};

/** Faults in each batch: what is judged together, and kept together when it fails. */
const BATCH = 10;
/** One batch of so many has a large store. */
const LARGE_EVERY = 5;
const COLD = 10_000;

export interface PlannedBatch {
  readonly faults: readonly Fault[];
  readonly compacting: boolean;
  /** Objects at rest in its store. */
  readonly cold?: number;
}

/** All cycles of a tier, mixed, in batches; every second batch lets history go all the time, and faults that need that are in those. */
export function planned(figures: Figures, draw: (below: number) => number): PlannedBatch[] {
  const faults = allFaults().filter(({ skipped }) => skipped === undefined);
  const of = (test: (name: string) => boolean): readonly Fault[] => faults.filter(({ name }) => test(name));
  const times = (count: number, from: readonly Fault[]): Fault[] => Array.from({ length: count }, (_, i) => from[i % from.length]!);
  const all = [
    ...times(
      figures.kills,
      of((name) => name === 'kill'),
    ),
    ...times(
      figures.powerCuts,
      of((name) => name === 'power-cut'),
    ),
    ...times(
      figures.crashes,
      of((name) => name.startsWith('crash:')),
    ),
    ...times(
      figures.disk,
      of((name) => /^(write|fsync|strace)/.test(name)),
    ),
    ...times(
      figures.slow,
      of((name) => name === 'slow-fsync'),
    ),
    ...times(
      figures.networks,
      of((name) => name.startsWith('network:')),
    ),
    ...figures.stops.flatMap((seconds) => of((name) => name === `stop-${seconds}s`)),
  ];
  for (let i = all.length - 1; i > 0; i--) {
    const j = draw(i + 1);
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  const bound = all.filter(({ compacting }) => compacting);
  const free = all.filter(({ compacting }) => !compacting);
  const half = Math.max(0, Math.ceil(all.length / 2) - bound.length);
  const batched = [...batches([...bound, ...free.slice(0, half)], true), ...batches(free.slice(half), false)];
  return batched.map((batch, i) => (i % LARGE_EVERY === 0 ? { ...batch, cold: COLD } : batch));
}

function batches(faults: readonly Fault[], compacting: boolean): PlannedBatch[] {
  const count = Math.ceil(faults.length / BATCH);
  return Array.from({ length: count }, (_, i) => ({ faults: faults.filter((_fault, at) => at % count === i), compacting }));
}
