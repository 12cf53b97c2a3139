/**
 * What one client may hold of the server: connections, headers, time. Mirrors apiserver `secure_serving.go` (timeouts, HTTP/2 settings) with Node's means.
 *
 * Invariant: a client that sends or reads slowly, or not at all, is cut off after a bounded time, whatever the protocol; connections that wait for
 * their next request outlive the pools of the usual clients, so that no request meets a closing connection.
 */
import type { Server as HttpServer } from 'node:http';
import { constants, type Http2SecureServer, type SecureServerOptions, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../machinery/process/clock.ts';
import type { RequestContext } from './context.ts';

export const MAX_HEADER_BYTES = 1024 * 1024 + 4096;
/** Streams may be open at once on one HTTP/2 connection; a client opens a second connection beyond. */
const MAX_STREAMS = 1000;
const WINDOW_BYTES = 256 * 1024;
const MAX_CONNECTIONS = 10_000;
const HANDSHAKE_MS = 10_000;
const HEADERS_MS = 32_000;
/** Go's clients keep idle connections for 90 seconds. */
const KEEP_ALIVE_MS = 120_000;
/** A body may come as slowly as its request may take, and this much longer: the answer (504) is sent by the deadline. */
const BODY_GRACE_MS = 5_000;
const CHECK_MS = 5_000;

export function connectionLimits(): SecureServerOptions {
  return {
    handshakeTimeout: HANDSHAKE_MS,
    maxSessionMemory: 100,
    settings: { maxConcurrentStreams: MAX_STREAMS, initialWindowSize: WINDOW_BYTES, maxHeaderListSize: MAX_HEADER_BYTES },
    ...({ maxHeaderSize: MAX_HEADER_BYTES } as object),
  };
}

interface Http1Limits {
  keepAliveTimeout: number;
  headersTimeout: number;
  requestTimeout: number;
  maxHeaderSize: number;
  connectionsCheckingInterval: number;
}

/** The connections of a server, at its end. */
export interface OpenConnections {
  /** Ends those on which nothing is asked. HTTP/2 clients are told to ask nothing more. */
  endIdle(): void;
  /** Ends all: a client that keeps one must not keep the server. */
  end(): void;
}

/** To be called before the server listens. */
export function limitConnections(server: Http2SecureServer, requestTimeoutMs: number, clock: Clock): OpenConnections {
  Object.assign(server as unknown as Http1Limits, {
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: Math.min(HEADERS_MS, requestTimeoutMs),
    requestTimeout: requestTimeoutMs + BODY_GRACE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    connectionsCheckingInterval: Math.min(CHECK_MS, requestTimeoutMs),
  } satisfies Http1Limits);
  server.maxConnections = MAX_CONNECTIONS;
  server.on('sessionError', () => undefined);
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    closeWhenIdle(session, clock);
  });
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return {
    endIdle: () => {
      (server as unknown as Partial<HttpServer>).closeIdleConnections?.();
      for (const session of sessions) if (!session.closed) session.close();
    },
    end: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

/** An HTTP/2 connection on which nothing is asked or answered goes, as an HTTP/1.1 one does. */
function closeWhenIdle(session: ServerHttp2Session, clock: Clock): void {
  let open = 0;
  let cancel = (): void => undefined;
  const wait = (): void => {
    cancel = clock.setTimer(KEEP_ALIVE_MS, () => session.close(), { unref: true });
  };
  wait();
  session.once('close', () => cancel());
  session.on('stream', (stream: ServerHttp2Stream) => {
    if (open++ === 0) cancel();
    stream.once('close', () => {
      if (--open === 0 && !session.closed) wait();
    });
  });
}

/** As cutOff, once the answer is written. An HTTP/2 response says it has finished only when its stream is closed: the stream is asked. */
export function cutOffAfterAnswer(context: RequestContext): void {
  const { stream } = context.reply.raw as unknown as { stream?: ServerHttp2Stream };
  // all that is written has been taken: nothing is left to wait for
  if (stream !== undefined) stream.once('finish', () => stream.close());
  else context.reply.raw.once('finish', () => cutOff(context));
}

/** A caller without a name gets its answer and no more of an HTTP/2 connection: opening streams and dropping them must not be free (upstream's UnauthenticatedHTTP2DOSMitigation). */
export function endSessionAfterAnswer(context: RequestContext): void {
  const { session } = (context.reply.raw as unknown as { stream?: ServerHttp2Stream }).stream ?? {};
  if (session === undefined) return;
  context.reply.raw.once('close', () => {
    if (!session.closed && !session.destroyed) session.close();
  });
}

/** Gives up a client that neither sends the rest of its request nor reads its answer. */
export function cutOff(context: RequestContext): void {
  const raw = context.reply.raw as unknown as { stream?: ServerHttp2Stream; socket?: { destroy(): void } | null };
  if (raw.stream !== undefined) resetStream(raw.stream);
  else raw.socket?.destroy();
}

/** Without a code a stream would wait until its client has taken what is pending, which is what it does not do. The code is that of Go's aborted handlers. */
export function resetStream(stream: ServerHttp2Stream): void {
  stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}
