/** Clients that connect, ask for something that lasts, and go: nothing of them may stay. */
import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:tls';
import { getRequest, postRequest, unreading } from './clients.ts';
import type { Credentials, FloodedServer } from './server.ts';
import { openWatches, until } from './unread-watches.ts';

export interface DisconnectOutcome {
  readonly heapMb: { readonly before: number; readonly after: number };
  readonly resources: { readonly before: number; readonly after: number };
  readonly openWatches: number;
}

const WATCH = '/api/v1/configmaps?watch=1';
const WAITING_LIST = '/api/v1/configmaps?resourceVersion=100000000&resourceVersionMatch=NotOlderThan';
const HALF_A_WRITE = postRequest('/api/v1/namespaces/default/configmaps', '{"metadata":{"name":"never-written"}}').slice(0, -5);
const PARALLEL = 20;
const STREAMS = 100;

/** `connections` over HTTP/1.1 that break off, and ten times as many streams over HTTP/2. */
export async function runDisconnects(server: FloodedServer, connections: number): Promise<DisconnectOutcome> {
  const round = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i += PARALLEL)
      await Promise.all(Array.from({ length: PARALLEL }, (_, n) => breakOff(server.credentials, i + n)));
    for (let i = 0; i < count * 10; i += STREAMS) await resetStreams(server.credentials, Math.min(STREAMS, count * 10 - i));
    await until(async () => (await openWatches(server)) === 0, 10_000);
  };
  await round(Math.ceil(connections / 10));
  const before = await server.figures(true);
  await round(connections);
  const after = await server.figures(true);
  return {
    heapMb: { before: before.heapMb, after: after.heapMb },
    resources: { before: before.resources, after: after.resources },
    openWatches: await openWatches(server),
  };
}

async function breakOff(credentials: Credentials, i: number): Promise<void> {
  if (i % 4 === 3) {
    connect({ ...credentials, servername: 'localhost' })
      .on('error', () => undefined)
      .once('secureConnect', function (this: { destroy(): void }) {
        this.destroy();
      });
    return;
  }
  const socket = await unreading(credentials, [getRequest(WATCH), getRequest(WAITING_LIST), HALF_A_WRITE][i % 4]!);
  if (socket === undefined) return;
  await new Promise((resolve) => setTimeout(resolve, 5));
  socket.destroy();
}

async function resetStreams(credentials: Credentials, count: number): Promise<void> {
  const { host, port, ...certificates } = credentials;
  const session: ClientHttp2Session = connectHttp2(`https://${host}:${port}`, { ...certificates, servername: 'localhost' });
  session.on('error', () => undefined);
  await once(session, 'connect');
  const streams = Array.from({ length: count }, (_, i) =>
    session.request({ ':path': i % 2 === 0 ? WATCH : WAITING_LIST }).on('error', () => undefined),
  );
  await once(streams[0]!, 'response');
  session.destroy();
}
