/**
 * One batch: a new store, eight clients that write and eight that watch, one fault after the other under their traffic, and the verdict over all of it.
 *
 * Invariant: what a cycle proves it proves under load: a cycle with fewer than `MIN_RATE` acknowledged writes a second before its fault is void.
 */
import { setMaxListeners } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Client } from '../../machinery/client/client.ts';
import { createClient } from '../../machinery/client/connect.ts';
import { readKubeconfig } from '../../machinery/client/kubeconfig.ts';
import { serviceaccounts } from '../../machinery/client/resource-type.ts';
import { seededRandom } from '../../machinery/process/random.ts';
import { sleep } from '../../scripts/chaos/history.ts';
import type { Fault } from './faults.ts';
import { History } from './history.ts';
import { recordsIn } from './journal.ts';
import { type Finding, judge } from './judge.ts';
import { keyOf, RecordedClient, type Target } from './recorded-client.ts';
import { type Reading, readJournal, readStore } from './revisions.ts';
import { Server, type Start } from './server.ts';
import { unexpectedLines } from './server-log.ts';
import { WATCHED, WatchClient } from './watch-traffic.ts';
import { bare, COLORS, NAMESPACES, Writer } from './write-traffic.ts';

export const WRITERS = 8;
export const MIN_RATE = 100;
const TRAFFIC_MS = 1_000;
const PATIENCE = 5;
const SETTLE_MS = 20_000;
/** guarantees: ready again with 10,000 objects; a busy machine gets some grace. */
const RESTART_MS = 30_000;

export interface BatchOptions {
  readonly bundle: string;
  readonly directory: string;
  readonly seed: number;
  readonly faults: readonly Fault[];
  readonly compactionMs?: number;
  /** Objects that are there and at rest, to make the store large. */
  readonly cold?: number;
  readonly mutants?: readonly string[];
  /** Seconds that traffic may take to reach its rate: the machine may be busy with other things. */
  readonly patience?: number;
  readonly tell: (line: string) => void;
}

export interface Cycle {
  readonly fault: string;
  readonly did: string;
  /** Acknowledged writes in a second before it. */
  readonly rate: number;
  readonly void: boolean;
  readonly restartMs?: number;
}

export interface BatchVerdict {
  readonly cycles: readonly Cycle[];
  readonly findings: readonly Finding[];
  readonly directory: string;
}

export async function runBatch(options: BatchOptions): Promise<BatchVerdict> {
  const batch = new Batch(options, await Server.make({ ...options }));
  try {
    return await batch.run();
  } finally {
    await batch.close();
  }
}

/** Below the directory of a batch. */
export const READINGS = 'readings';
export const HISTORIES = 'histories';

export function journalReading(directory: string): Reading {
  const revisions = readJournal(recordsIn(directory));
  const through = revisions.at(-1)?.revision ?? 1;
  return { revisions, through, atLeast: through, whole: false };
}

class Batch {
  readonly #options: BatchOptions;
  readonly #server: Server;
  readonly #history = new History();
  readonly #readings: Reading[] = [];
  readonly #cycles: Cycle[] = [];
  readonly #clients: Client[] = [];
  readonly #stopWriting = new AbortController();
  readonly #stopWatching = new AbortController();
  readonly #writers: Writer[] = [];
  readonly #watchers: WatchClient[] = [];
  readonly #failures: string[] = [];
  /** The process that runs was started with a fault in it. */
  #armed = false;
  #running: Promise<void>[] = [];

