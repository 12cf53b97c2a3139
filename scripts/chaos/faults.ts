/**
 * What is done to the processes of a cluster: a list of faults drawn from a seed, and carrying them out one after the other.
 * The list does not depend on time: the same seed does the same to the same processes in the same order. How far a run gets does depend on the machine.
 * Invariant: each fault ends with every process it touched running again.
 */
import type { Cluster } from '../../cluster/cluster.ts';
import type { Random } from '../../machinery/process/random.ts';
import { sleep } from './history.ts';

export interface Fault {
  /** `kill`: SIGKILL. `freeze`: SIGSTOP, then SIGCONT. `freeze-kill`: SIGKILL to what is frozen. */
  readonly kind: 'kill' | 'freeze' | 'freeze-kill';
  /** All at the same moment; what must be started again is started in this order. */
  readonly processes: readonly string[];
  /** Quiet before it. */
  readonly afterMs: number;
  /** How long they stay dead or frozen. */
  readonly holdMs: number;
  /** The first of them is hit again so long after it has begun to start. */
  readonly whileStarting?: { readonly kind: 'kill' | 'freeze'; readonly afterMs: number };
}

const START_MS = 60_000;
const FREEZE_START_MS = 500;

/** Endless; draws nothing ahead. */
export function* drawFaults(random: Random, processes: readonly string[]): Generator<Fault, never> {
  for (;;) {
    const count = 1 + Math.floor(random.next() * random.next() * processes.length);
    const chosen = processes
      .map((name) => ({ name, at: random.next() }))
      .sort((a, b) => a.at - b.at)
      .slice(0, count)
      .map(({ name }) => name);
    const draw = random.next();
    const kind = draw < 0.55 ? 'kill' : draw < 0.85 ? 'freeze' : 'freeze-kill';
    const again = random.next() < 0.3;
    const whileStarting = { kind: random.next() < 0.6 ? ('kill' as const) : ('freeze' as const), afterMs: random.integer(700) };
    yield {
      kind,
      processes: chosen,
      afterMs: 100 + random.integer(1400),
      holdMs: random.integer(2500),
      ...(again && kind !== 'freeze' && { whileStarting }),
    };
  }
}

export function describeFault({ kind, processes, holdMs, whileStarting }: Fault): string {
  const again = whileStarting ? `, ${whileStarting.kind} ${processes[0]} again ${whileStarting.afterMs} ms into its start` : '';
  return `${kind} ${processes.join(' ')} for ${holdMs} ms${again}`;
}

/** `wanted` as in `--only scheduler,node-1,kubelet`: a process, a node, or all kubelets. Throws for what matches nothing. */
export function chooseProcesses(all: readonly string[], wanted: readonly string[]): readonly string[] {
  if (wanted.length === 0) return all;
  const chosen = wanted.flatMap((want) => {
    const found = all.filter((name) => name === want || name === `kubelet-${want}` || name.startsWith(`${want}-`));
    if (found.length === 0) throw new Error(`--only: there is no process "${want}"; there are ${all.join(', ')}`);
    return found;
  });
  return all.filter((name) => chosen.includes(name));
}

export interface FaultsDone {
  readonly done: readonly Fault[];
  /** Processes that ended otherwise than by our SIGKILL, or did not become ready again. */
  readonly failures: readonly string[];
}

/** Until the list or the time ends; the fault in progress is carried to its end. */
export async function injectFaults(
  cluster: Cluster,
  faults: Iterable<Fault>,
  signal: AbortSignal,
  tell: (line: string) => void,
): Promise<FaultsDone> {
  const done: Fault[] = [];
  const failures: string[] = [];
  for (const fault of faults) {
    await sleep(fault.afterMs, signal);
    if (signal.aborted) break;
    tell(describeFault(fault));
    done.push(fault);
    try {
      failures.push(...(await carryOut(cluster, fault)));
    } catch (error) {
      // a process that is not there to be killed has ended by itself
      failures.push(error instanceof Error ? error.message : String(error));
    }
    failures.push(...(await startDead(cluster)));
  }
  return { done, failures };
}

async function carryOut(cluster: Cluster, fault: Fault): Promise<string[]> {
  const { processes } = fault;
  const all = (act: (name: string) => Promise<void>): Promise<unknown> => Promise.all(processes.map(act));
  if (fault.kind !== 'kill') await all((name) => cluster.pause(name));
  if (fault.kind === 'kill') await all((name) => cluster.kill(name));
  await sleep(fault.holdMs);
  if (fault.kind === 'freeze') {
    await all((name) => cluster.resume(name));
    return [];
  }
  if (fault.kind === 'freeze-kill') await all((name) => cluster.kill(name));
  const starting = processes.map((name) => start(cluster, name));
  if (fault.whileStarting) starting.push(hitWhileStarting(cluster, processes[0]!, fault.whileStarting));
  return (await Promise.all(starting)).filter((failure) => failure !== undefined);
}

async function hitWhileStarting(
  cluster: Cluster,
  name: string,
  { kind, afterMs }: NonNullable<Fault['whileStarting']>,
): Promise<string | undefined> {
  await sleep(afterMs);
  if (kind === 'kill') {
    await cluster.kill(name);
    return start(cluster, name);
  }
  await cluster.pause(name);
  await sleep(FREEZE_START_MS);
  await cluster.resume(name);
  return undefined;
}

/** What ended by itself is told once and started, so that the run can go on. */
async function startDead(cluster: Cluster): Promise<string[]> {
  const dead = (await cluster.processes()).filter(({ state }) => state === 'dead');
  const again = await Promise.all(dead.map(({ name }) => start(cluster, name)));
  return [...dead.map(({ name, ended }) => `${name} ended by itself (${ended})`), ...again.filter((failure) => failure !== undefined)];
}

/** The reason when it did not become ready, except that it was killed on the way. */
async function start(cluster: Cluster, name: string): Promise<string | undefined> {
  const late = new AbortController();
  const tooLate = sleep(START_MS, late.signal).then(() => {
    if (!late.signal.aborted) throw new Error(`${name} was not ready ${START_MS / 1000} s after its start`);
  });
  try {
    await Promise.race([cluster.start(name), tooLate]);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    return message.includes('(killed by SIGKILL)') ? undefined : message;
  } finally {
    late.abort();
  }
}
