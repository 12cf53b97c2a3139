/**
 * Connections to one server, each with one request at a time; requests beyond their number wait in order. The connection used last is used next, so that
 * those a burst needed are let go when it is over.
 *
 * Invariant: a request that waits is given to a connection, failed, or given up by its signal; none is forgotten.
 */
import { existsSync } from 'node:fs';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import type { Clock } from '../../process/clock.ts';
import { Background } from './background.ts';
import { type AnswerHandler, assertSayable, Connection, failure, type HttpRequest } from './connection.ts';

export interface PoolOptions {
  readonly url: URL;
  /** Used instead of the network while the file exists. */
  readonly unixSocket?: string | undefined;
  /** For https. */
  readonly secureContext?: SecureContext | undefined;
  /** The name the certificate must have, when it is not the URL's host. */
  readonly serverName?: string | undefined;
  readonly insecure?: boolean | undefined;
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly answerTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly clock: Clock;
}

const SECOND_LOOK_MS = 500;
/** How often silence is looked at within the shortest that is too long. */
const SILENCE_LOOKS = 4;

interface Job {
  readonly request: HttpRequest;
  readonly handler: AnswerHandler;
  /** Undefined while it waits for one. */
  connection?: Connection;
}

export class Pool {
  readonly #options: PoolOptions;
  readonly #idle: Connection[] = [];
  readonly #open = new Set<Connection>();
  #watching = false;
  readonly #sockets = new Set<Socket>();
  #waiting: Job[] = [];
  #connecting = 0;
  readonly #background: Background;
  /** Lets a new connection leave out the dear part of the handshake. */
  #session: Buffer | undefined;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#background = new Background(options.clock, ({ request, handler, signal }) => this.#dispatch(request, handler, signal));
  }

  dispatch(request: HttpRequest, handler: AnswerHandler, signal?: AbortSignal): void {
    if (this.#closed) {
      handler.onError(closed());
      return;
    }
    assertSayable(request);
    if (request.background) this.#background.add({ request, handler, signal });
    else this.#dispatch(request, this.#background.urgent(handler), signal);
  }

  #dispatch(request: HttpRequest, handler: AnswerHandler, signal: AbortSignal | undefined): void {
    const job: Job = { request, handler: signal ? this.#followed(handler, signal, () => job) : handler };
    const idle = this.#takeIdle();
    if (idle) give(idle, job);
    else {
      this.#waiting.push(job);
      this.#connectForWaiting();
    }
  }

  /** What is under way fails. */
  close(): void {
    this.#closed = true;
    for (const { handler } of [...this.#waiting.splice(0), ...this.#background.close()]) handler.onError(closed());
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Ends the job with its signal, and says so in the signal's words. */
  #followed(handler: AnswerHandler, signal: AbortSignal, jobOf: () => Job): AnswerHandler {
    const onAbort = (): void => {
      const job = jobOf();
      if (job.connection) job.connection.abort(signal.reason);
      else {
        this.#waiting = this.#waiting.filter((other) => other !== job);
        job.handler.onError(signal.reason);
      }
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return {
      onHead: (code, headers, control) => handler.onHead(code, headers, control),
      onData: (chunk) => handler.onData(chunk),
      onEnd: () => {
        signal.removeEventListener('abort', onAbort);
        handler.onEnd();
      },
      onError: (error) => {
        signal.removeEventListener('abort', onAbort);
        handler.onError(signal.aborted ? signal.reason : error);
      },
    };
  }

  #takeIdle(): Connection | undefined {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) if (!idle.endIfLate()) return idle;
    return undefined;
  }

  /** Looks after silent connections while there are any. */
  #watchSilence(): void {
    if (this.#watching || this.#open.size === 0) return;
    const { clock, answerTimeoutMs, idleTimeoutMs } = this.#options;
    const look = (): void => {
      this.#watching = false;
      for (const connection of this.#open) connection.endIfLate();
      this.#watchSilence();
    };
    this.#watching = true;
    clock.setTimer(Math.min(answerTimeoutMs || idleTimeoutMs, idleTimeoutMs) / SILENCE_LOOKS, look, { unref: true });
  }

  #connectForWaiting(): void {
    while (this.#waiting.length > this.#connecting && this.#sockets.size < this.#options.connections && !this.#closed) this.#connect();
  }

  #connect(): void {
    const { clock, connectTimeoutMs, answerTimeoutMs } = this.#options;
    const answersEnd = answerTimeoutMs > 0;
    const { socket, established } = this.#socket();
    this.#sockets.add(socket);
    this.#connecting++;
    let error: unknown;
    let isOpen = false;
    // the second look comes after what had arrived by the first: a process that was busy must not take its own delay for the server's
    let cancel = clock.setTimer(connectTimeoutMs, () => {
      cancel = clock.setTimer(SECOND_LOOK_MS, () => socket.destroy(failure('no connection in time', 'ETIMEDOUT')));
    });
    const onError = (cause: unknown): void => {
      error = cause;
    };
    const settled = (): void => {
      cancel();
      this.#connecting--;
    };
    const onClose = (): void => {
      this.#sockets.delete(socket);
      if (!isOpen) {
        settled();
        if (this.#open.size > 0 && answersEnd) return; // those will serve who waits
        this.#waiting.shift()?.handler.onError(error ?? failure('other side closed', 'ECONNRESET'));
      }
      this.#connectForWaiting();
    };
    socket.on('error', onError);
    socket.once('close', onClose);
    socket.once(established, () => {
      isOpen = true;
      settled();
      this.#opened(socket);
    });
  }

  #opened(socket: Socket): void {
    const { url, answerTimeoutMs, idleTimeoutMs, clock } = this.#options;
    const connection: Connection = new Connection({
      socket,
      host: url.host,
      answerTimeoutMs,
      idleTimeoutMs,
      clock,
      onIdle: () => this.#use(connection),
      onClosed: () => {
        this.#open.delete(connection);
        const at = this.#idle.indexOf(connection);
        if (at >= 0) this.#idle.splice(at, 1);
      },
    });
    this.#open.add(connection);
    this.#watchSilence();
    this.#use(connection);
  }

  #use(connection: Connection): void {
    const next = this.#waiting.shift();
    if (next) give(connection, next);
    else this.#idle.push(connection);
  }

  /** Chosen at each connection: the socket file may appear after us, and outlives a killed server. */
  #socket(): { socket: Socket; established: 'connect' | 'secureConnect' } {
    const { url, unixSocket, secureContext, serverName, insecure } = this.#options;
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const to = unixSocket && existsSync(unixSocket) ? { path: unixSocket } : { port: Number(url.port) || defaultPort(url) };
    if (url.protocol !== 'https:') return { socket: connectPlain({ host, ...to }), established: 'connect' };
    const isAddress = /^[\d.]+$|:/.test(host);
    const socket = connectTls({
      host,
      ...to,
      ALPNProtocols: ['http/1.1'],
      ...(secureContext && { secureContext }),
      ...(serverName ? { servername: serverName } : !isAddress && { servername: host }),
      ...(insecure && { rejectUnauthorized: false }),
      ...(this.#session && { session: this.#session }),
    });
    socket.on('session', (session) => {
      this.#session = session;
    });
    return { socket, established: 'secureConnect' };
  }
}

const closed = (): Error => failure('the client is closed', 'ECONNABORTED');

const defaultPort = (url: URL): number => (url.protocol === 'https:' ? 443 : 80);

function give(connection: Connection, job: Job): void {
  job.connection = connection;
  connection.send(job.request, job.handler);
}
