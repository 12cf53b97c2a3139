/**
 * The response as a sink for a stream of frames: what is pending is counted, so that a client that does not read can be cut.
 *
 * Over HTTP/1.1 a chunk of the stream is framed here, once for all the watchers that get the same bytes, and written to the socket as one piece:
 * with a thousand watchers, Node's own three writes per chunk are most of what an event costs.
 */
import type { ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../machinery/process/clock.ts';
import type { WatchSink } from '../watch/form.ts';
import type { RequestContext } from './context.ts';
import { resetStream } from './limits.ts';

export function streamSink(context: RequestContext, clock: Clock): WatchSink {
  const response = context.reply.raw as unknown as ServerResponse;
  let pendingBytes = 0;
  let waiting: (() => void)[] = [];
  const gone = (): boolean => response.destroyed || response.writableEnded;
  const written = (bytes: number): void => {
    pendingBytes -= bytes;
    if (pendingBytes > 0 || waiting.length === 0) return;
    const callbacks = waiting;
    waiting = [];
    if (!gone()) for (const callback of callbacks) callback();
  };
  return {
    write: (chunk) => {
      if (gone() || chunk.length === 0) return;
      pendingBytes += chunk.length;
      const done = (): void => written(chunk.length);
      const socket = chunkedSocket(response);
      if (socket === undefined) response.write(chunk, done);
      else socket.write(framed(chunk), done);
    },
    get pendingBytes() {
      return pendingBytes;
    },
    onDrain: (callback) => {
      if (pendingBytes === 0) clock.setTimer(0, callback);
      else waiting.push(callback);
    },
    end: () => {
      if (!response.writableEnded) response.end();
    },
    destroy: () => {
      const { stream } = response as unknown as { stream?: ServerHttp2Stream };
      if (stream !== undefined) resetStream(stream);
      else response.destroy();
    },
  };
}

/** The socket of an HTTP/1.1 response that is sent in chunks, once its head and all before it are on their way. */
function chunkedSocket(response: ServerResponse): Socket | undefined {
  const { socket, chunkedEncoding, outputSize } = response as ServerResponse & { readonly outputSize?: number };
  return chunkedEncoding && response.headersSent && outputSize === 0 && socket !== null ? socket : undefined;
}

let last: { readonly chunk: Buffer; readonly framed: Buffer } | undefined;

/** Watchers of one group are given the same chunk one after the other. */
function framed(chunk: Buffer): Buffer {
  if (last?.chunk !== chunk) {
    last = { chunk, framed: Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]) };
  }
  return last.framed;
}
