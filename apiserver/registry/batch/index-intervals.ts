/**
 * Lists of job indexes as text: `1,3-5,7`. Mirrors kubernetes `batch/validation` validateIndexesFormat and validateFailedIndexesNotOverlapCompleted.
 */
import { quoteGo } from '../../../machinery/api/field-error.ts';

/** First and last index, both included. */
type Interval = readonly [number, number];

/** How many indexes the text names, or what is wrong with it. */
export function indexCount(text: string, completions: number): number | string {
  if (text === '') return 0;
  let total = 0;
  let last: number | undefined;
  for (const fragment of text.split(',')) {
    const interval = parseInterval(fragment, completions);
    if (typeof interval === 'string') return interval;
    const [from, to] = interval;
    if (last !== undefined && last >= from) return decreasing(last, from);
    total += to - from + 1;
    last = to;
  }
  return total;
}

/** Where a list of failed and one of completed indexes first meet. Fragments that cannot be read are passed over: their own list is told of them. */
export function firstOverlap(failed: string, completed: string, completions: number): number | undefined {
  const lost = intervals(failed, completions);
  const done = intervals(completed, completions);
  let i = 0;
  let j = 0;
  while (i < lost.length && j < done.length) {
    const [lostFrom, lostTo] = lost[i]!;
    const [doneFrom, doneTo] = done[j]!;
    if (doneFrom <= lostTo && lostFrom <= doneTo) return Math.max(lostFrom, doneFrom);
    if (doneFrom <= lostFrom) j += 1;
    else i += 1;
  }
  return undefined;
}

function intervals(text: string, completions: number): Interval[] {
  if (text === '') return [];
  return text
    .split(',')
    .map((fragment) => parseInterval(fragment, completions))
    .filter((interval) => typeof interval !== 'string');
}

function parseInterval(fragment: string, completions: number): Interval | string {
  const parts = fragment.split('-');
  if (parts.length > 2) {
    return `the fragment ${quoteGo(fragment)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  }
  const bounds: number[] = [];
  for (const part of parts) {
    const index = Number(part);
    if (!/^[+-]?[0-9]+$/.test(part) || !isInt64(part)) return `cannot convert string to integer for index: ${quoteGo(part)}`;
    if (index >= completions) return `too large index: ${quoteGo(part)}`;
    bounds.push(index);
  }
  const [from, to = from] = bounds as [number, number?];
  return parts.length === 2 && from >= to ? decreasing(from, to) : [from, to];
}

const MAX_INT64 = 2n ** 63n;

function isInt64(text: string): boolean {
  const value = BigInt(text.replace(/^\+/, ''));
  return value < MAX_INT64 && value >= -MAX_INT64;
}

const decreasing = (previous: number, current: number): string => `non-increasing order, previous: ${previous}, current: ${current}`;
