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
  const connect = connector(config);
  const common = { connect, pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS, keepAliveMaxTimeout: KEEP_ALIVE_MS };
  const requests = new Pool(origin, {
    ...common,
    connections: CONNECTIONS,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
  });
  const streams = new Pool(origin, { ...common, headersTimeout: 0, bodyTimeout: 0 });
  const identity = identityHeaders(config, clock);
  const options = (request: TransportRequest): Dispatcher.DispatchOptions => ({
    path: prefix + request.path,
    method: request.method as Dispatcher.HttpMethod,
    headers: { ...identity(), ...request.headers },
    body: request.body ?? null,
    reset: false, // undici closes the connection after a DELETE that has a body (our preconditions), which costs both sides a handshake
  });
  return {
    server: config.server,
    request: (request) => whole(requests, options(request), request.signal, config.server),
    stream: (request) => streamed(streams, options(request), request.signal, config.server),
    close: async () => {
      await Promise.all([requests.destroy(), streams.destroy()]);
    },
  };
}

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

/** Ties a signal to a request that may not have a connection yet. */
function abortable(signal: AbortSignal | undefined): { start(controller: Dispatcher.DispatchController): void; end(): void } {
  let current: Dispatcher.DispatchController | undefined;
  const onAbort = (): void => current?.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    start: (controller) => {
      current = controller;
      if (signal?.aborted) onAbort();
    },
    end: () => signal?.removeEventListener('abort', onAbort),
  };
}

function whole(pool: Pool, options: Dispatcher.DispatchOptions, signal: AbortSignal | undefined, server: string): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const abort = abortable(signal);
    let code = 0;
    let headers: RawResponse['headers'] = {};
    const chunks: Buffer[] = [];
    pool.dispatch(options, {
      onRequestStart: (controller) => abort.start(controller),
      onResponseStart: (_controller, statusCode, responseHeaders) => {
        code = statusCode;
        headers = responseHeaders;
      },
      onResponseData: (_controller, chunk) => {
        chunks.push(chunk);
      },
      onResponseEnd: () => {
        abort.end();
        resolve({ code, headers, body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) });
      },
      onResponseError: (_controller, error) => {
        abort.end();
        reject(signal?.aborted ? signal.reason : new ConnectionError(server, error));
      },
    });
  });
}

function streamed(
  pool: Pool,
  options: Dispatcher.DispatchOptions,
  signal: AbortSignal | undefined,
  server: string,
): Promise<StreamResponse> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const abort = abortable(signal);
    let queue: ByteQueue | undefined;
    pool.dispatch(options, {
      onRequestStart: (controller) => abort.start(controller),
      onResponseStart: (controller, code, headers) => {
        if (code < 200) return;
        queue = new ByteQueue(controller);
        resolve({ code, headers, body: queue });
      },
      onResponseData: (_controller, chunk) => queue?.push(chunk),
      onResponseEnd: () => {
        abort.end();
        queue?.end();
      },
      onResponseError: (_controller, error) => {
        abort.end();
        const failure = signal?.aborted ? signal.reason : new ConnectionError(server, error);
        if (queue) queue.fail(failure);
        else reject(failure);
      },
    });
  });
}
