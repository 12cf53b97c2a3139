/**
 * The load generator, a process of its own: `node --import tsx scripts/bench/load.ts`, told over IPC what to do, answers with what it counted.
 * Kinds of load are named in `LOADS`: each makes the n-th request of a client.
 */
import { type Connection, open, requestBytes, type Target } from './connection.ts';

export interface Order {
  readonly target: Target;
  readonly load: keyof typeof LOADS | 'watch';
  readonly clients: number;
  readonly warmUpMs: number;
  readonly durationMs: number;
  /** Names of what is made begin with it. */
  readonly run: string;
  /** How many objects there are already, for loads that read or change them. */
  readonly objects: number;
}

export interface Counted {
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

/** Counts what is sent to so many watchers of the pods that others make meanwhile: the first counts events, and so tells how large they are. */
async function watch(order: Order): Promise<Counted> {
  const connections = await Promise.all(Array.from({ length: order.clients }, () => open(order.target)));
  const request = requestBytes('GET', `${MADE}/pods?watch=1&timeoutSeconds=600`);
  let events = 0;
  connections[0]!.onBytes = (bytes) => {
    for (let at = bytes.indexOf(EVENT); at >= 0; at = bytes.indexOf(EVENT, at + EVENT.length)) events++;
  };
  for (const connection of connections) void connection.send(request).catch(() => undefined);
  const received = (): number => connections.reduce((sum, connection) => sum + connection.received, 0);
  await new Promise((resolve) => setTimeout(resolve, order.warmUpMs));
  const before = { all: received(), first: connections[0]!.received, events, at: performance.now() };
  await new Promise((resolve) => setTimeout(resolve, order.durationMs));
  const seconds = (performance.now() - before.at) / 1000;
  const bytes = received() - before.all;
  const bytesPerEvent = (connections[0]!.received - before.first) / (events - before.events);
  for (const connection of connections) connection.close();
  return { perSecond: bytes / bytesPerEvent / seconds, p50: 0, p99: 0, megabytesPerSecond: bytes / 1e6 / seconds };
}

const EVENT = Buffer.from('{"type":"');

async function run(order: Order): Promise<Counted> {
  const connections = await Promise.all(Array.from({ length: order.clients }, () => open(order.target)));
  const start = performance.now() + order.warmUpMs;
  const end = start + order.durationMs;
  const latencies: number[] = [];
  let next = 0;
  const make = LOADS[order.load as keyof typeof LOADS];
  const serve = async (connection: Connection): Promise<void> => {
    for (let now = performance.now(); now < end; ) {
      if (order.load === 'seed' && next >= order.objects) return;
      const code = await connection.send(make(order, next++));
      if (code >= 300) throw new Error(`${order.load} was answered ${code}`);
      const then = now;
      now = performance.now();
      if (then >= start) latencies.push(now - then);
    }
  };
  const receivedBefore = new Promise<number>((resolve) => setTimeout(() => resolve(received()), order.warmUpMs));
  const received = (): number => connections.reduce((sum, connection) => sum + connection.received, 0);
  await Promise.all(connections.map(serve));
  const seconds = (performance.now() - start) / 1000;
  const megabytes = (received() - (await receivedBefore)) / 1e6;
  for (const connection of connections) connection.close();
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0;
  return { perSecond: latencies.length / seconds, p50: at(0.5), p99: at(0.99), megabytesPerSecond: megabytes / seconds };
}

process.once('message', (order: Order) => {
  (order.load === 'watch' ? watch(order) : run(order)).then(
    (counted) => process.send!(counted, () => process.exit(0)),
    (error: Error) => process.send!({ error: error.message }, () => process.exit(1)),
  );
});
