/**
 * Reads the answers of one HTTP/1.1 connection from its bytes (RFC 9112): heads, bodies of known length, in chunks, or up to the end of the connection.
 *
 * Worked example: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n` in any pieces is head 200, data `ab`, end.
 *
 * Invariant: what is no HTTP throws; a body is never taken for the head of the next answer. Memory held is at most one head.
 */

export type Headers = Record<string, string | string[] | undefined>;

export interface AnswerEvents {
  head(code: number, headers: Headers): void;
  /** A part of the received bytes, not a copy. */
  data(chunk: Buffer): void;
  /** `reusable`: the connection may carry another request. */
  end(reusable: boolean): void;
}

const MAX_HEAD_BYTES = 1 << 16;
const HEAD_END = Buffer.from('\r\n\r\n');
const EMPTY = Buffer.alloc(0);
const NEWLINE = 0x0a;

type State = 'head' | 'length' | 'size' | 'chunk' | 'chunk-end' | 'trailer' | 'until-close';

export class AnswerParser {
  readonly #events: AnswerEvents;
  #state: State = 'head';
  /** Bytes of a head or of a line that has not come whole. */
  #pending: Buffer = EMPTY;
  /** Bytes of the body or the chunk still to come. */
  #left = 0;
  #reusable = true;
  /** Answers to it have no body, whatever their head says. */
  #isHead = false;

  constructor(events: AnswerEvents) {
    this.#events = events;
  }

  /** To be told before the answer begins. */
  expect(method: string): void {
    this.#isHead = method === 'HEAD';
  }

  take(bytes: Buffer): void {
    let rest: Buffer | undefined = bytes;
    while (rest !== undefined && rest.length > 0) rest = this.#step(rest);
  }

  /** The connection has ended: true when that was the end of an answer too. */
  close(): boolean {
    if (this.#state !== 'until-close') return false;
    this.#end();
    return true;
  }

  /** Takes what it can and returns what is left, undefined when more must come first. */
  #step(bytes: Buffer): Buffer | undefined {
    switch (this.#state) {
      case 'head':
        return this.#head(bytes);
      case 'length':
        return this.#body(bytes, () => this.#end());
      case 'chunk':
        return this.#body(bytes, () => {
          this.#state = 'chunk-end';
        });
      case 'until-close':
        this.#events.data(bytes);
        return undefined;
      default:
        return this.#line(bytes);
    }
  }

  #body(bytes: Buffer, done: () => void): Buffer {
    const part = bytes.length <= this.#left ? bytes : bytes.subarray(0, this.#left);
    this.#left -= part.length;
    this.#events.data(part);
    if (this.#left === 0) done();
    return bytes.subarray(part.length);
  }

  #head(bytes: Buffer): Buffer | undefined {
    const all = this.#joined(bytes);
    const end = all.indexOf(HEAD_END);
    if (end < 0) return this.#keep(all);
    this.#pending = EMPTY;
    const [first = '', ...lines] = all.toString('latin1', 0, end).split('\r\n');
    const [, minor, status] = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/.exec(first) ?? [];
    if (status === undefined) throw new Error('what was answered is no HTTP');
    const code = Number(status);
    const rest = all.subarray(end + HEAD_END.length);
    if (code < 200 && code !== 101) return rest; // only says that an answer will come
    this.#begin(code, headersOf(lines), minor === '1');
    return rest;
  }

  #begin(code: number, headers: Headers, keepsAlive: boolean): void {
    const connection = String(headers['connection'] ?? '').toLowerCase();
    this.#reusable = code !== 101 && !connection.includes('close') && (keepsAlive || connection.includes('keep-alive'));
    this.#events.head(code, headers);
    const encoding = headers['transfer-encoding'];
    const length = headers['content-length'];
    if (this.#isHead || code === 204 || code === 304) this.#end();
    else if (encoding !== undefined) {
      if (String(encoding).toLowerCase() !== 'chunked') throw new Error(`transfer-encoding ${encoding} is not known`);
      this.#state = 'size';
    } else if (length === undefined) {
      this.#reusable = false;
      this.#state = 'until-close';
    } else {
      if (typeof length !== 'string' || !/^\d{1,15}$/.test(length)) throw new Error(`content-length ${length} is no length`);
      this.#left = Number(length);
      if (this.#left === 0) this.#end();
      else this.#state = 'length';
    }
  }

  #line(bytes: Buffer): Buffer | undefined {
    const at = bytes.indexOf(NEWLINE);
    if (at < 0) return this.#keep(this.#joined(bytes));
    const line = this.#joined(bytes.subarray(0, at)).toString('latin1').replace(/\r$/, '');
    this.#pending = EMPTY;
    if (this.#state === 'size') this.#size(line);
    else if (this.#state === 'trailer') {
      if (line === '') this.#end();
    } else {
      if (line !== '') throw new Error('a chunk is longer than it said');
      this.#state = 'size';
    }
    return bytes.subarray(at + 1);
  }

  #size(line: string): void {
    const digits = /^([0-9a-fA-F]{1,12})[ \t]*(?:;|$)/.exec(line)?.[1];
    if (digits === undefined) throw new Error('a chunk has no size');
    this.#left = Number.parseInt(digits, 16);
    this.#state = this.#left === 0 ? 'trailer' : 'chunk';
  }

  #end(): void {
    this.#state = 'head';
    this.#events.end(this.#reusable);
  }

  #joined(bytes: Buffer): Buffer {
    return this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
  }

  #keep(all: Buffer): undefined {
    if (all.length > MAX_HEAD_BYTES) throw new Error('the head of an answer does not end');
    this.#pending = all;
  }
}

/** Names in lower case; a name that comes twice has a list. */
function headersOf(lines: readonly string[]): Headers {
  const headers: Headers = Object.create(null);
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon <= 0) throw new Error('a header has no name');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers[name];
    headers[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value];
  }
  return headers;
}
