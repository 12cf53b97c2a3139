/**
 * A JSON parser that says what Go's says: error wording, member names that occur twice, numbers as written. It is the careful half of
 * `parseJson`; most bodies never reach it. Mirrors Go's `encoding/json` scanner and the strictness of sigs.k8s.io/json.
 *
 * It keeps its own stack, so that no depth of nesting can overflow ours.
 */
import { jsonNumber } from './json-number.ts';
import { isPlain, type Plain, setOwn, wellFormed } from './plain.ts';

export class JsonSyntaxError extends Error {}

/** Go refuses deeper nesting, and so do we. */
export const MAX_DEPTH = 10_000;

const EOF_TEXT = 'unexpected end of JSON input';

interface Frame {
  readonly container: Plain | unknown[];
  /** The member being read. */
  key: string;
  /** Members read so far, to find repetitions; undefined for a list. */
  readonly seen: Set<string> | undefined;
}

export interface CarefulResult {
  readonly value: unknown;
  readonly duplicates: string[];
}

/** A second object under the same name is merged into the first, as Go decodes it into the same struct or map. */
export function parseCarefully(text: string): CarefulResult {
  return new CarefulParser(text).parse();
}

/** The paths of all members of a valid text in the order they are written, repetitions included. */
export function memberPaths(text: string): string[] {
  const paths: string[] = [];
  new CarefulParser(text, (path) => paths.push(path)).parse();
  return paths;
}

class CarefulParser {
  readonly #text: string;
  readonly #onMember: ((path: string) => void) | undefined;
  #at = 0;
  readonly #stack: Frame[] = [];
  readonly #duplicates = new Set<string>();

  constructor(text: string, onMember?: (path: string) => void) {
    this.#text = text;
    this.#onMember = onMember;
  }

  parse(): CarefulResult {
    let value = this.#value();
    // Each round places one finished value into the container that waits for it.
    while (this.#stack.length > 0) {
      const frame = this.#stack[this.#stack.length - 1]!;
      if (value !== OPENED) this.#place(frame, value);
      value = this.#continue(frame, value === OPENED);
    }
    this.#skip();
    if (this.#at < this.#text.length) throw this.#unexpected('after top-level value');
    return { value, duplicates: [...this.#duplicates] };
  }

  #place(frame: Frame, value: unknown): void {
    if (Array.isArray(frame.container)) {
      frame.container.push(value);
      return;
    }
    const { container, key } = frame;
    const before = Object.hasOwn(container, key) ? container[key] : undefined;
    if (isPlain(before) && isPlain(value)) merge(before, value);
    else setOwn(container, key, value);
  }

  /** Reads on in the innermost container: its next value, or the container itself when it ends. */
  #continue(frame: Frame, first: boolean): unknown {
    const list = Array.isArray(frame.container);
    const c = this.#peek();
    if (c === (list ? ']' : '}')) {
      this.#at++;
      this.#stack.pop();
      return frame.container;
    }
    if (!first) {
      if (c !== ',') throw this.#unexpected(list ? 'after array element' : 'after object key:value pair');
      this.#at++;
    }
    if (list) return this.#value();
    this.#key(frame);
    return this.#value();
  }

  #key(frame: Frame): void {
    if (this.#peek() !== '"') throw this.#unexpected('looking for beginning of object key string');
    frame.key = this.#string();
    if (this.#peek() !== ':') throw this.#unexpected('after object key');
    this.#at++;
    this.#onMember?.(this.#path());
    if (frame.seen!.has(frame.key)) this.#duplicates.add(this.#path());
    frame.seen!.add(frame.key);
  }

  #path(): string {
    let path = '';
    for (const { container, key } of this.#stack) {
      if (Array.isArray(container)) path += `[${container.length}]`;
      else path += path === '' ? key : `.${key}`;
    }
    return path;
  }

  /** A scalar, or OPENED after pushing a container. */
  #value(): unknown {
    const c = this.#peek();
    switch (c) {
      case '{':
        return this.#open({ container: {}, key: '', seen: new Set() });
      case '[':
        return this.#open({ container: [], key: '', seen: undefined });
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        if (c === '-' || (c >= '0' && c <= '9')) return this.#number();
        throw this.#unexpected('looking for beginning of value');
    }
  }

