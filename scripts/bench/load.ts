/**
 * The load generator, a process of its own: `node --import tsx scripts/bench/load.ts`, told over IPC what to do, answers with what it counted.
 * Kinds of load are named in `LOADS`: each makes the n-th request of a client.
 */
import { type Connection, open, requestBytes, type Target } from './connection.ts';

export interface Order {
  readonly target: Target;
  readonly load: keyof typeof LOADS | 'watch' | 'event';
  readonly clients: number;
  /** Operations before counting begins: a compiler needs them, not time. For watches: milliseconds. */
  readonly warmUp: number;
  readonly durationMs: number;
  /** Names of what is made begin with it. */
  readonly run: string;
  /** How many objects there are already, for loads that read or change them. */
  readonly objects: number;
}

export interface Counted {
  readonly operations: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly megabytesPerSecond: number;
}

/** What loads read and change is apart from what others make meanwhile. */
const MADE = '/api/v1/namespaces/default';
const SEED = '/api/v1/namespaces/seed';
const SPEC = { schedulerName: 'nobody', containers: [{ name: 'web', image: 'registry.example/web:1' }] };
const podBody = (name: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app: 'bench' } }, spec: SPEC });

/** What a kubelet says of a pod that runs. */
const statusPatch = (n: number): string =>
  JSON.stringify({
    status: {
      phase: 'Running',
      podIP: `10.0.${(n >> 8) & 255}.${n & 255}`,
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: new Date(1_700_000_000_000 + n * 1000).toISOString().replace('.000', ''),
      })),
    },
  });

export const podName = (run: string, n: number): string => `p-${run}-${String(n).padStart(6, '0')}`;

type MakeRequest = (order: Order, n: number) => Buffer;

/** `n` counts over all clients. Bodies that do not differ are made once. */
const once = (make: () => Buffer): MakeRequest => {
  let bytes: Buffer | undefined;
  return () => {
    bytes ??= make();
    return bytes;
  };
};

export const LOADS = {
  create: (order, n) => requestBytes('POST', `${MADE}/pods`, podBody(podName(order.run, n))),
  get: (order, n) => requestBytes('GET', `${SEED}/pods/${podName('seed', n % order.objects)}`),
  patchStatus: (order, n) =>
    requestBytes(
      'PATCH',
      `${SEED}/pods/${podName('seed', n % order.objects)}/status`,
      statusPatch(n),
      'application/strategic-merge-patch+json',
    ),
  list: once(() => requestBytes('GET', `${SEED}/pods`)),
  list500: once(() => requestBytes('GET', `${SEED}/pods?limit=500`)),
  seed: (_order, n) => requestBytes('POST', `${SEED}/pods`, podBody(podName('seed', n))),
} satisfies Record<string, MakeRequest>;

/** What the generator says: that counting begins, then what was counted. */
export type Said = { readonly type: 'warm' } | ({ readonly type: 'counted' } & Counted) | { readonly type: 'failed'; readonly why: string };

const say = (said: Said): Promise<void> => new Promise((resolve) => process.send!(said, undefined, {}, () => resolve()));
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const EVENT = Buffer.from('{"type":"');

const openAll = (order: Order): Promise<Connection[]> => Promise.all(Array.from({ length: order.clients }, () => open(order.target)));

function watchAll(connections: readonly Connection[]): void {
  const request = requestBytes('GET', `${MADE}/pods?watch=1&timeoutSeconds=600&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`);
  for (const connection of connections) void connection.send(request).catch(() => undefined);
}

/** Counts what is sent to so many watchers of the pods that others make meanwhile: the first counts events, and so tells how large they are. */
async function watch(order: Order): Promise<Counted> {
  const connections = await openAll(order);
  let events = 0;
  connections[0]!.onBytes = (bytes) => {
    for (let at = bytes.indexOf(EVENT); at >= 0; at = bytes.indexOf(EVENT, at + EVENT.length)) events++;
  };
  watchAll(connections);
  const received = (): number => connections.reduce((sum, connection) => sum + connection.received, 0);
  await sleep(order.warmUp);
  await say({ type: 'warm' });
  const before = { all: received(), first: connections[0]!.received, events, at: performance.now() };
  await sleep(order.durationMs);
  const seconds = (performance.now() - before.at) / 1000;
  const bytes = received() - before.all;
  const bytesPerEvent = (connections[0]!.received - before.first) / (events - before.events);
  const operations = Math.round(bytes / bytesPerEvent);
  return { operations, perSecond: operations / seconds, p50: 0, p99: 0, megabytesPerSecond: bytes / 1e6 / seconds };
}

/** How long after a pod was asked for each of so many watchers knows of it; now and then one. */
async function event(order: Order): Promise<Counted> {
  const connections = await openAll(order);
  const late: number[] = [];
  let asked = 0;
  for (const connection of connections)
    connection.onBytes = (bytes) => {
      if (asked > 0 && bytes.includes(EVENT)) late.push(performance.now() - asked);
    };
  watchAll(connections);
  const maker = await open(order.target);
  await sleep(order.warmUp);
  await say({ type: 'warm' });
  const end = performance.now() + order.durationMs;
  for (let n = 0; performance.now() < end; n++) {
    asked = performance.now();
    await maker.send(LOADS.create(order, n));
    await sleep(200);
  }
  return counted(late, order.durationMs / 1000, 0);
}

function counted(latencies: number[], seconds: number, megabytes: number): Counted {
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0;
  const operations = latencies.length;
  return { operations, perSecond: operations / seconds, p50: at(0.5), p99: at(0.99), megabytesPerSecond: megabytes / seconds };
}

async function run(order: Order): Promise<Counted> {
  const connections = await openAll(order);
  const make = LOADS[order.load as keyof typeof LOADS];
  const received = (): number => connections.reduce((sum, connection) => sum + connection.received, 0);
  const latencies: number[] = [];
  let next = 0;
  let start = Number.POSITIVE_INFINITY;
  let before = 0;
  const begin = (): void => {
    before = received();
    start = performance.now();
    void say({ type: 'warm' });
  };
  const serve = async (connection: Connection): Promise<void> => {
    for (let now = performance.now(); !(now >= start + order.durationMs); ) {
      if (order.load === 'seed' && next >= order.objects) return;
      if (next === order.warmUp) begin();
      const code = await connection.send(make(order, next++));
      if (code >= 300) throw new Error(`${order.load} was answered ${code}`);
      const then = now;
      now = performance.now();
      if (then >= start) latencies.push(now - then);
    }
  };
  await Promise.all(connections.map(serve));
  return counted(latencies, (performance.now() - start) / 1000, (received() - before) / 1e6);
}

const KINDS: Partial<Record<Order['load'], (order: Order) => Promise<Counted>>> = { watch, event };

process.once('message', (order: Order) => {
  (KINDS[order.load] ?? run)(order)
    .then(
      (result) => say({ type: 'counted', ...result }),
      (error: Error) => say({ type: 'failed', why: error.message }),
    )
    .finally(() => process.exit(0));
});
