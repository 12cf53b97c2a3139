/**
 * Sends requests over pools of connections: keep-alive, TLS with a client certificate, a Unix socket while the server is on this machine.
 * Watches have a pool of their own, so that they never take a connection a write waits for.
 *
 * Invariant: an answer is handed out whole or not at all, except through `stream`, whose reader slows the server down instead of filling memory.
 */
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import { type Clock, systemClock } from '../process/clock.ts';
import { ByteQueue } from './byte-queue.ts';
import type { RawResponse } from './client.ts';
import { ConnectionError } from './errors.ts';
import type { AnswerHandler, HttpRequest } from './http/connection.ts';
import { Pool } from './http/pool.ts';
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
  const url = new URL(config.server);
  const prefix = url.pathname.replace(/\/+$/, '');
  const common = {
    url,
    unixSocket: config.unixSocket,
    ...(url.protocol === 'https:' && { secureContext: secureContextOf(config) }),
    serverName: config.tlsServerName,
    insecure: config.insecureSkipTlsVerify,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    idleTimeoutMs: KEEP_ALIVE_MS,
    clock,
  };
  const requests = new Pool({ ...common, connections: CONNECTIONS, answerTimeoutMs: ANSWER_TIMEOUT_MS });
  const streams = new Pool({ ...common, connections: Number.POSITIVE_INFINITY, answerTimeoutMs: 0 });
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
    request: (request) => whole(requests, sent(request), request.signal, config.server),
    stream: (request) => streamed(streams, sent(request), request.signal, config.server),
    close: async () => {
      requests.close();
      streams.close();
    },
  };
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

function whole(pool: Pool, request: HttpRequest, signal: AbortSignal | undefined, server: string): Promise<RawResponse> {
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
    pool.dispatch(request, handler, signal);
  });
}

function streamed(pool: Pool, request: HttpRequest, signal: AbortSignal | undefined, server: string): Promise<StreamResponse> {
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
    pool.dispatch(request, handler, signal);
  });
}
