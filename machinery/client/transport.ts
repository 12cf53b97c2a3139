/**
 * Sends requests over undici connection pools: keep-alive, TLS with a client certificate, a Unix socket while the server is on this machine.
 * Watches have a pool of their own, so that they never take a connection a write waits for.
 *
 * Invariant: an answer is handed out whole or not at all, except through `stream`, whose reader slows the server down instead of filling memory.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
import buildConnector from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { type Clock, systemClock } from '../process/clock.ts';
import type { AnswerHandler, HttpRequest } from './answer.ts';
import { Background } from './background.ts';
import { ByteQueue } from './byte-queue.ts';
import type { RawResponse } from './client.ts';
import { ConnectionError } from './errors.ts';
import type { ClientConfig } from './kubeconfig.ts';

export interface TransportRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly background?: boolean | undefined;
}

export interface StreamResponse {
  readonly code: number;
  readonly headers: RawResponse['headers'];
  readonly body: AsyncIterable<Buffer>;
}

export interface Transport {
  readonly server: string;
  request(request: TransportRequest): Promise<RawResponse>;
  stream(request: TransportRequest): Promise<StreamResponse>;
  close(): Promise<void>;
}

/** Enough for the workers of a controller process; more requests wait for a free one. */
const CONNECTIONS = 32;
const CONNECT_TIMEOUT_MS = 5_000;
/** A little more than the server's own deadline of 60 s. */
const ANSWER_TIMEOUT_MS = 75_000;
/** Less than the 90 s after which servers close an idle connection. */
const KEEP_ALIVE_MS = 60_000;
const TOKEN_FILE_MS = 60_000;

export function createTransport(config: ClientConfig, clock: Clock = systemClock): Transport {
  const { origin, pathname } = new URL(config.server);
  const prefix = pathname.replace(/\/+$/, '');
  const common = { connect: connector(config), pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS, keepAliveMaxTimeout: KEEP_ALIVE_MS };
  const requests = new Pool(origin, {
    ...common,
    connections: CONNECTIONS,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
  });
  const streams = new Pool(origin, { ...common, headersTimeout: 0, bodyTimeout: 0 });
  const background = new Background(clock, ({ request, handler, signal }) => dispatch(requests, request, handler, signal));
  const send: Send = (request, handler, signal) => {
    if (request.background) background.add({ request, handler, signal });
    else dispatch(requests, request, background.urgent(handler), signal);
  };
  const identity = identityHeaders(config, clock);
  const sent = ({ method, path, headers, body, background }: TransportRequest): HttpRequest => ({
    path: prefix + path,
    method,
    headers: { ...identity(), ...headers },
    body,
    background,
  });
  return {
    server: config.server,
    request: (request) => whole(send, sent(request), request.signal, config.server),
    stream: (request) => streamed((...args) => dispatch(streams, ...args), sent(request), request.signal, config.server),
    close: async () => {
      for (const { handler } of background.close()) handler.onError(new Error('the client is closed'));
      await Promise.all([requests.destroy(), streams.destroy()]);
    },
  };
}

type Send = (request: HttpRequest, handler: AnswerHandler, signal: AbortSignal | undefined) => void;

/** Chooses at each connection: the socket file may appear after us, and outlives a killed server. */
function connector(config: ClientConfig): ReturnType<typeof buildConnector> {
  const isTls = config.server.startsWith('https:');
  const tls = {
    timeout: CONNECT_TIMEOUT_MS,
    ...(isTls && { secureContext: secureContextOf(config) }),
    ...(config.tlsServerName && { servername: config.tlsServerName }),
    ...(config.insecureSkipTlsVerify && { rejectUnauthorized: false }),
  };
  const network = buildConnector(tls);
  const { unixSocket } = config;
  if (!unixSocket) return network;
  const local = buildConnector({ ...tls, socketPath: unixSocket });
  return (options, callback) => (existsSync(unixSocket) ? local : network)(options, callback);
}

/** A signal that aborts ends the request, also one that has no connection yet. */
function dispatch(pool: Pool, { method, path, headers, body }: HttpRequest, handler: AnswerHandler, signal: AbortSignal | undefined): void {
  let current: Dispatcher.DispatchController | undefined;
  const onAbort = (): void => current?.abort(signal?.reason);
  const over = (): void => signal?.removeEventListener('abort', onAbort);
  signal?.addEventListener('abort', onAbort, { once: true });
  // reset: undici closes the connection after a DELETE that has a body (our preconditions), which costs both sides a handshake
  const options = { path, method: method as Dispatcher.HttpMethod, headers, body: body ?? null, reset: false };
  pool.dispatch(options, {
    onRequestStart: (controller) => {
      current = controller;
      if (signal?.aborted) onAbort();
    },
    onResponseStart: (controller, code, itsHeaders) => {
      if (code >= 200) handler.onHead(code, itsHeaders, controller);
    },
    onResponseData: (_controller, chunk) => handler.onData(chunk),
    onResponseEnd: () => {
      over();
      handler.onEnd();
    },
    onResponseError: (_controller, error) => {
      over();
      handler.onError(error);
    },
  });
}

/** Made once: reading keys and certificates anew for each connection would be the dearest part of it. */
const secureContextOf = ({ ca, cert, key }: ClientConfig): SecureContext =>
  createSecureContext({ ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) });

function identityHeaders(config: ClientConfig, clock: Clock): () => Record<string, string | string[]> {
  const fixed: Record<string, string | string[]> = {};
  if (config.username) fixed['authorization'] = `Basic ${Buffer.from(`${config.username}:${config.password ?? ''}`).toString('base64')}`;
  if (config.token) fixed['authorization'] = `Bearer ${config.token}`;
  const as = config.impersonate;
  if (as) {
    fixed['impersonate-user'] = as.user;
    if (as.uid) fixed['impersonate-uid'] = as.uid;
    if (as.groups?.length) fixed['impersonate-group'] = [...as.groups];
    for (const [key, values] of Object.entries(as.extra ?? {})) fixed[`impersonate-extra-${encodeURIComponent(key)}`] = [...values];
  }
  const { tokenFile } = config;
  if (!tokenFile) return () => fixed;
  let readAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.monotonicMs() - readAtMs > TOKEN_FILE_MS) {
      fixed['authorization'] = `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`;
      readAtMs = clock.monotonicMs();
    }
    return fixed;
  };
}

function whole(send: Send, request: HttpRequest, signal: AbortSignal | undefined, server: string): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    let code = 0;
    let headers: RawResponse['headers'] = {};
    const chunks: Buffer[] = [];
    const handler = {
      onHead: (answered: number, itsHeaders: RawResponse['headers']) => {
        code = answered;
        headers = itsHeaders;
      },
      onData: (chunk: Buffer) => void chunks.push(chunk),
      onEnd: () => resolve({ code, headers, body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) }),
      onError: (error: unknown) => reject(signal?.aborted ? signal.reason : new ConnectionError(server, error)),
    };
    send(request, handler, signal);
  });
}

function streamed(send: Send, request: HttpRequest, signal: AbortSignal | undefined, server: string): Promise<StreamResponse> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    let queue: ByteQueue | undefined;
    const handler: AnswerHandler = {
      onHead: (code, headers, control) => {
        queue = new ByteQueue(control);
        resolve({ code, headers, body: queue });
      },
      onData: (chunk) => queue?.push(chunk),
      onEnd: () => queue?.end(),
      onError: (error) => {
        const cause = signal?.aborted ? signal.reason : new ConnectionError(server, error);
        if (queue) queue.fail(cause);
        else reject(cause);
      },
    };
    send(request, handler, signal);
  });
}
