/**
 * One chaos run: a cluster of real processes in a temporary directory, traffic and watchers, faults meanwhile; then quiet, and a verdict.
 * Whatever happens, every process is stopped; the directory is kept when something was violated.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from '../../cluster/cluster.ts';
import { layoutOf } from '../../cluster/layout.ts';
import { startCluster } from '../../cluster/start-cluster.ts';
import type { Client } from '../../machinery/client/client.ts';
import { createClient } from '../../machinery/client/connect.ts';
import { configmaps, deployments, namespaces, pods, replicasets } from '../../machinery/client/resource-type.ts';
import { seededRandom } from '../../machinery/process/random.ts';
import { disorder, errorLines, gaps, lostWrites, orphans, type State, stuckTerminating, unfinished, unseenWrites } from './checks.ts';
import { chooseProcesses, drawFaults, type Fault, type FaultsDone, injectFaults } from './faults.ts';
import { listFacts, sleep, startWatcher, type Watched, type Watcher, type Write } from './history.ts';
import { writesWhileIdle } from './idle.ts';
import { tooManyPods } from './pod-bound.ts';
import { operate, writeConfigMaps } from './traffic.ts';

export interface ChaosOptions {
  readonly seconds: number;
  readonly seed: number;
  readonly nodes: number;
  /** Processes that faults may hit; empty: all. */
  readonly only: readonly string[];
  /** Instead of faults drawn from the seed; the traffic ends with them. */
  readonly faults?: readonly Fault[];
  /** Keep the data directory and the histories even when all is well. */
  readonly keep?: boolean;
  readonly tell: (line: string) => void;
}

export interface Check {
  readonly name: string;
  /** How much was looked at. */
  readonly judged: string;
  readonly violations: readonly string[];
}

export interface Verdict {
  readonly seed: number;
  readonly ok: boolean;
  readonly checks: readonly Check[];
  readonly figures: Readonly<Record<string, number>>;
  /** Data directory and histories, when they were kept. */
  readonly kept?: string;
}

const WRITERS = 3;
/** Of each resource: two that must agree with the end and so with each other. */
const WATCHERS = 2;
const WATCHED = [configmaps, deployments, replicasets, pods] as const;
const CONVERGE_MS = 90_000;
const CATCH_UP_MS = 15_000;

interface Traffic {
  readonly writes: readonly Write[];
  readonly acts: Readonly<Record<string, number>>;
  readonly faults: FaultsDone;
  /** Requests that the server refused though they were right. */
  readonly refused: readonly string[];
}

export async function runChaos(options: ChaosOptions): Promise<Verdict> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flyball-chaos-'));
  options.tell(`data in ${dataDir}`);
  let kept = true;
  const cluster = await startCluster({ dataDir, nodes: options.nodes, built: true });
  const connect = (): Client => createClient({ kubeconfig: cluster.kubeconfig, userAgent: 'chaos/1.0' });
  const clients = Array.from({ length: WRITERS + 2 }, connect);
  const [client, watching, ...writing] = clients as [Client, Client, ...Client[]];
  const watchers: Watcher[] = [];
  try {
    for (let i = 0; i < WATCHERS; i++) watchers.push(...(await Promise.all(WATCHED.map((type) => startWatcher(watching, type)))));
    const traffic = await breakThings(cluster, { client, writing }, options);
    options.tell('faults are over, waiting for all to settle');
    const watched = watchers.map((watcher) => watcher.watched);
    const end = await lookAtTheEnd(client, watched, options.tell);
    const alive = await endedBy(cluster);
    await Promise.all(watchers.map((watcher) => watcher.stop()));
    await cluster.stopAll();
    const logs = (await cluster.processes()).flatMap(({ name }) => errorLines(name, readFileSync(layoutOf(dataDir).logOf(name), 'utf8')));
    const checks = judge({ traffic, watched, end, logs, alive });
    const ok = checks.every(({ violations }) => violations.length === 0);
    kept = !ok || options.keep === true;
    if (kept) keepHistories(dataDir, { options, traffic, watched, end });
    const { acts, faults, writes } = traffic;
    const figures = { ...acts, faults: faults.done.length, 'writes acknowledged': acknowledged(writes), 'ms to settle': end.settleMs };
    return { seed: options.seed, ok, checks, figures, ...(kept && { kept: dataDir }) };
  } finally {
    await Promise.all(watchers.map((watcher) => watcher.stop()));
    await Promise.all(clients.map((each) => each.close()));
    await cluster.stopAll();
    if (!kept) rmSync(dataDir, { recursive: true, force: true });
  }
}

const acknowledged = (writes: readonly Write[]): number => writes.filter(({ revision }) => revision !== undefined).length;

async function breakThings(
  cluster: Cluster,
  { client, writing }: { client: Client; writing: readonly Client[] },
  { seed, seconds, only, faults, tell }: ChaosOptions,
): Promise<Traffic> {
  const names = (await cluster.processes()).map(({ name }) => name);
  const drawn = faults ?? drawFaults(seededRandom(seed), chooseProcesses(names, only));
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), seconds * 1000);
  const writes: Write[] = [];
  const acts: Record<string, number> = {};
  const refused: string[] = [];
  const count = (what: string): void => {
    acts[what] = (acts[what] ?? 0) + 1;
  };
  // a stream of its own: what users do must not depend on how many faults fit into the time
  const operating = operate({ client, random: seededRandom(seed + 1), signal: stop.signal, count }).catch((error: unknown) => {
    refused.push(String(error));
  });
  const writers = writing.map((each, i) => writeConfigMaps(each, i, stop.signal, writes));
  const done = await injectFaults(cluster, drawn, stop.signal, tell);
  clearTimeout(timer);
  stop.abort();
  await Promise.all([operating, ...writers]);
  return { writes, acts, faults: done, refused };
}

