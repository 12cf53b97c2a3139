/** W11, O2: watches that nobody reads, over HTTP/1.1 and HTTP/2, while others write and one reads. */

import { open, requestBytes } from '../../../scripts/bench/connection.ts';
import { getRequest, postRequest, readAll, sendAll, unreading, unreadStreams } from './clients.ts';
import type { FloodedServer } from './server.ts';

const COLLECTION = '/api/v1/namespaces/default/configmaps';

export interface UnreadLoad {
  /** Connections, one watch each. */
  readonly sockets: number;
  readonly sessions: number;
  readonly streamsPerSession: number;
  readonly events: number;
  readonly eventBytes: number;
  /** Watches differ in their selectors, so that they share no bytes. */
  readonly distinct?: boolean;
}

export interface UnreadOutcome {
  readonly rssMb: { readonly before: number; readonly most: number; readonly after: number };
  /** From an event's write to the reader's having it, in order. */
  readonly delaysMs: readonly number[];
  readonly codes: ReadonlyMap<number, number>;
  /** Open at the end, all of which should have been cut off. */
  readonly stillOpen: number;
  /** Of those looked at: what each was shown, as revisions. */
  readonly shown: readonly (readonly number[])[];
  readonly firstRevision: number;
  readonly writingMs: number;
}

const object = (name: string, bytes: number): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { a: 'b' } },
    data: { x: 'x'.repeat(bytes), at: String(performance.now()) },
  });

export async function runUnreadWatches(server: FloodedServer, load: UnreadLoad): Promise<UnreadOutcome> {
  const { credentials } = server;
  const before = server.rssMb();
  let most = before;
  const sampling = setInterval(() => {
    most = Math.max(most, server.rssMb());
  }, 50);
  const path = (i: number): string =>
    `/api/v1/configmaps?watch=true${load.distinct ? `&labelSelector=a!%3Dn${i}` : ''}&resourceVersion=${from}`;
  const from = await newest(server);
  const sockets = [];
  for (let i = 0; i < load.sockets; i++) sockets.push((await unreading(credentials, getRequest(path(i))))!);
  const sessions = [];
  for (let i = 0; i < load.sessions; i++) sessions.push(await unreadStreams(credentials, load.streamsPerSession, path(i)));
  const reader = await readingWatch(server, path(-1));
  const start = performance.now();
  const codes = await sendAll(credentials, 8, load.events, (i) => postRequest(COLLECTION, object(`o-${i}`, load.eventBytes)));
  const writingMs = performance.now() - start;
  await until(() => reader.delays.length >= load.events, 30_000);
  await until(async () => (await openWatches(server)) <= 1, 10_000);
  const stillOpen = (await openWatches(server)) - 1;
  const looked = [...sockets.slice(0, 2), ...sessions.slice(0, 1).flatMap(({ streams }) => streams.slice(0, 2))];
  const shown: number[][] = [];
  for (const stream of looked) {
    const text = await readAll(stream);
    shown.push([...text.matchAll(/"resourceVersion":"(\d+)"/g)].map(([, revision]) => Number(revision)));
  }
  for (const socket of sockets) socket.destroy();
  for (const { session } of sessions) session.destroy();
  reader.close();
  await until(async () => (await openWatches(server)) === 0, 10_000);
  await server.figures(true);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await server.figures(true);
  clearInterval(sampling);
  return {
    rssMb: { before, most, after: server.rssMb() },
    delaysMs: reader.delays,
    codes,
    stillOpen,
    shown,
    firstRevision: from,
    writingMs,
  };
}

async function newest(server: FloodedServer): Promise<number> {
  const connection = await open(server.credentials);
  let text = '';
  connection.onBytes = (bytes) => {
    text += bytes.toString('latin1');
  };
  await connection.send(requestBytes('GET', `${COLLECTION}?limit=1`));
  connection.close();
  return Number(/"metadata":\{"resourceVersion":"(\d+)"/.exec(text)?.[1]);
}

/** How many watches of objects there are, as the server counts them. */
export async function openWatches(server: FloodedServer): Promise<number> {
  const connection = await open(server.credentials);
  let text = '';
  connection.onBytes = (bytes) => {
    text += bytes.toString('latin1');
  };
  await connection.send(requestBytes('GET', '/metrics'));
  connection.close();
  return Number(/apiserver_longrunning_requests\{verb="WATCH"[^}]*resource="configmaps"[^}]*\} (\d+)/.exec(text)?.[1] ?? 0);
}

async function readingWatch(server: FloodedServer, path: string): Promise<{ delays: number[]; close(): void }> {
  const connection = await open(server.credentials);
  const delays: number[] = [];
  let rest = '';
  connection.onBytes = (bytes) => {
    const now = performance.now();
    const text = rest + bytes.toString('latin1');
    for (const [, at] of text.matchAll(/"at":"([\d.]+)"/g)) delays.push(now - Number(at));
    rest = text.slice(Math.max(0, text.lastIndexOf('\n')));
    if (rest.includes('"at":"')) rest = rest.slice(rest.lastIndexOf('"at":"') + 6);
  };
  connection.send(requestBytes('GET', path)).catch(() => undefined);
  return { delays, close: () => connection.close() };
}

export async function until(condition: () => boolean | Promise<boolean>, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    if (await condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}
