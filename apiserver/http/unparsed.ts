/**
 * Answers to what is no HTTP request that Node's parser takes: written to the bare socket, which is then closed. A method that does not exist is
 * answered as a method that is not allowed, because that is what it is.
 */
import type { Socket } from 'node:net';

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
}

export function answerUnparsed(error: ParseError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  if (error.code === 'HPE_INVALID_METHOD') write(socket, '405 Method Not Allowed', 'application/json', NOT_ALLOWED);
  else if (error.code === 'HPE_HEADER_OVERFLOW')
    write(socket, '431 Request Header Fields Too Large', 'text/plain; charset=utf-8', '431 Request Header Fields Too Large');
  else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroy();
  else write(socket, '400 Bad Request', 'text/plain; charset=utf-8', '400 Bad Request');
}

function write(socket: Socket, status: string, type: string, body: string): void {
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
