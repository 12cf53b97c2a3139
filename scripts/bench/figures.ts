/** The figures of `npm run bench`: each measures one thing on a real cluster of processes and says what it should reach. */
import { readFileSync } from 'node:fs';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Client } from '../../machinery/client/client.ts';
import { createClient } from '../../machinery/client/connect.ts';
import { deployments, pods } from '../../machinery/client/resource-type.ts';
import type { Calibration } from './calibration.ts';

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the README promises; `at most` or `at least` by the sense of the figure. Some figures only inform. */
  readonly target?: number;
  readonly better: 'lower' | 'higher';
  /** The figure beside what the machine can do at best, when that says something. */
  readonly ratio?: { readonly to: keyof Calibration; readonly value: number };
}

export interface Bench {
  readonly cluster: Cluster;
  readonly client: Client;
  readonly readyMs: number;
}

/** Everything measured runs as built: loading sources would take longer than starting does. */
export async function startBench(dataDir: string): Promise<Bench> {
  const built = new URL('../../dist/cluster/start-cluster.js', import.meta.url);
  const { startCluster } = (await import(built.href)) as typeof import('../../cluster/start-cluster.ts');
  const start = performance.now();
  const cluster = await startCluster({ dataDir, built: true });
  const readyMs = performance.now() - start;
  return { cluster, readyMs, client: createClient({ kubeconfig: cluster.kubeconfig, userAgent: 'bench/1.0' }) };
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** From sending one Deployment to all its pods Ready, as its status says. */
export async function applyReplicas(client: Client, replicas: number): Promise<Figure> {
  const name = `bench-${replicas}`;
  const labels = { app: name };
  const start = performance.now();
  await client.create(deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'registry.example/web:1' }] } },
    },
  });
  while (((await client.get(deployments, { namespace: 'default', name })).status?.readyReplicas ?? 0) < replicas) await sleep(20);
  const value = (performance.now() - start) / 1000;
  await client.delete(deployments, { namespace: 'default', name });
  while ((await client.list(pods, { namespace: 'default', labelSelector: `app=${name}` })).items.length > 0) await sleep(50);
  return { name: `apply of ${replicas} replicas to all Ready`, value: round(value), unit: 's', target: 2, better: 'lower' };
}

/** Until the compiler has seen the write path often enough; the first thousand creates of a process cost several times what later ones do. */
const WARM_UP_MS = 5000;

/**
 * Pods created by so many clients at once, each write durable before its answer, counted after a warm-up. The pods ask for a scheduler that does not
 * exist.
 */
export async function createPods(cluster: Cluster, calibration: Calibration, clients: number, durationMs = 5000): Promise<Figure> {
  const connections = Array.from({ length: 4 }, () => createClient({ kubeconfig: cluster.kubeconfig, userAgent: 'bench/1.0' }));
  const spec = { schedulerName: 'nobody', containers: [{ name: 'web', image: 'registry.example/web:1' }] };
  const start = performance.now() + WARM_UP_MS;
  const end = start + durationMs;
  let count = 0;
  await Promise.all(
    Array.from({ length: clients }, async (_, c) => {
      for (let i = 0; performance.now() < end; i++) {
        const metadata = { name: `p-${clients}-${c}-${i}`, namespace: 'default' };
        await connections[c % connections.length]!.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
        if (performance.now() > start) count++;
      }
    }),
  );
  const perSecond = (count * 1000) / (performance.now() - start);
  await connections[0]!.deleteCollection(pods, { namespace: 'default', fieldSelector: 'spec.schedulerName=nobody' });
  await Promise.all(connections.map((c) => c.close()));
  return {
    name: `durable Pod creates, ${clients} clients`,
    value: Math.round(perSecond),
    unit: '/s',
    ...(clients === 64 && { target: 2000 }),
    better: 'higher',
    ratio: { to: 'fdatasyncsPerSecond', value: round(perSecond / calibration.fdatasyncsPerSecond) },
  };
}

interface Usage {
  readonly rssMb: number;
  readonly cpuSeconds: number;
}

/** Linux only: resident memory and processor time of one process. */
function usageOf(pid: number): Usage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const TICKS_PER_SECOND = 100;
  return {
    rssMb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024,
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
  };
}

/** Memory and processor of all processes of a cluster that has nothing to do. */
export async function idle(cluster: Cluster, durationMs = 15_000): Promise<Figure[]> {
  const pids = (await cluster.processes()).flatMap((process) => process.pid ?? []);
  const sum = (): Usage => {
    const all = pids.map(usageOf);
    return { rssMb: all.reduce((s, u) => s + u.rssMb, 0), cpuSeconds: all.reduce((s, u) => s + u.cpuSeconds, 0) };
  };
  const before = sum();
  await sleep(durationMs);
  const after = sum();
  const percent = ((after.cpuSeconds - before.cpuSeconds) * 100_000) / durationMs;
  return [
    { name: `idle memory, ${pids.length} processes`, value: Math.round(after.rssMb), unit: 'MB RSS', target: 450, better: 'lower' },
    { name: `idle processor, ${pids.length} processes`, value: round(percent), unit: '% of a core', target: 2, better: 'lower' },
  ];
}

export const round = (value: number): number => Math.round(value * 100) / 100;
