/**
 * Times of the API: RFC 3339 in UTC, whole seconds (metav1.Time) or six fraction digits (metav1.MicroTime). Mirrors apimachinery
 * `meta/v1/{time,micro_time}.go` over Go's `time.Parse`, error wording included.
 */

export class TimeError extends Error {}

const TIME_LAYOUT = '2006-01-02T15:04:05Z07:00';
const MICRO_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';

/** The second that was formatted last: every write is dated, most in the same second as the one before. */
let lastSecond = Number.NaN;
let lastText = '';

/** Whole seconds: `2026-01-02T03:04:05Z`. */
export function formatTime(date: Date): string {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== lastSecond) {
    lastText = `${date.toISOString().slice(0, 19)}Z`;
    lastSecond = second;
  }
  return lastText;
}

/** Six fraction digits. A Date has three; the rest are zero. */
export function formatMicroTime(date: Date): string {
  return `${date.toISOString().slice(0, 23)}000Z`;
}

/** The elements of the layout, in order: pattern, how Go names the element, smallest and largest value, what is out of range. */
const ELEMENTS: readonly (readonly [RegExp, string, number, number, string])[] = [
  [/^\d{4}/, '2006', 0, 9999, 'year'],
  [/^-/, '-', 0, 0, ''],
  [/^\d{2}/, '01', 1, 12, 'month'],
  [/^-/, '-', 0, 0, ''],
  [/^\d{2}/, '02', 1, 31, 'day'],
  [/^T/, 'T', 0, 0, ''],
  [/^\d{1,2}/, '15', 0, 23, 'hour'],
  [/^:/, ':', 0, 0, ''],
  [/^\d{2}/, '04', 0, 59, 'minute'],
  [/^:/, ':', 0, 0, ''],
  [/^\d{2}/, '05', 0, 59, 'second'],
];

interface Parsed {
  /** Milliseconds since 1970 of the whole second. */
  readonly ms: number;
  readonly micros: number;
}

function parse(text: string, layout: string): Parsed {
  const fail = (rest: string, element: string): TimeError =>
    new TimeError(`parsing time ${quote(text)} as ${quote(layout)}: cannot parse ${quote(rest)} as ${quote(element)}`);
  const outOfRange = (what: string): TimeError => new TimeError(`parsing time ${quote(text)}: ${what} out of range`);
  const numbers: number[] = [];
  let rest = text;
  for (const [pattern, element, min, max, what] of ELEMENTS) {
    const match = pattern.exec(rest);
    if (match === null) throw fail(rest, element);
    rest = rest.slice(match[0].length);
    if (what === '') continue;
    const value = Number(match[0]);
    if (value < min || value > max) throw outOfRange(what);
    numbers.push(value);
  }
  let micros = 0;
  const fraction = layout === MICRO_LAYOUT ? /^[.,]\d{6}/.exec(rest) : /^[.,]\d+/.exec(rest);
  if (layout === MICRO_LAYOUT && fraction === null) throw fail(rest, '.000000');
  if (fraction !== null) {
    micros = Number(fraction[0].slice(1, 7).padEnd(6, '0'));
    rest = rest.slice(fraction[0].length);
  }
  const zone = /^(?:Z|([+-])(\d{2}):(\d{2}))/.exec(rest);
  if (zone === null) throw fail(rest, 'Z07:00');
  rest = rest.slice(zone[0].length);
  if (rest !== '') throw new TimeError(`parsing time ${quote(text)}: extra text: ${quote(rest)}`);
  const [year, month, day, hour, minute, second] = numbers as [number, number, number, number, number, number];
  if (day > daysIn(year, month)) throw outOfRange('day');
  if (Number(zone[2] ?? 0) > 24) throw outOfRange('time zone offset hour');
  if (Number(zone[3] ?? 0) > 60) throw outOfRange('time zone offset minute');
  const offsetMinutes = (zone[1] === '-' ? -1 : 1) * (Number(zone[2] ?? 0) * 60 + Number(zone[3] ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, 0);
  return { ms: date.getTime() - offsetMinutes * 60_000, micros };
}

/** How Go's time package quotes: bytes outside of ASCII, and control characters, as `\\x`. */
export function quote(text: string): string {
  const escaped = text
    .replace(/["\\]/g, '\\$&')
    .replace(/[^\u0020-\u007f]/gu, (c) => [...Buffer.from(c, 'utf8')].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''));
  return `"${escaped}"`;
}

function daysIn(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Go's zero time, which prints as null. */
const ZERO_MS = Date.parse('0001-01-01T00:00:00Z');

/** Reads RFC 3339 (fractions allowed, any zone). Throws TimeError with Go's text. */
export function parseTime(text: string): Date {
  const { ms, micros } = parse(text, TIME_LAYOUT);
  return new Date(ms + Math.trunc(micros / 1000));
}

const CANONICAL_TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

/** How a sent time is stored: UTC, whole seconds; undefined for the zero time. Throws TimeError. */
export function canonicalTime(text: string): string | undefined {
  if (CANONICAL_TIME.test(text) && !text.startsWith('0001-01-01T00:00:00')) return text;
  const { ms } = parse(text, TIME_LAYOUT);
  return ms === ZERO_MS ? undefined : isoSeconds(ms);
}

/** As canonicalTime, for MicroTime: exactly six fraction digits are required. */
export function canonicalMicroTime(text: string): string | undefined {
  const { ms, micros } = parse(text, MICRO_LAYOUT);
  if (ms === ZERO_MS && micros === 0) return undefined;
  return `${isoSeconds(ms).slice(0, 19)}.${String(micros).padStart(6, '0')}Z`;
}

function isoSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