interface End {
  readonly settleMs: number;
  readonly state: State;
  /** By watcher: what it should know. */
  readonly finals: readonly Final[];
  readonly idle: readonly string[];
  /** Why nothing could be looked at: the rest is empty then and proves nothing. */
  readonly unanswered?: string;
}

/** Waits until all has settled and looks at what there is then. An API server that answers no more is a finding, not the end of the verdict. */
async function lookAtTheEnd(client: Client, watched: readonly Watched[], tell: (line: string) => void): Promise<End> {
  const since = performance.now();
  try {
    const state = await converge(client);
    const settleMs = Math.round(performance.now() - since);
    const finals = await catchUp(client, watched);
    tell('looking for writes while nobody asks for anything');
    return { settleMs, state, finals, idle: await writesWhileIdle(client) };
  } catch (error) {
    const state: State = { deployments: [], replicasets: [], pods: [], namespaces: [] };
    const settleMs = Math.round(performance.now() - since);
    return { settleMs, state, finals: [], idle: [], unanswered: `the API server did not answer in the end: ${error}` };
  }
}

async function stateOf(client: Client): Promise<State> {
  const [deployment, replicaset, pod, namespace] = await Promise.all([
    listFacts(client, deployments),
    listFacts(client, replicasets),
    listFacts(client, pods),
    listFacts(client, namespaces),
  ]);
  return { deployments: deployment, replicasets: replicaset, pods: pod, namespaces: namespace };
}

/** The state in which nothing is left to do, or the one at which waiting was given up. */
async function converge(client: Client): Promise<State> {
  const end = performance.now() + CONVERGE_MS;
  for (;;) {
    const state = await stateOf(client);
    const open = unfinished(state).length + orphans(state).length + stuckTerminating(state).length;
    if (open === 0 || performance.now() > end) return state;
    await sleep(250);
  }
}

type Final = Awaited<ReturnType<typeof listFacts>>;

/** What each watcher should know in the end; gives them a moment to hear of it. */
async function catchUp(client: Client, watched: readonly Watched[]): Promise<readonly Final[]> {
  const end = performance.now() + CATCH_UP_MS;
  for (;;) {
    const lists = await Promise.all(WATCHED.map((type) => listFacts(client, type)));
    const finals = watched.map((_, i) => lists[i % WATCHED.length]!);
    if (performance.now() > end || watched.every((each, i) => gaps(each, finals[i]!).length === 0)) return finals;
    await sleep(250);
  }
}

async function endedBy(cluster: Cluster): Promise<string[]> {
  const dead = (await cluster.processes()).filter(({ state }) => state !== 'ready');
  return dead.map(({ name, state, ended }) => `${name} is ${state} in the end${ended ? ` (${ended})` : ''}`);
}

interface Evidence {
  readonly traffic: Traffic;
  readonly watched: readonly Watched[];
  readonly end: End;
  readonly logs: readonly string[];
  readonly alive: readonly string[];
}

function judge({ traffic, watched, end, logs, alive }: Evidence): Check[] {
  const { writes, faults, refused } = traffic;
  const { state, finals, idle, unanswered } = end;
  const events = watched.reduce((sum, each) => sum + each.events.length, 0);
  const resumes = watched.reduce((sum, each) => sum + each.resumes, 0);
  const [, deployment, replicaset, pod] = watched as [Watched, Watched, Watched, Watched];
  const ofConfigMaps = watched.filter(({ resource }) => resource === 'configmaps');
  const check = (name: string, judged: string, violations: readonly string[]): Check => ({ name, judged, violations });
  // needs the API server, and must not pass for want of it
  const inTheEnd = (name: string, judged: string, violations: () => readonly string[]): Check =>
    check(name, judged, unanswered === undefined ? violations() : [unanswered]);
  return [
    inTheEnd('acknowledged writes lost', `${acknowledged(writes)} writes`, () => lostWrites(writes, finals[0]!)),
    check(
      'acknowledged writes not seen',
      `${ofConfigMaps.length} watchers`,
      ofConfigMaps.flatMap((each) => unseenWrites(writes, each)),
    ),
    check('watch duplicates, reorders, errors', `${events} events, ${resumes} resumes`, watched.flatMap(disorder)),
    inTheEnd('watch gaps', `${watched.length} watchers`, () => watched.flatMap((each, i) => gaps(each, finals[i]!))),
    check(
      'more pods than allowed',
      `${pod.events.length} pod events`,
      tooManyPods({ deployments: deployment, replicasets: replicaset, pods: pod }),
    ),
    inTheEnd('not complete in the end', `${state.deployments.length} deployments`, () => unfinished(state)),
    inTheEnd('orphans', `${state.pods.length} pods, ${state.replicasets.length} replicasets`, () => orphans(state)),
    inTheEnd('stuck terminating', 'the same', () => stuckTerminating(state)),
    check('processes ended by themselves', `${faults.done.length} faults`, [...faults.failures, ...alive]),
    check('right requests refused', 'all traffic', refused),
    check('unexpected lines in logs', 'all logs', logs),
    inTheEnd('writes while idle', 'all resources but leases', () => idle),
  ];
}

function keepHistories(dataDir: string, histories: object): void {
  const directory = join(dataDir, 'histories');
  mkdirSync(directory, { recursive: true });
  for (const [name, history] of Object.entries(histories))
    writeFileSync(join(directory, `${name}.json`), `${JSON.stringify(history, null, 1)}\n`);
}
