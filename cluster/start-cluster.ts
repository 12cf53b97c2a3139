/**
 * Starts a whole cluster: the library entry, used by `flyball up`, the tests and anyone who wants a control plane inside a program.
 *
 *     const cluster = await startCluster({ dataDir: '/tmp/c', nodes: 3 });
 *     const client = createClient({ kubeconfig: cluster.kubeconfig, userAgent: 'mine' });
 *     await cluster.kill('scheduler');
 *     await cluster.stopAll();
 *
 * All processes start at once and find the API server by trying; certificates are made while they load their code.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Clock, systemClock } from '../machinery/process/clock.ts';
import { type Logger, silentLogger } from '../machinery/process/logger.ts';
import { type Random, systemRandom } from '../machinery/process/random.ts';
import { ChildRunner } from './child.ts';
import { Cluster, findProcess } from './cluster.ts';
import { findCode } from './code.ts';
import { type ComponentModule, planProcesses } from './components.ts';
import { serveControl } from './control.ts';
import { ensureCredentials } from './credentials.ts';
import { InProcessRunner } from './in-process.ts';
import { layoutOf } from './layout.ts';
import { endLeftovers } from './leftovers.ts';
import { groupNodes, type NodeGroup } from './node-groups.ts';
import { freePort, mustBeFree } from './port.ts';
import type { Runner } from './runner.ts';

export interface ClusterOptions {
  /** Store, certificates, kubeconfigs, logs. Made when missing; data in it survives a stop and start. */
  readonly dataDir: string;
  /** How many simulated nodes, named node-1 …, or their names. Default 3. */
  readonly nodes?: number | readonly string[];
  /** How many of them share a kubelet process. Default: up to 10 nodes have one each, more share one. */
  readonly nodesPerKubelet?: number;
  /** Default 0: any free port. */
  readonly securePort?: number;
  /** Default 127.0.0.1. */
  readonly bindAddress?: string;
  /** Everything inside this process instead of child processes. */
  readonly inProcess?: boolean;
  /** Further flags by component: `{ controllers: ['--node-monitor-grace-period=4s'] }`. */
  readonly flags?: Partial<Record<ComponentModule, readonly string[]>>;
  /** Components that are not started: they are listed as dead and can be started later. */
  readonly without?: readonly string[];
  /** Run the built files even when this code runs from sources. */
  readonly built?: boolean;
  /** How long everything may take to become ready. Default 60 s. */
  readonly readyTimeoutMs?: number;
  /** For components inside this process. */
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
}

const READY_MS = 60_000;

/** Settles when every process is ready. On failure nothing is left running. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const dataDir = resolve(options.dataDir);
  const layout = layoutOf(dataDir);
  const bindAddress = options.bindAddress ?? '127.0.0.1';
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const securePort = options.securePort || (await freePort(bindAddress));
  const host = bindAddress === '0.0.0.0' ? '127.0.0.1' : bindAddress;
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${securePort}`;
  const nodes = groupNodes(options.nodes ?? 3, options.nodesPerKubelet);
  const plans = planProcesses({ layout, bindAddress, securePort, nodeCount: sum(nodes) }, nodes, options.flags ?? {});
  const code = findCode(options.built);
  const clock = options.clock ?? systemClock;
  const runners: Runner[] = plans.map((plan) =>
    options.inProcess
      ? new InProcessRunner({ plan, code, clock, random: options.random ?? systemRandom, logger: options.logger ?? silentLogger })
      : new ChildRunner({ plan, command: [...plan.spec.nodeArguments, ...code.command(plan.spec.module)], layout, clock: systemClock }),
  );
  const without = new Set((options.without ?? []).map((name) => findProcess(runners, name)));
  const cluster = new Cluster({ dataDir, server, kubeconfig: layout.kubeconfig }, runners);
  const control = await serveControl(cluster);
  cluster.onStopped(() => control.close());
  try {
    await endLeftovers(layout, systemClock);
    // told here at once, not by an API server that has loaded its code while all others wait for it
    if (options.securePort && !without.has(runners[0]!)) await mustBeFree(bindAddress, options.securePort);
    const credentials = ensureCredentials(plans, { layout, server, bindAddress, clock });
    const ready = Promise.all([
      credentials,
      startAll(
        runners.filter((runner) => !without.has(runner)),
        credentials,
      ),
    ]);
    await inTime(ready, options.readyTimeoutMs ?? READY_MS, runners);
    return cluster;
  } catch (error) {
    await cluster.stopAll();
    throw error;
  }
}

const sum = (groups: readonly NodeGroup[]): number => groups.reduce((total, { count }) => total + count, 0);

async function startAll(runners: readonly Runner[], after: Promise<void>): Promise<void> {
  await Promise.all(runners.map((runner) => runner.start(after)));
}

async function inTime(starting: Promise<unknown>, ms: number, runners: readonly Runner[]): Promise<void> {
  const late = new AbortController();
  try {
    await Promise.race([
      starting,
      systemClock.sleep(ms, late.signal).then(() => {
        const names = runners.filter((runner) => runner.status().state === 'starting').map((runner) => runner.name);
        throw new Error(`not ready within ${ms / 1000} s: ${names.join(', ')}; their logs may tell why`);
      }),
    ]);
  } finally {
    late.abort(new Error('settled'));
  }
}
