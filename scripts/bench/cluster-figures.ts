/** What a cluster of processes costs before anybody uses it, and how fast it carries out what it is asked for. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Deployment } from '../../machinery/api/types/apps.v1.ts';
import type { Client } from '../../machinery/client/client.ts';
import { createClient } from '../../machinery/client/connect.ts';
import { deployments, namespaces, nodes as nodeType, pods } from '../../machinery/client/resource-type.ts';
import { type Figure, round, sleep } from './figure.ts';
import { cpuBetween, sum, type Usage, usages } from './processes.ts';

/** Everything measured runs as built: loading sources would take longer than starting does. */
async function withCluster<T>(nodes: number, measure: (cluster: Cluster, readyMs: number) => Promise<T>): Promise<T> {
  const built = new URL('../../dist/cluster/start-cluster.js', import.meta.url);
  const { startCluster } = (await import(built.href)) as typeof import('../../cluster/start-cluster.ts');
  const dataDir = mkdtempSync(join(tmpdir(), 'flyball-bench-'));
  try {
    const start = performance.now();
    const cluster = await startCluster({ dataDir, built: true, nodes, readyTimeoutMs: 300_000 });
    try {
      return await measure(cluster, performance.now() - start);
    } finally {
      await cluster.stopAll();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const STARTS = 3;

/** The median of some starts from an empty directory, then the rest of the last one. */
export async function startAndIdle(idleMs = 15_000): Promise<Figure[]> {
  const times: number[] = [];
  for (let i = 1; i < STARTS; i++) times.push(await withCluster(3, async (_, readyMs) => readyMs));
  return withCluster(3, async (cluster, readyMs) => {
    times.push(readyMs);
    times.sort((a, b) => a - b);
    const median = round(times[Math.floor(times.length / 2)]! / 1000);
    const name = 'all 6 processes ready from an empty directory';
    return [{ name, value: median, unit: 's', target: 0.5, better: 'lower' }, ...(await idle(cluster, idleMs))];
  });
}

/** Memory and processor of all processes of a cluster that has nothing to do. */
async function idle(cluster: Cluster, durationMs: number): Promise<Figure[]> {
  await sleep(10_000); // what a start leaves to do is not idling
  const before = await usages(cluster);
  await sleep(durationMs);
  const after = await usages(cluster);
  const percent = ((sum(after, 'cpuSeconds') - sum(before, 'cpuSeconds')) * 100_000) / durationMs;
  const of = (what: 'rssMb' | 'pssMb'): string => after.map((usage) => `${usage.name} ${Math.round(usage[what])}`).join(', ');
  return [
    { name: 'idle memory', value: Math.round(sum(after, 'rssMb')), unit: 'MB RSS', target: 260, better: 'lower', beside: of('rssMb') },
    {
      name: 'idle memory, shared pages once',
      value: Math.round(sum(after, 'pssMb')),
      unit: 'MB PSS',
      target: 120,
      better: 'lower',
      beside: of('pssMb'),
    },
    { name: 'idle processor', value: round(percent), unit: '% of a core', target: 2, better: 'lower' },
  ];
}

export interface Size {
  readonly nodes: number;
  readonly replicas: number;
  /** Deployments that the replicas are spread over. */
  readonly deployments?: number;
  readonly targetSeconds?: number;
  /** Also how much memory the API server then has, and what it may have. */
  readonly targetMb?: number;
}

const NAMESPACE = 'bench';

/** From sending Deployments to all their pods Ready, as their statuses say; then from deleting them to no pod left. */
export function replicas(size: Size): Promise<Figure[]> {
  return withCluster(size.nodes, async (cluster) => {
    const client = createClient({ kubeconfig: cluster.kubeconfig, userAgent: 'bench/1.0' });
    try {
      await settled(client, cluster, size.nodes);
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE }, spec: {} });
      await sleep(500);
      return await createAndDelete(client, cluster, size);
    } finally {
      await client.close();
    }
  });
}

async function createAndDelete(client: Client, cluster: Cluster, size: Size): Promise<Figure[]> {
  const what = `${size.replicas} replicas on ${size.nodes} nodes`;
  const parts = size.deployments ?? 1;
  const names = Array.from({ length: parts }, (_, index) => `bench-${index}`);
  const before = await usages(cluster);
  const start = performance.now();
  await Promise.all(names.map((name) => client.create(deployments, deployment(name, size.replicas / parts))));
  await until(async () => {
    const { items } = await client.list(deployments, { namespace: NAMESPACE });
    return items.reduce((ready, { status }) => ready + (status?.readyReplicas ?? 0), 0) >= size.replicas;
  });
  const readySeconds = (performance.now() - start) / 1000;
  const between = await usages(cluster);
  const deleted = performance.now();
  await Promise.all(names.map((name) => client.delete(deployments, { namespace: NAMESPACE, name })));
  await until(async () => {
    const { items, metadata } = await client.list(pods, { namespace: NAMESPACE, limit: 1 });
    return items.length + (metadata.remainingItemCount ?? 0) === 0;
  });
  const goneSeconds = (performance.now() - deleted) / 1000;
  const after = await usages(cluster);
  const figure = (name: string, seconds: number, look: readonly [Usage[], Usage[]], target?: number): Figure => ({
    name,
    value: round(seconds),
    unit: 's',
    ...(target !== undefined && { target }),
    better: 'lower',
    beside: cpuBetween(...look),
  });
  const perSecond = Math.round(size.replicas / readySeconds);
  const server = Math.round(between.find(({ name }) => name === 'apiserver')?.rssMb ?? 0);
  return [
    figure(`${what}, all Ready`, readySeconds, [before, between], size.targetSeconds),
    { name: `${what}, scheduled and running`, value: perSecond, unit: 'pods/s', better: 'higher' },
    { name: `${what}, API server`, value: server, unit: 'MB RSS', ...(size.targetMb && { target: size.targetMb }), better: 'lower' },
    figure(`${what}, all gone`, goneSeconds, [between, after]),
  ];
}

function deployment(name: string, count: number): Deployment {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      replicas: count,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'registry.example/web:1' }] } },
    },
  };
}

/** All nodes are Ready and what their coming gave the others to do has been done: the processes use little for a second. */
async function settled(client: Client, cluster: Cluster, count: number): Promise<void> {
  await until(async () => {
    const { items } = await client.list(nodeType);
    return (
      items.filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')).length >= count
    );
  });
  const busy = 0.2 + count / 2000; // heartbeats go on
  let before = sum(await usages(cluster), 'cpuSeconds');
  for (let waited = 0; waited < 120; waited++) {
    await sleep(1000);
    const now = sum(await usages(cluster), 'cpuSeconds');
    if (now - before < busy) return;
    before = now;
  }
}

/** Asks more seldom the longer it takes: to within a hundredth, without being a load itself. */
async function until(done: () => Promise<boolean>): Promise<void> {
  const start = performance.now();
  while (!(await done())) await sleep(Math.min(500, Math.max(20, (performance.now() - start) / 100)));
}