  #open(frame: Frame): typeof OPENED {
    if (this.#stack.length >= MAX_DEPTH) throw this.#unexpected('exceeded max depth');
    this.#stack.push(frame);
    this.#at++;
    return OPENED;
  }

  #word(word: string, value: unknown): unknown {
    for (let i = 0; i < word.length; i++, this.#at++) {
      if (this.#text[this.#at] !== word[i]) throw this.#unexpected(`in literal ${word} (expecting '${word[i]}')`);
    }
    return value;
  }

  #number(): unknown {
    const start = this.#at;
    if (this.#text[this.#at] === '-') this.#at++;
    if (this.#text[this.#at] === '0') this.#at++;
    else this.#digits('in numeric literal');
    if (this.#text[this.#at] === '.') {
      this.#at++;
      this.#digits('after decimal point in numeric literal');
    }
    if (this.#text[this.#at] === 'e' || this.#text[this.#at] === 'E') {
      this.#at++;
      if (this.#text[this.#at] === '-' || this.#text[this.#at] === '+') this.#at++;
      this.#digits('in exponent of numeric literal');
    }
    return jsonNumber(this.#text.slice(start, this.#at));
  }

  #digits(context: string): void {
    const start = this.#at;
    while (this.#text[this.#at]! >= '0' && this.#text[this.#at]! <= '9') this.#at++;
    if (this.#at === start) throw this.#unexpected(context);
  }

  #string(): string {
    const start = this.#at++;
    for (;;) {
      const c = this.#text.charCodeAt(this.#at);
      if (c === 0x22) break;
      if (Number.isNaN(c)) throw new JsonSyntaxError(EOF_TEXT);
      if (c < 0x20) throw this.#unexpected('in string literal');
      this.#at++;
      if (c === 0x5c) this.#escape();
    }
    return wellFormed(JSON.parse(this.#text.slice(start, ++this.#at)) as string);
  }

  #escape(): void {
    const c = this.#text[this.#at];
    if (c === undefined) throw new JsonSyntaxError(EOF_TEXT);
    if (!'"\\/bfnrtu'.includes(c)) throw this.#unexpected('in string escape code');
    this.#at++;
    if (c !== 'u') return;
    for (let i = 0; i < 4; i++, this.#at++) {
      if (!/^[0-9a-fA-F]$/.test(this.#text[this.#at] ?? '0')) throw this.#unexpected('in \\u hexadecimal character escape');
      if (this.#at >= this.#text.length) throw new JsonSyntaxError(EOF_TEXT);
    }
  }

  #skip(): void {
    while (this.#at < this.#text.length && ' \t\r\n'.includes(this.#text[this.#at]!)) this.#at++;
  }

  /** The next character after white space, '' at the end. */
  #peek(): string {
    this.#skip();
    return this.#text[this.#at] ?? '';
  }

  #unexpected(context: string): JsonSyntaxError {
    if (this.#at >= this.#text.length) return new JsonSyntaxError(EOF_TEXT);
    return new JsonSyntaxError(`invalid character ${quoteByte(this.#text, this.#at)} ${context}`);
  }
}

const OPENED = Symbol('opened');

function merge(into: Plain, from: Plain): void {
  for (const key of Object.keys(from)) {
    const before = Object.hasOwn(into, key) ? into[key] : undefined;
    if (isPlain(before) && isPlain(from[key])) merge(before, from[key]);
    else setOwn(into, key, from[key]);
  }
}

/** Go quotes the offending byte, not the character: the first byte of its UTF-8 form. */
function quoteByte(text: string, at: number): string {
  const byte = Buffer.from(String.fromCodePoint(text.codePointAt(at)!), 'utf8')[0]!;
  if (byte === 0x27) return "'\\''";
  if (byte === 0x22) return "'\"'";
  const short: Record<number, string> = { 7: '\\a', 8: '\\b', 9: '\\t', 10: '\\n', 11: '\\v', 12: '\\f', 13: '\\r', 92: '\\\\' };
  if (short[byte] !== undefined) return `'${short[byte]}'`;
  if (byte < 0x20 || byte === 0x7f) return `'\\x${byte.toString(16).padStart(2, '0')}'`;
  if ((byte >= 0x80 && byte < 0xa0) || byte === 0xad) return `'\\u00${byte.toString(16)}'`;
  return `'${String.fromCharCode(byte)}'`;
}
