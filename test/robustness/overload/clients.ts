/** Clients that behave badly, below the level of any HTTP library, and one that writes well. */
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2';
import { connect, type TLSSocket } from 'node:tls';
import { type Connection, open } from '../../../scripts/bench/connection.ts';
import type { Credentials } from './server.ts';

/** Somebody without rights of an administrator, who is not let through when the server is full. */
export const PLAIN = 'Impersonate-User: ann\r\nImpersonate-Group: devs\r\n';

export const getRequest = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

export function postRequest(path: string, body: string, headers = ''): string {
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A connection that sends what it is given and never reads. Undefined when the server does not take it. */
export async function unreading(credentials: Credentials, sent: string): Promise<TLSSocket | undefined> {
  const socket = connect({ ...credentials, servername: 'localhost', ALPNProtocols: ['http/1.1'] });
  socket.on('error', () => undefined);
  const opened = await Promise.race([once(socket, 'secureConnect').then(() => true), once(socket, 'close').then(() => false)]).catch(
    () => false,
  );
  if (!opened) return undefined;
  socket.pause();
  if (sent !== '') socket.write(sent);
  return socket;
}

export interface UnreadStreams {
  readonly session: ClientHttp2Session;
  readonly streams: readonly ClientHttp2Stream[];
}

/** Streams of one HTTP/2 connection that are answered and never read. */
export async function unreadStreams(credentials: Credentials, count: number, path: string): Promise<UnreadStreams> {
  const { host, port, ...certificates } = credentials;
  const session = connectHttp2(`https://${host}:${port}`, { ...certificates, servername: 'localhost' });
  session.on('error', () => undefined);
  await once(session, 'connect');
  const streams = Array.from({ length: count }, () => {
    const stream = session.request({ ':path': path });
    stream.on('error', () => undefined);
    return stream;
  });
  await Promise.all(streams.map((stream) => once(stream, 'response')));
  return { session, streams };
}

/** All that has arrived when it is read at last; ends with the connection. */
export async function readAll(stream: TLSSocket | ClientHttp2Stream, ms = 60_000): Promise<string> {
  const chunks: Buffer[] = [];
  if (stream.destroyed) return '';
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.resume();
  await once(stream, 'close', { signal: AbortSignal.timeout(ms) });
  return Buffer.concat(chunks).toString('utf8');
}

/** Sends requests over some connections, each made and sent when the one before it is answered; the codes counted. */
export async function sendAll(
  credentials: Credentials,
  connections: number,
  count: number,
  request: (i: number) => string,
): Promise<Map<number, number>> {
  const codes = new Map<number, number>();
  let next = 0;
  const work = async (connection: Connection): Promise<void> => {
    while (next < count) {
      const code = await connection.send(Buffer.from(request(next++)));
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, async () => work(await open(credentials))));
  return codes;
}
