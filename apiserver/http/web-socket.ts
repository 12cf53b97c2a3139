/**
 * Watches over WebSocket: one message per event, the same forms and limits as over chunked HTTP. Mirrors apiserver `handlers/watch.go` HandleWS.
 *
 * A request that asks to change the protocol first goes the way of every request (authentication, authorization, options, errors as plain HTTP
 * answers on the same socket); only a watch then takes the socket over. What is no watch is answered as if nothing had been asked.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { WatchSink } from '../watch/form.ts';
import type { RequestContext } from './context.ts';

interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** Clients of a watch have nothing to say. */
const MAX_MESSAGE_BYTES = 4096;
/** A browser cannot set headers: it sends its token as a protocol of this name. */
const TOKEN_PROTOCOL = 'base64url.bearer.authorization.k8s.io.';

const upgrades = new WeakMap<object, Upgrade>();
const acceptor = new WebSocketServer({
  noServer: true,
  maxPayload: MAX_MESSAGE_BYTES,
  perMessageDeflate: false,
  clientTracking: false,
  handleProtocols: (protocols) => [...protocols].find((protocol) => !protocol.startsWith(TOKEN_PROTOCOL)) ?? false,
});

/** Sends requests that ask for another protocol the way of all others. The connection serves no second request. */
export function routeUpgrades(server: Http2SecureServer, route: (request: IncomingMessage, response: ServerResponse) => void): void {
  server.on('upgrade' as never, (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as never);
    response.once('finish', () => socket.end());
    upgrades.set(request, { socket, head });
    route(request, response);
  });
}

export function wantsWebSocket(context: RequestContext): boolean {
  return upgrades.has(context.raw) && (context.headers.upgrade ?? '').toLowerCase() === 'websocket';
}

/** The token of a browser: base64url without padding, beside at least one protocol that is meant. */
export function protocolToken(header: string | undefined): string | undefined {
  const protocols = (header ?? '').split(',').map((protocol) => protocol.trim());
  const sent = protocols.filter((protocol) => protocol.startsWith(TOKEN_PROTOCOL));
  if (sent.length !== 1 || protocols.length < 2) return undefined;
  const token = Buffer.from(sent[0]!.slice(TOKEN_PROTOCOL.length), 'base64url').toString('utf8');
  return token === '' ? undefined : token;
}

/** Takes the connection over. Undefined when the handshake is refused; the refusal has then been sent. */
export function webSocketSink(context: RequestContext, split: (chunk: Buffer) => MessageData[]): WatchSink | undefined {
  const { socket, head } = upgrades.get(context.raw)!;
  const response = context.reply.raw as unknown as ServerResponse;
  response.removeAllListeners('finish');
  response.detachSocket(socket as never);
  // Whoever waits for the end of the response waits for the end of the connection.
  socket.once('close', () => response.emit('close'));
  let accepted: WebSocket | undefined;
  acceptor.handleUpgrade(context.raw as IncomingMessage, socket, head, (webSocket) => {
    accepted = webSocket;
  });
  return accepted === undefined ? undefined : sinkOf(accepted, socket, split);
}

type MessageData = string | Buffer;

function sinkOf(webSocket: WebSocket, socket: Duplex, split: (chunk: Buffer) => MessageData[]): WatchSink {
  let pendingBytes = 0;
  let drained: (() => void)[] = [];
  const sent = (size: number): void => {
    pendingBytes -= size;
    if (pendingBytes > 0) return;
    const callbacks = drained;
    drained = [];
    for (const callback of callbacks) callback();
  };
  webSocket.on('error', () => webSocket.terminate());
  return {
    write: (chunk) => {
      for (const message of split(chunk)) {
        const size = message.length;
        pendingBytes += size;
        webSocket.send(message, { binary: typeof message !== 'string' }, () => sent(size));
      }
    },
    get pendingBytes() {
      return pendingBytes;
    },
    onDrain: (callback) => {
      drained.push(callback);
    },
    end: () => {
      webSocket.close(1000);
      socket.end();
    },
    destroy: () => webSocket.terminate(),
  };
}

/** Lines of JSON: one text each. */
export function splitLines(chunk: Buffer): string[] {
  const lines: string[] = [];
  for (let start = 0; start < chunk.length; ) {
    const newline = chunk.indexOf(0x0a, start);
    const end = newline < 0 ? chunk.length : newline + 1;
    lines.push(chunk.toString('utf8', start, end));
    start = end;
  }
  return lines;
}

/** Frames with a big-endian length before them: the bytes of each, without the length. */
export function splitLengths(chunk: Buffer): Buffer[] {
  const messages: Buffer[] = [];
  for (let start = 0; start < chunk.length; ) {
    const end = start + 4 + chunk.readUInt32BE(start);
    messages.push(chunk.subarray(start + 4, end));
    start = end;
  }
  return messages;
}