  constructor(options: BatchOptions, server: Server) {
    this.#options = options;
    this.#server = server;
    setMaxListeners(0, this.#stopWriting.signal, this.#stopWatching.signal); // all clients listen to them
  }

  async run(): Promise<BatchVerdict> {
    const { faults, seed } = this.#options;
    const random = seededRandom(seed);
    await this.#start(faults[0], random);
    await this.#makeCold();
    this.#beginTraffic();
    for (let i = 0; i < faults.length; i++) {
      if (!(await this.#cycle(faults[i]!, faults[i + 1], random))) break;
    }
    if (this.#server.alive) await this.#settle();
    await this.#endTraffic();
    await this.#stopServer();
    await this.#read();
    return this.#verdict();
  }

  /** Of a kind that nobody lists meanwhile. */
  async #makeCold(): Promise<void> {
    const { cold = 0 } = this.#options;
    const client = createClient({ kubeconfig: this.#server.kubeconfig, userAgent: 'cold/1.0' });
    const recorded = new RecordedClient('cold', client, this.#history);
    let made = 0;
    const make = async (): Promise<void> => {
      while (made < cold) {
        const metadata = { name: `cold-${made++}`, namespace: NAMESPACES[0] };
        await recorded.create(serviceaccounts, { ...bare(serviceaccounts), metadata });
      }
    };
    await Promise.all(Array.from({ length: 8 * WRITERS }, make));
    await client.close();
  }

  async close(): Promise<void> {
    this.#stopWriting.abort();
    this.#stopWatching.abort();
    await this.#server.close();
    await Promise.all(this.#running);
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  /** False when the server does not come back: the batch ends. */
  async #cycle(fault: Fault, next: Fault | undefined, random: ReturnType<typeof seededRandom>): Promise<boolean> {
    const struck = fault.start !== undefined && !this.#armed;
    // from before the traffic is measured: on a fast machine an armed fault strikes while it is
    const before = this.#history.operations.length;
    const rate = struck ? 0 : await this.#trafficRate();
    const did = struck ? 'struck before it was ready' : await fault.strike(this.#server, random, this.#options.directory);
    const cycle = { fault: fault.name, did, rate, void: !struck && (rate < MIN_RATE || did === 'not reached') };
    let restartMs: number | undefined;
    const answers = this.#history.operations.slice(before);
    if (fault.isTold && did.startsWith('ended') && !answers.some(({ status }) => status === 500))
      this.#failures.push(`${fault.name}: nobody was answered 500`);
    if (fault.lives && !this.#server.alive) this.#failures.push(`${fault.name}: the server ended by ${this.#server.end}`);
    const rearm = next?.start !== undefined && this.#server.alive;
    if (rearm) await this.#server.kill();
    if (!this.#server.alive) {
      await this.#read();
      const since = performance.now();
      if (!(await this.#start(next, random))) return false;
      restartMs = Math.round(performance.now() - since);
      if (restartMs > RESTART_MS) this.#failures.push(`${fault.name}: ready again after ${restartMs} ms`);
    }
    this.#cycles.push({ ...cycle, ...(restartMs !== undefined && { restartMs }) });
    this.#options.tell(
      `${fault.name}: ${did}, ${rate} writes/s before${cycle.void ? ' (void)' : ''}${restartMs === undefined ? '' : `, back in ${restartMs} ms`}`,
    );
    return true;
  }

  async #start(fault: Fault | undefined, random: ReturnType<typeof seededRandom>): Promise<boolean> {
    const start: Start = fault?.start?.(random, this.#server) ?? {};
    this.#armed = fault?.start !== undefined;
    try {
      await this.#server.start(start);
      return true;
    } catch (error) {
      // an armed fault may strike while clients come back, before the word that all is ready: the next process starts without
      if (fault?.start !== undefined && this.#server.end === 'SIGKILL') {
        await this.#read();
        return this.#start(undefined, random);
      }
      this.#failures.push(String(error));
      return false;
    }
  }

  /** Lets traffic run until it is enough to prove something, at most some seconds, and says how many writes a second were acknowledged last. */
  async #trafficRate(): Promise<number> {
    const acknowledged = (): number => this.#writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
    const { patience = PATIENCE } = this.#options;
    let rate = 0;
    for (let i = 0; i < patience && rate < MIN_RATE && this.#server.alive; i++) {
      const [before, since] = [acknowledged(), performance.now()];
      while (performance.now() < since + TRAFFIC_MS && this.#server.alive) await sleep(20);
      rate = Math.round(((acknowledged() - before) * 1000) / (performance.now() - since));
    }
    return rate;
  }

  #beginTraffic(): void {
    const { seed } = this.#options;
    const config = readKubeconfig(this.#server.kubeconfig);
    const server = `https://127.0.0.1:${this.#server.network.port}`;
    const connect = (id: string): RecordedClient => {
      // every second client comes over TCP and a network that can break, the others over the Unix socket, as processes of this machine do
      const kubeconfig = this.#clients.length % 2 === 0 ? config : { ...config, unixSocket: undefined, server };
      const client = createClient({ kubeconfig, userAgent: `${id}/1.0` });
      this.#clients.push(client);
      return new RecordedClient(id, client, this.#history);
    };
    for (let i = 0; i < WRITERS; i++) {
      const deps = { client: connect(`w${i}`), random: seededRandom(seed + 1 + i), signal: this.#stopWriting.signal };
      this.#writers.push(new Writer(deps));
    }
    for (const [i, watched] of WATCHED.entries()) {
      const deps = { client: connect(`r${i}`), random: seededRandom(seed + 101 + i), signal: this.#stopWatching.signal };
      this.#watchers.push(new WatchClient(deps, watched));
    }
    this.#running = [...this.#writers, ...this.#watchers].map((client) => client.run());
  }

  /** Writes once more into everything that is watched, and waits until each watcher knows. */
  async #settle(): Promise<void> {
    this.#stopWriting.abort();
    await Promise.all(this.#running.slice(0, WRITERS));
    const client = new RecordedClient('last', this.#clients[0]!, this.#history);
    const awaited: number[] = [];
    for (const { type, namespace, name } of WATCHED) {
      const target = { type, namespace: namespace || NAMESPACES[0], name: name ?? 'last' };
      let revision = 0;
      for (const color of COLORS) revision = await this.#last(client, target, color);
      awaited.push(revision);
    }
    const start = performance.now();
    const behind = (): boolean => this.#watchers.some(({ reached }, i) => reached < awaited[i]!);
    while (behind() && performance.now() < start + SETTLE_MS) await sleep(50);
    for (const [i, { reached }] of this.#watchers.entries())
      this.#history.add({ op: 'settle', client: `r${i}`, start, end: performance.now(), status: 200, awaited: awaited[i]!, reached });
  }

  /** Revision of a write that leaves the target in this colour. */
  async #last(client: RecordedClient, target: Target, color: string): Promise<number> {
    const { type, namespace, name } = target;
    const labels = { color, turn: String(Math.round(performance.now() * 1000)) };
    let done = await client.patch(target, { labels });
    if (done.status === 404) done = await client.create(type, { ...bare(type), metadata: { name, namespace, labels } });
    if (done.status !== 200) this.#failures.push(`the last write to ${keyOf(target)} was answered ${done.status}`);
    return done.answer?.revision ?? 0;
  }

  async #endTraffic(): Promise<void> {
    this.#stopWriting.abort();
    this.#stopWatching.abort();
    await Promise.all(this.#running);
  }

  async #stopServer(): Promise<void> {
    if (!this.#server.alive) return;
    this.#server.signal('SIGTERM');
    if (!(await this.#server.ended(15_000))) this.#failures.push('the server did not end within 15 s of SIGTERM');
    else if (this.#server.end !== 0) this.#failures.push(`the server ended by ${this.#server.end} after SIGTERM`);
  }

  /** The store as it lies there. One that cannot be read ends nowhere, which is a finding. */
  async #read(): Promise<void> {
    const { directory } = this.#options;
    const atLeast = readJournal(recordsIn(directory)).at(-1)?.revision ?? 1;
    const found = await readStore(this.#server.store).catch(() => ({ revisions: [], through: 0 }));
    const reading = { ...found, atLeast, whole: true };
    this.#readings.push(reading);
    cpSync(this.#server.store, join(directory, 'stores', String(this.#readings.length)), { recursive: true });
    mkdirSync(join(directory, READINGS), { recursive: true });
    writeFileSync(join(directory, READINGS, `${this.#readings.length}.json`), JSON.stringify(reading));
  }

  #verdict(): BatchVerdict {
    const { directory, faults, seed, compactionMs } = this.#options;
    const histories = join(directory, HISTORIES);
    mkdirSync(histories, { recursive: true });
    this.#history.save(histories);
    writeFileSync(
      join(directory, 'schedule.json'),
      `${JSON.stringify({ seed, compactionMs, faults: faults.map(({ name }) => name), cycles: this.#cycles }, null, 1)}\n`,
    );
    const mayFail = faults.some(({ writeFails }) => writeFails);
    const findings: Finding[] = [
      { name: 'P the server comes back and ends as it should', judged: `${this.#server.starts} starts`, violations: this.#failures },
      {
        name: 'P nothing unexpected is logged',
        judged: `${this.#server.starts} starts`,
        violations: unexpectedLines(this.#server.log, mayFail),
      },
      ...judge({
        operations: this.#history.operations,
        readings: [journalReading(directory), ...this.#readings],
        compacting: compactionMs !== undefined,
      }),
    ];
    writeFileSync(join(directory, 'verdict.json'), `${JSON.stringify(findings, null, 1)}\n`);
    return { cycles: this.#cycles, findings, directory };
  }
}
