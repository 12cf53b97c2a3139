/**
 * `Expect: 100-continue`: the client waits for a word before it sends the body. Node says it by itself, but on a connection whose former answer has not quite
 * left it queues the word, and then puts the head of the next answer before it: bytes that no client can read.
 *
 * Invariant: the word is written before any byte of its answer, or not at all.
 */
import type { Http2SecureServer, Http2ServerRequest, Http2ServerResponse } from 'node:http2';

/** To be called before the server listens; `route` takes the request afterwards, as if nothing had been expected. */
export function answerExpectations(server: Http2SecureServer, route: (request: object, response: object) => void): void {
  server.on('checkContinue', (request: Http2ServerRequest, response: Http2ServerResponse) => {
    if (response.socket) response.writeContinue();
    // an answer of HTTP/1.1 gets the socket when the one before it is through; one that is made by then needs no more of its request
    else response.once('socket' as never, () => response.headersSent || response.writeContinue());
    route(request, response);
  });
}
