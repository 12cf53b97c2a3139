/**
 * Numbers as they were written. JavaScript cannot tell `30.0` from `30`, nor hold 9007199254740993; the API must: the first is
 * refused for an integer field, the second must survive.
 *
 * In parsed values a number is a `number` when that prints as it was written, a `bigint` for other int64 values, else a NumberLiteral.
 */

const MIN_INT64 = -(1n << 63n);
const MAX_INT64 = (1n << 63n) - 1n;

export class NumberLiteral {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  get isJsonNumber(): true {
    return true;
  }
  toJSON(): number {
    return Number(this.text);
  }
  toString(): string {
    return this.text;
  }
}

export type JsonNumber = number | bigint | NumberLiteral;

export function isJsonNumber(value: unknown): value is JsonNumber {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof NumberLiteral;
}

/** From the literal of a valid JSON number. */
export function jsonNumber(literal: string): JsonNumber {
  const value = Number(literal);
  if (!Object.is(value, -0) && String(value) === literal && (Number.isSafeInteger(value) || !Number.isInteger(value))) return value;
  if (/^-?\d+$/.test(literal) && literal.length <= 20 && literal !== '-0') {
    const exact = BigInt(literal);
    if (exact >= MIN_INT64 && exact <= MAX_INT64) return exact;
  }
  return new NumberLiteral(literal);
}

/** The text a number is written with, in Go's form of floats. */
export function numberText(value: JsonNumber): string {
  return typeof value === 'number' ? (Object.is(value, -0) ? '-0' : String(value)) : value.toString();
}

/** An integer literal within bounds as a number (or bigint beyond 2^53); undefined when Go would refuse it for such a field. */
export function integerOf(value: JsonNumber, bits: 32 | 64): number | bigint | undefined {
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) return undefined;
    if (bits === 64) return Number.isSafeInteger(value) ? value + 0 : undefined;
    return value >= -2147483648 && value <= 2147483647 ? value + 0 : undefined;
  }
  if (typeof value === 'bigint') return bits === 64 ? value : undefined;
  return value.text === '-0' ? 0 : undefined;
}
