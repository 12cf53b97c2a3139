/** O1 to O3: clients of every bad kind at once, and whether those that must be served still are. */
import type { TLSSocket } from 'node:tls';
import { type Connection, open, requestBytes } from '../../../scripts/bench/connection.ts';
import { getRequest, PLAIN, postRequest, unreading } from './clients.ts';
import type { FloodedServer } from './server.ts';

const COLLECTION = '/api/v1/namespaces/default/configmaps';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';

export interface FloodLoad {
  readonly clients: number;
  readonly floodMs: number;
  /** Objects that there are, each of about `objectBytes`. */
  readonly objects: number;
  readonly objectBytes: number;
}

/** How long each took that must be served, and what it was answered. */
export interface Served {
  readonly ms: number[];
  readonly refused: number[];
}

export interface FloodOutcome {
  readonly connected: number;
  readonly codes: ReadonlyMap<number, number>;
  readonly leases: Served;
  readonly health: Served;
  readonly administrator: Served;
  readonly rssMb: { readonly before: number; readonly most: number; readonly after: number };
  readonly delayMaxMs: number;
  readonly delayP99Ms: number;
  /** Of GETs, before the flood and after. */
  readonly p99Ms: { readonly before: number; readonly after: number };
  readonly recoveryMs: number;
}

/** What a bad client sends once it is connected; it never reads. */
const BAD: readonly ((i: number) => string)[] = [
  // headers that do not end
  () => 'GET /livez HTTP/1.1\r\nHost: x\r\n',
  // a body that does not come
  (i) => postRequest(COLLECTION, body(`slow-${i}`, 100), PLAIN).slice(0, -50),
  // a large list
  () => getRequest('/api/v1/configmaps', PLAIN),
  () => getRequest('/api/v1/configmaps', `${PLAIN}Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n`),
  // many writes at once
  (i) => Array.from({ length: 10 }, (_, n) => postRequest(COLLECTION, body(`pipelined-${i}-${n}`, 100), PLAIN)).join(''),
];

const body = (name: string, bytes: number): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { x: 'x'.repeat(bytes) } });

export async function runFlood(server: FloodedServer, load: FloodLoad): Promise<FloodOutcome> {
  const { credentials } = server;
  await fill(server, load);
  const before = await p99Of(server, 200);
  const rssBefore = server.rssMb();
  let most = rssBefore;
  const sampling = setInterval(() => {
    most = Math.max(most, server.rssMb());
  }, 50);
  await server.figures();
  const over = new AbortController();
  const codes = new Map<number, number>();
  const held: TLSSocket[] = [];
  const watched = [
    keepLease(server, over.signal),
    probe(server, '/livez', PLAIN, over.signal),
    probe(server, COLLECTION_ONE, '', over.signal),
  ];
  let connected = 0;
  const bad = async (i: number): Promise<void> => {
    if (i % 10 >= BAD.length) return flood(server, i, codes, over.signal);
    const socket = await unreading(credentials, BAD[i % 10]!(i));
    if (socket === undefined) return;
    connected++;
    held.push(socket);
  };
  const loops: Promise<void>[] = [];
  for (let i = 0; i < load.clients; i += 50) {
    const some = Array.from({ length: Math.min(50, load.clients - i) }, (_, n) => bad(i + n).catch(() => undefined));
    loops.push(...some);
    await Promise.race([Promise.all(some), pause(100)]);
  }
  await pause(load.floodMs);
  const figures = await server.figures();
  over.abort();
  for (const socket of held) socket.destroy();
  const end = performance.now();
  await Promise.all(loops);
  const [leases, health, administrator] = (await Promise.all(watched)) as [Served, Served, Served];
  let after = await p99Of(server, 200);
  while (after > Math.max(before * 2, 20) && performance.now() < end + 20_000) after = await p99Of(server, 200);
  const recoveryMs = performance.now() - end;
  await server.figures(true);
  await pause(1_000);
  await server.figures(true);
  clearInterval(sampling);
  const { delayMaxMs, delayP99Ms } = figures;
  const rssMb = { before: rssBefore, most, after: server.rssMb() };
  return { connected, codes, leases, health, administrator, rssMb, delayMaxMs, delayP99Ms, p99Ms: { before, after }, recoveryMs };
}

const COLLECTION_ONE = `${COLLECTION}/kube-root-ca.crt`;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function fill(
  server: FloodedServer,
  { objects, objectBytes }: { readonly objects: number; readonly objectBytes: number },
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    const connection = await open(server.credentials);
    while (next < objects) await connection.send(Buffer.from(postRequest(COLLECTION, body(`filled-${next++}`, objectBytes))));
    connection.close();
  };
  await Promise.all(Array.from({ length: 16 }, work));
}

/** Asks as fast as it is answered, on a connection of its own, now and then a new one. */
async function flood({ credentials }: FloodedServer, i: number, codes: Map<number, number>, signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n++) {
    const connection = await open(credentials).catch(() => undefined);
    if (connection === undefined) {
      await pause(100);
      continue;
    }
    for (let k = 0; k < 20 && !signal.aborted; k++) {
      const request =
        k % 2 === 0 ? getRequest(`${COLLECTION}/filled-1`, PLAIN) : postRequest(COLLECTION, body(`flood-${i}-${n}-${k}`, 100), PLAIN);
      const code = await connection.send(Buffer.from(request)).catch(() => 0);
      codes.set(code, (codes.get(code) ?? 0) + 1);
      if (code === 0) break;
    }
    connection.close();
  }
}

/** A leader that renews five times a second, as somebody without rights of an administrator. */
async function keepLease(server: FloodedServer, signal: AbortSignal): Promise<Served> {
  const connection = await open(server.credentials);
  const lease = (at: number): string =>
    JSON.stringify({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'leader' },
      spec: { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: at },
    });
  await connection.send(Buffer.from(postRequest(LEASES, lease(0), PLAIN)));
  return repeat(connection, signal, (n) =>
    Buffer.from(
      postRequest(`${LEASES}/leader`, lease(n), PLAIN).replace('POST', 'PATCH').replace('application/json', 'application/merge-patch+json'),
    ),
  );
}

/** The same question five times a second. */
async function probe(server: FloodedServer, path: string, headers: string, signal: AbortSignal): Promise<Served> {
  return repeat(await open(server.credentials), signal, () => Buffer.from(getRequest(path, headers)));
}

async function repeat(connection: Connection, signal: AbortSignal, request: (n: number) => Buffer): Promise<Served> {
  const served: Served = { ms: [], refused: [] };
  for (let n = 1; !signal.aborted; n++) {
    const start = performance.now();
    const code = await connection.send(request(n)).catch(() => 0);
    served.ms.push(performance.now() - start);
    if (code !== 200 && code !== 404) served.refused.push(code);
    if (code === 0) break;
    await pause(200);
  }
  connection.close();
  return served;
}

async function p99Of(server: FloodedServer, count: number): Promise<number> {
  const connection = await open(server.credentials);
  const ms: number[] = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await connection.send(requestBytes('GET', COLLECTION_ONE));
    ms.push(performance.now() - start);
  }
  connection.close();
  return percentile(ms, 0.99);
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
