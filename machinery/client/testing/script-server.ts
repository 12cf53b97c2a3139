/** A tiny HTTP server that answers as a test tells it: for situations a real API server cannot be brought into. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ScriptServer {
  readonly url: string;
  readonly port: number;
  /** Path with query of each request, in order. */
  readonly asked: string[];
  /** Closes the listener and every connection, as a killed server would. */
  kill(): Promise<void>;
}

export type Answer = (request: IncomingMessage, response: ServerResponse, url: URL) => void;

export async function scriptServer(answer: Answer, port = 0): Promise<ScriptServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response, new URL(request.url ?? '/', 'http://host'));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    asked,
    kill: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Watch events as the API server frames them. */
export const frame = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;

export const statusBody = (code: number, reason: string, message: string): string =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code });
