/**
 * Resource quantities (`500m`, `1536Mi`, `1e3`), exact. Mirrors apimachinery `api/resource/quantity.go`: what is accepted, how it is
 * rounded, and in which form it is written again.
 *
 * Invariant: `formatQuantity(parseQuantity(t))` is stable under repetition, and no digit is ever lost to floating point.
 */

export type QuantityFormat = 'DecimalSI' | 'DecimalExponent' | 'BinarySI';

/** The value is `unscaled · 10^scale`. */
export interface Quantity {
  readonly unscaled: bigint;
  readonly scale: number;
  readonly format: QuantityFormat;
  /** The text it was read from, where upstream keeps it as near enough to canonical (`+007` stays). */
  readonly text?: string;
}

export class QuantityError extends Error {}

const FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX_WRONG = "unable to parse quantity's suffix";

const DECIMAL = new Map<string, number>(Object.entries({ n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }));
const DECIMAL_SUFFIX = new Map([...DECIMAL].map(([suffix, exponent]) => [exponent, suffix]));
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const NANO = -9;
const MAX_INT64 = 9223372036854775807n;
/** Upstream's bound for its int64 arithmetic, in digits. */
const MAX_FAST_DIGITS = 18;
/** Powers of ten above this are treated as this one: no request may make us build a number of a million digits. */
const MAX_POWER = 400;

interface Parts {
  readonly negative: boolean;
  readonly num: string;
  readonly denom: string;
  readonly suffix: string;
}

function split(text: string): Parts {
  if (text === '') throw new QuantityError(FORMAT_WRONG);
  const sign = text[0] === '-' || text[0] === '+' ? 1 : 0;
  const negative = text[0] === '-';
  const [zeros] = /^0*/.exec(text.slice(sign))!;
  const rest = text.slice(sign + zeros.length);
  if (rest === '') return { negative, num: '0', denom: '', suffix: '' };
  const match = /^(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/.exec(rest);
  if (match === null) throw new QuantityError(FORMAT_WRONG);
  // A number of zero digits only ("e3", "+m") is zero, not an error.
  return { negative, num: match[1] === '' ? '0' : match[1]!, denom: match[2] ?? '', suffix: match[3]! };
}

function interpret(suffix: string): { base: 2 | 10; exponent: number; format: QuantityFormat } {
  const decimal = DECIMAL.get(suffix);
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'DecimalSI' };
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) return { base: 2, exponent: binary * 10, format: 'BinarySI' };
  if (/^[eE][-+]?\d+$/.test(suffix) && suffix.length < 20)
    return { base: 10, exponent: Number(suffix.slice(1)) | 0, format: 'DecimalExponent' };
  throw new QuantityError(SUFFIX_WRONG);
}

/** Throws QuantityError with upstream's text. A number is read as its JSON text. */
export function parseQuantity(input: string | number | bigint): Quantity {
  const text = String(input);
  if (text === '0') return { unscaled: 0n, scale: 0, format: 'DecimalSI', text };
  const { negative, num, denom, suffix } = split(text);
  const { base, exponent, format } = interpret(suffix);
  const digits = num + denom;
  const sign = negative ? -1n : 1n;
  const fast = fastForm(num, denom, base, exponent);
  if (fast) {
    const value = BigInt(digits) * (base === 2 ? 1n << BigInt(exponent) : 1n);
    if (value <= MAX_INT64) {
      const scale = (base === 2 ? 0 : exponent) - denom.length;
      const kept = base === 2 ? (BigInt(digits) & 7n) !== 0n : scale % 3 === 0 && !digits.endsWith('000') && digits[0] !== '0';
      return { unscaled: sign * value, scale, format, ...(kept && { text }) };
    }
  }
  return slowForm(sign, { digits, fraction: denom.length, base, exponent, format });
}

/** Whether upstream reads it with int64 arithmetic; only then is the text kept and only then are values not rounded to nano. */
function fastForm(num: string, denom: string, base: 2 | 10, exponent: number): boolean {
  if (base === 2) return denom === '' && 15 - num.length - Math.trunc((exponent * 3) / 10) - 1 >= 0;
  return num.length + denom.length <= MAX_FAST_DIGITS && exponent - denom.length >= NANO;
}

function slowForm(
  sign: bigint,
  part: { digits: string; fraction: number; base: 2 | 10; exponent: number; format: QuantityFormat },
): Quantity {
  let unscaled = BigInt(part.digits) * (part.base === 2 ? 1n << BigInt(part.exponent) : 1n);
  let scale = (part.base === 10 ? part.exponent : 0) - part.fraction;
  if (scale < NANO) {
    unscaled = rescale(unscaled, scale, NANO);
    scale = NANO;
  }
  let format = part.format;
  if (format === 'BinarySI') {
    if (rescale(unscaled, scale, 0) > MAX_INT64) [unscaled, scale] = [MAX_INT64, 0];
    if (unscaled > 0n && rescale(unscaled, scale, 0) === 1n && rescale(unscaled, scale, NANO) < 1_000_000_000n) format = 'DecimalSI';
  }
  return { unscaled: sign * unscaled, scale, format };
}

