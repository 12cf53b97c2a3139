/**
 * JSON in and out, as Go reads and writes it. `parseJson` uses the native parser and only then looks whether the body needs the careful
 * one (repeated members, numbers JavaScript would blur, bad UTF-8); `encodeObject` prints an object by its schema.
 */
import { isUtf8 } from 'node:buffer';
import { rawText, structText } from './json-encoder.ts';
import { MAX_DEPTH, parseCarefully } from './json-parser.ts';
import type { TypeSchema } from './schema/schema.ts';

export interface ParsedJson {
  /** Members keep the order they came in. Numbers: see json-number.ts. */
  readonly value: unknown;
  /** Paths of members that occur more than once, as upstream prints them: `spec.containers[0].name`. */
  readonly duplicates: string[];
}

/** Throws JsonSyntaxError with Go's text. */
export function parseJson(input: Buffer | string): ParsedJson {
  const text = typeof input === 'string' ? input : isUtf8(input) ? input.toString('utf8') : decodeLossily(input);
  if (LONE_SURROGATE_ESCAPE.test(text)) return parseCarefully(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return parseCarefully(text);
  }
  const members = plainMembers(text);
  if (members < 0 || members !== countMembers(value)) return parseCarefully(text);
  return { value, duplicates: [] };
}

/** Reads what `encodeObject` printed: it repeats no member and is well formed, so only numbers that JavaScript would blur need care. */
export function parseOwn(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  return UNUSUAL_NUMBER.test(text) ? parseJson(text).value : JSON.parse(text);
}

/** A number of sixteen digits or more, with a point or an exponent, or -0; what looks like one inside a text does no harm. */
const UNUSUAL_NUMBER = /(?:":|[,[])(?:-?(?:\d{16}|\d+[.eE])|-0)/;

/** Half of a pair without the other half. */
const LONE_SURROGATE_ESCAPE = /\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]/;

/**
 * How many members all objects of a valid JSON text have together; -1 when a number in it would not print as it is written, or when
 * it nests too deep. Compared with the parsed value's own count it tells whether a member name was repeated.
 */
function plainMembers(text: string): number {
  let members = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) {
      i = closingQuote(text, i);
    } else if (c === 0x3a) members++;
    else if (c === 0x7b || c === 0x5b) {
      if (++depth > MAX_DEPTH) return -1;
    } else if (c === 0x7d || c === 0x5d) depth--;
    else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
      const start = i;
      let plain = c !== 0x2d;
      for (; i + 1 < text.length; i++) {
        const d = text.charCodeAt(i + 1);
        if (d >= 0x30 && d <= 0x39) continue;
        if (d !== 0x2e && d !== 0x65 && d !== 0x45 && d !== 0x2b && d !== 0x2d) break;
        plain = false;
      }
      if ((!plain || i - start >= 15) && !printsAlike(text.slice(start, i + 1))) return -1;
    }
  }
  return members;
}

function closingQuote(text: string, open: number): number {
  let end = text.indexOf('"', open + 1);
  for (;;) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
}

function printsAlike(literal: string): boolean {
  const value = Number(literal);
  return String(value) === literal && (Number.isSafeInteger(value) || !Number.isInteger(value));
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const pending: object[] = [value];
  let count = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const inner = Array.isArray(next) ? next : Object.values(next);
    if (inner !== next) count += inner.length;
    for (const item of inner) if (typeof item === 'object' && item !== null) pending.push(item);
  }
  return count;
}

/** As Go reads strings: U+FFFD for each byte that does not belong to valid UTF-8 (a decoder of the web gives one per sequence). */
function decodeLossily(bytes: Buffer): string {
  const parts: string[] = [];
  for (let i = 0; i < bytes.length; ) {
    const length = sequenceLength(bytes, i);
    parts.push(length === 0 ? '\ufffd' : bytes.toString('utf8', i, i + length));
    i += Math.max(length, 1);
  }
  return parts.join('');
}

function sequenceLength(bytes: Buffer, at: number): number {
  const first = bytes[at]!;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

/** The object as Go would print its type: key order, omitted and always-printed members. Unknown members are never printed. No newline. */
export function encodeObject(schema: TypeSchema, value: unknown): Buffer {
  return exactBuffer(structText(schema, value));
}

/** Any value, map keys sorted, with Go's escapes. No newline. */
export function encodeAny(value: unknown): Buffer {
  return exactBuffer(rawText(value, true));
}

/** Outside Node's shared pool, so that keeping it keeps nothing else. */
function exactBuffer(text: string): Buffer {
  // Written first, for its length: that is quicker than to count its bytes. No unit of a text takes more than three.
  const length = text.length * 3 <= scratch.length ? scratch.write(text, 'utf8') : Buffer.byteLength(text, 'utf8');
  const buffer = Buffer.allocUnsafeSlow(length);
  if (text.length * 3 <= scratch.length) scratch.copy(buffer, 0, 0, length);
  else buffer.write(text, 'utf8');
  return buffer;
}

const scratch = Buffer.allocUnsafeSlow(64 * 1024);

/** Compact JSON, indented by two spaces as Go's json.Indent does: `{}` and `[]` stay closed. No newline at the end. */
export function prettyJson(compact: Buffer): Buffer {
  const text = compact.toString('utf8').trimEnd();
  const parts: string[] = [];
  let indent = '\n';
  let copied = 0;
  const breakAfter = (end: number): void => {
    parts.push(text.slice(copied, end), indent);
    copied = end;
  };
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '"') i = closingQuote(text, i);
    else if (c === '{' || c === '[') {
      if (text[i + 1] === '}' || text[i + 1] === ']') i++;
      else {
        indent += '  ';
        breakAfter(i + 1);
      }
    } else if (c === '}' || c === ']') {
      indent = indent.slice(0, -2);
      breakAfter(i);
    } else if (c === ',') breakAfter(i + 1);
    else if (c === ':') {
      parts.push(text.slice(copied, i + 1), ' ');
      copied = i + 1;
    }
  }
  parts.push(text.slice(copied));
  return Buffer.from(parts.join(''), 'utf8');
}
