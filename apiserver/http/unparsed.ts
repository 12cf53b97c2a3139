/**
 * Answers to what is no HTTP request that Node's parser takes: written to the bare socket, which is then closed. A method that does not exist is
 * answered as a method that is not allowed, because that is what it is.
 */
import type { IncomingMessage } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { BadTarget } from './request-info.ts';

/** The answer to a method that does not exist, in whichever version of HTTP it came. */
export const NOT_ALLOWED = `${JSON.stringify({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'the server does not allow this method on the requested resource',
  reason: 'MethodNotAllowed',
  details: {},
  code: 405,
})}\n`;

interface ParseError extends Error {
  readonly code?: string;
  /** The parser's own words. */
  readonly reason?: string;
  readonly rawPacket?: Buffer;
}

const TEXT = 'text/plain; charset=utf-8';
/** A word that could be a method, and what follows it. */
const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ /;

/** Go's net/http texts, by the parser's code and words. */
const REFUSALS: readonly (readonly [code: string, reason: RegExp, status: string, body: string])[] = [
  ['HPE_HEADER_OVERFLOW', /^/, '431 Request Header Fields Too Large', '431 Request Header Fields Too Large'],
  ['HPE_INVALID_TRANSFER_ENCODING', /^Request has invalid/, '501 Not Implemented', 'Unsupported transfer encoding'],
  [
    'HPE_INVALID_VERSION',
    /^Invalid HTTP version$/,
    '505 HTTP Version Not Supported',
    '505 HTTP Version Not Supported: unsupported protocol version',
  ],
  ['HPE_INVALID_HEADER_TOKEN', /^Invalid header token$/, '400 Bad Request', '400 Bad Request: invalid header name'],
  ['HPE_INVALID_HEADER_TOKEN', /^Invalid header value char$/, '400 Bad Request', '400 Bad Request: invalid header value'],
];

export function answerUnparsed(error: ParseError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    socket.destroy();
    return;
  }
  if (error.code === 'HPE_INVALID_METHOD' && METHOD.test(error.rawPacket?.toString('latin1') ?? '')) {
    refuseMethod(socket);
    return;
  }
  const known = REFUSALS.find(([code, reason]) => code === error.code && reason.test(error.reason ?? ''));
  if (known === undefined) write(socket, '400 Bad Request', TEXT, '400 Bad Request');
  else write(socket, known[2], TEXT, known[3]);
}

function refuseMethod(socket: Duplex): void {
  write(socket, '405 Method Not Allowed', 'application/json', NOT_ALLOWED);
}

/** CONNECT asks for a tunnel: this is no proxy. */
export function refuseTunnels(server: Http2SecureServer): void {
  server.on('connect' as never, (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    if (socket.writable) refuseMethod(socket);
  });
}

/** HTTP/1.1 wants one Host and no more: two of them may be read differently on the way. Throws BadTarget. */
export function requireHost(request: IncomingMessage): void {
  if (request.httpVersion !== '1.1') return;
  let hosts = 0;
  for (let i = 0; i < request.rawHeaders.length; i += 2) if (request.rawHeaders[i]!.toLowerCase() === 'host') hosts++;
  if (hosts === 0) throw new BadTarget('missing required Host header');
  if (hosts > 1) throw new BadTarget('too many Host headers');
}

function write(socket: Duplex, status: string, type: string, body: string): void {
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
