/**
 * One HTTP/1.1 connection: one request at a time, its answer told piece by piece. Written for what a control loop does all day, many small requests and a
 * few endless answers, at the least processor time; a general client costs each process tens of milliseconds to load and a tenth of its time to run.
 *
 * Invariant: every request ends with exactly one `onEnd` or `onError`.
 */
import type { Socket } from 'node:net';
import type { Clock } from '../../process/clock.ts';
import { AnswerParser, type Headers } from './answer-parser.ts';

export interface HttpRequest {
  readonly method: string;
  /** Path with query, encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer | undefined;
  /** Nobody waits for it: all others of this client go first. */
  readonly background?: boolean | undefined;
}

/** Slows an answer down, or ends it. */
export interface AnswerControl {
  readonly paused: boolean;
  pause(): void;
  resume(): void;
  abort(reason: unknown): void;
}

export interface AnswerHandler {
  onHead(code: number, headers: Headers, control: AnswerControl): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: unknown): void;
}

export interface ConnectionOptions {
  readonly socket: Socket;
  readonly host: string;
  /** Silence after which a request has failed; 0: never. */
  readonly answerTimeoutMs: number;
  /** Silence after which an idle connection is closed. */
  readonly idleTimeoutMs: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** It may carry another request. */
  readonly onIdle: () => void;
  readonly onClosed: () => void;
}

export class Connection implements AnswerControl {
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #parser: AnswerParser;
  #handler: AnswerHandler | undefined;
  #idleTimeoutMs: number;
  #error: unknown;
  /** When its silence becomes too long. */
  #deadlineMs = Number.POSITIVE_INFINITY;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#socket = options.socket;
    this.#idleTimeoutMs = options.idleTimeoutMs;
    this.#parser = new AnswerParser({
      head: (code, headers) => {
        this.#noteTimeout(headers['keep-alive']);
        this.#handler?.onHead(code, headers, this);
      },
      data: (chunk) => this.#handler?.onData(chunk),
      end: (reusable) => this.#end(reusable),
    });
    const { socket } = options;
    socket.setNoDelay(true);
    socket.on('data', (bytes) => this.#take(bytes));
    socket.on('error', (error) => {
      this.#error ??= error;
    });
    socket.on('end', () => socket.destroy());
    socket.on('close', () => this.#closed());
    this.#rest();
  }

  get paused(): boolean {
    return this.#socket.isPaused();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** The other side cannot be told to stop: the connection ends with the answer. */
  abort(reason: unknown): void {
    this.#error ??= reason ?? failure('the request was given up', 'ECONNABORTED');
    this.#socket.destroy();
  }

  send(request: HttpRequest, handler: AnswerHandler): void {
    this.#handler = handler;
    this.#parser.expect(request.method);
    const { body = '' } = request;
    const head = headOf(request, this.#options.host);
    this.#socket.ref();
    this.#expectAnswer();
    if (typeof body === 'string') this.#socket.write(head + body);
    else {
      this.#socket.cork();
      this.#socket.write(head);
      this.#socket.write(body);
      this.#socket.uncork();
    }
  }

  /** Ends the connection, and what it carries, when it has been silent for too long. True when it is over. */
  endIfLate(): boolean {
    if (this.#options.clock.monotonicMs() >= this.#deadlineMs) this.abort(failure('no answer in time', 'ETIMEDOUT'));
    return this.#socket.destroyed;
  }

  #expectAnswer(): void {
    const { answerTimeoutMs, clock } = this.#options;
    this.#deadlineMs = answerTimeoutMs === 0 ? Number.POSITIVE_INFINITY : clock.monotonicMs() + answerTimeoutMs;
  }

  #take(bytes: Buffer): void {
    this.#expectAnswer();
    try {
      if (!this.#handler) throw failure('an answer to nothing', 'EPROTO');
      this.#parser.take(bytes);
    } catch (error) {
      this.abort(error);
    }
  }

  #end(reusable: boolean): void {
    const handler = this.#handler;
    this.#handler = undefined;
    // the handler may ask for more at once: the connection has its place back first
    if (reusable && !this.#socket.destroyed) {
      if (this.#socket.isPaused()) this.#socket.resume();
      this.#rest();
      this.#options.onIdle();
    } else this.#socket.destroy();
    handler?.onEnd();
  }

  #rest(): void {
    this.#socket.unref();
    this.#deadlineMs = this.#options.clock.monotonicMs() + this.#idleTimeoutMs;
  }

  #closed(): void {
    this.#options.onClosed();
    if (this.#error === undefined && this.#parser.close()) return;
    const handler = this.#handler;
    this.#handler = undefined;
    handler?.onError(this.#error ?? failure('other side closed', 'ECONNRESET'));
  }

  /** The server says when it closes; a second before that it is no longer used. */
  #noteTimeout(header: string | string[] | undefined): void {
    const seconds = typeof header === 'string' ? /timeout=(\d{1,6})/.exec(header)?.[1] : undefined;
    if (seconds !== undefined) this.#idleTimeoutMs = Math.min(this.#options.idleTimeoutMs, Math.max(500, Number(seconds) * 1000 - 1000));
  }
}

export const failure = (message: string, code: string): Error => Object.assign(new Error(message), { code });

function headOf({ method, path, headers, body }: HttpRequest, host: string): string {
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`;
  for (const name in headers) {
    const value = headers[name]!;
    if (typeof value === 'string') head += `${name}: ${value}\r\n`;
    else for (const one of value) head += `${name}: ${one}\r\n`;
  }
  if (body !== undefined) head += `content-length: ${Buffer.byteLength(body)}\r\n`;
  else if (method === 'POST' || method === 'PUT' || method === 'PATCH') head += 'content-length: 0\r\n';
  head += '\r\n';
  return head;
}

/** What would let a value end its line and begin another, or is no text of HTTP. */
const NOT_IN_HEADER = /[^\t\x20-\x7e\x80-\xff]/;
const NOT_IN_PATH = /[^\x21-\x7e]/;
const NOT_IN_NAME = /[^!#$%&'*+\-.^_`|~0-9a-zA-Z]/;

/** Throws when the request cannot be said in HTTP. */
export function assertSayable({ path, headers }: HttpRequest): void {
  if (!path.startsWith('/') || NOT_IN_PATH.test(path)) throw new Error(`${JSON.stringify(path)} is no path of a request`);
  for (const name in headers) {
    const value = headers[name]!;
    const values = typeof value === 'string' ? [value] : value;
    if (name === '' || NOT_IN_NAME.test(name) || values.some((one) => NOT_IN_HEADER.test(one)))
      throw new Error(`the header ${JSON.stringify(name)} cannot be sent`);
  }
}