const power = (exponent: number): bigint => 10n ** BigInt(Math.min(exponent, MAX_POWER));

/** `unscaled · 10^from` as a multiple of `10^to`, rounded away from zero. */
function rescale(unscaled: bigint, from: number, to: number): bigint {
  if (unscaled === 0n) return 0n;
  if (from >= to) return unscaled * power(from - to);
  const divisor = power(to - from);
  const quotient = unscaled / divisor;
  if (unscaled % divisor === 0n) return quotient;
  return unscaled < 0n ? quotient - 1n : quotient + 1n;
}

function isExactAt(q: Quantity, scale: number): boolean {
  return q.scale >= scale || q.unscaled % power(scale - q.scale) === 0n;
}

/** The canonical text, or the text it was read from where upstream keeps that. */
export function formatQuantity(q: Quantity): string {
  if (q.text !== undefined) return q.text;
  if (q.unscaled === 0n) return '0';
  if (q.format === 'BinarySI' && isExactAt(q, 0)) {
    let mantissa = rescale(q.unscaled, q.scale, 0);
    if (mantissa <= -1024n || mantissa >= 1024n) {
      let steps = 0;
      for (; mantissa % 1024n === 0n && steps < BINARY.length - 1; steps++) mantissa /= 1024n;
      return `${mantissa}${BINARY[steps]}`;
    }
  }
  return formatDecimal(q);
}

function formatDecimal(q: Quantity): string {
  let mantissa = q.unscaled;
  let exponent = q.scale;
  for (; mantissa % 10n === 0n; exponent++) mantissa /= 10n;
  const excess = ((exponent % 3) + 3) % 3;
  mantissa *= power(excess);
  exponent -= excess;
  const suffix = q.format === 'DecimalExponent' ? undefined : DECIMAL_SUFFIX.get(exponent);
  return `${mantissa}${suffix ?? (exponent === 0 ? '' : `e${exponent}`)}`;
}

export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  const scale = Math.max(Math.min(a.scale, b.scale), -MAX_POWER);
  const x = rescale(a.unscaled, a.scale, scale);
  const y = rescale(b.unscaled, b.scale, scale);
  return x < y ? -1 : x > y ? 1 : 0;
}

/** The sum has the format of `a`, or of `b` when `a` is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const scale = Math.min(a.scale, b.scale);
  const unscaled = rescale(a.unscaled, a.scale, scale) + rescale(b.unscaled, b.scale, scale);
  return { unscaled, scale, format: a.unscaled === 0n ? b.format : a.format };
}

export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, { ...b, unscaled: -b.unscaled });
}

/** The value in thousandths, rounded up (away from zero), at most what an int64 holds. */
export function quantityMilli(q: Quantity): number {
  return clamp(rescale(q.unscaled, q.scale, -3));
}

const fitsInt64 = (n: bigint): boolean => n >= -MAX_INT64 - 1n && n <= MAX_INT64;

/** Thousandths as upstream's 64 bits hold them: nothing for what was written small and is too large, the low bits of what was written large. */
export function quantityMilliWrapped(q: Quantity): bigint {
  const exact = rescale(q.unscaled, q.scale, -3);
  if (fitsInt64(exact)) return exact;
  return fitsInt64(q.unscaled) ? 0n : BigInt.asIntN(64, exact);
}

/** The value as a whole number, rounded up (away from zero), at most what an int64 holds. */
export function quantityValue(q: Quantity): number {
  return clamp(rescale(q.unscaled, q.scale, 0));
}

function clamp(value: bigint): number {
  return Number(value > MAX_INT64 ? MAX_INT64 : value < -MAX_INT64 ? -MAX_INT64 : value);
}

/** Rounds up to thousandths, as resource lists are when they are defaulted (`Quantity.RoundUp(Milli)`). */
export function roundUpToMilli(q: Quantity): Quantity {
  if (q.scale >= -3) return q;
  return { unscaled: rescale(q.unscaled, q.scale, -3), scale: -3, format: q.format };
}

const canonical = new Map<string, string>();
const MAX_CACHED = 4096;

/** The text that a quantity of a request is stored as. Throws QuantityError. */
export function canonicalQuantity(input: string | number | bigint): string {
  const text = typeof input === 'string' ? input : String(input);
  const known = canonical.get(text);
  if (known !== undefined) return known;
  const result = formatQuantity(parseQuantity(text.trim()));
  if (canonical.size >= MAX_CACHED) canonical.clear();
  if (text.length < 64) canonical.set(text, result);
  return result;
}
