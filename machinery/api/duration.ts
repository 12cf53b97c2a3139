/**
 * Go durations (`1h30m`, `250ms`) and kubectl's ages (`5d3h`). Mirrors Go's `time.ParseDuration` and `Duration.String`, and
 * apimachinery `util/duration`.
 */
import { quote } from './time.ts';

export class DurationError extends Error {}

const UNIT_NS = new Map<string, bigint>([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const NS_PER_MS = 1_000_000;
const MAX_NS = 9223372036854775807n;

/** Nanoseconds, exact. Throws DurationError with Go's text. */
export function parseDurationNs(text: string): bigint {
  const quoted = quote(text);
  const negative = text.startsWith('-');
  let rest = negative || text.startsWith('+') ? text.slice(1) : text;
  if (rest === '0') return 0n;
  if (rest === '') throw new DurationError(`time: invalid duration ${quoted}`);
  let total = 0n;
  while (rest !== '') {
    const match = /^(\d*)(?:\.(\d*))?/.exec(rest)!;
    const [number, whole, fraction] = match;
    if ((whole === '' && (fraction ?? '') === '') || number === '') throw new DurationError(`time: invalid duration ${quoted}`);
    rest = rest.slice(number.length);
    const [unit] = /^[^.\d]*/.exec(rest)!;
    if (unit === '') throw new DurationError(`time: missing unit in duration ${quoted}`);
    const size = UNIT_NS.get(unit);
    if (size === undefined) throw new DurationError(`time: unknown unit ${quote(unit)} in duration ${quoted}`);
    rest = rest.slice(unit.length);
    total += BigInt(whole || '0') * size;
    if (fraction) total += (BigInt(fraction.slice(0, 30)) * size) / 10n ** BigInt(Math.min(fraction.length, 30));
    if (total > MAX_NS) throw new DurationError(`time: invalid duration ${quoted}`);
  }
  return negative ? -total : total;
}

/** Milliseconds, with fractions for what is shorter. */
export function parseDuration(text: string): number {
  return Number(parseDurationNs(text)) / NS_PER_MS;
}

export function formatDurationNs(ns: bigint): string {
  if (ns === 0n) return '0s';
  const sign = ns < 0n ? '-' : '';
  const value = ns < 0n ? -ns : ns;
  if (value < 1_000n) return `${sign}${value}ns`;
  if (value < 1_000_000n) return `${sign}${decimal(value, 3)}µs`;
  if (value < 1_000_000_000n) return `${sign}${decimal(value, 6)}ms`;
  const seconds = value / 1_000_000_000n;
  const minutes = seconds / 60n;
  const hours = minutes / 60n;
  const tail = `${decimal(value - minutes * 60_000_000_000n, 9)}s`;
  if (hours > 0n) return `${sign}${hours}h${minutes % 60n}m${tail}`;
  return minutes > 0n ? `${sign}${minutes}m${tail}` : `${sign}${tail}`;
}

function decimal(value: bigint, digits: number): string {
  const unit = 10n ** BigInt(digits);
  const fraction = String(value % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  return fraction === '' ? String(value / unit) : `${value / unit}.${fraction}`;
}

/** kubectl's AGE column: two units at most, fewer as it grows. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const pair = (big: number, bigUnit: string, small: number, smallUnit: string): string =>
    small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 24 * 8) return pair(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return `${days}d`;
  const years = Math.trunc(days / 365);
  return days < 365 * 8 ? pair(years, 'y', days % 365, 'd') : `${years}y`;
}
