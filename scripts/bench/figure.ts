/** One number of the bench: what it says, what it should be, and how it is printed. */
import type { Calibration } from './calibration.ts';

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What docs/performance.md aims at. Some figures only inform. */
  readonly target?: number;
  readonly better: 'lower' | 'higher';
  /** The figure beside what the machine can do at best, when that says something. */
  readonly ratio?: { readonly to: keyof Calibration; readonly value: number };
  /** What else was seen: processor time by process, delays. */
  readonly beside?: string;
}

export const round = (value: number): number => Math.round(value * 100) / 100;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export function line({ name, value, unit, target, better, ratio, beside }: Figure): string {
  const met = target === undefined || (better === 'lower' ? value <= target : value >= target);
  const goal = target === undefined ? '' : `${better === 'lower' ? 'at most' : 'at least'} ${target}${met ? '' : '  MISSED'}`;
  const of = ratio ? `  (${ratio.value} × ${ratio.to})` : '';
  return `${name.padEnd(50)}${`${value} ${unit}`.padStart(18)}   ${goal.padEnd(22)}${of}${beside ? `  ${beside}` : ''}`;
}
