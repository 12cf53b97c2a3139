/**
 * Starts, kills, freezes and restarts the API server under test. It keeps one port and one data directory for its whole life, which may be
 * many processes long.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Bundle, bundled } from './bundle.ts';
import { Network } from './network.ts';

export const bundleServer = (entry = fileURLToPath(new URL('./server-main.ts', import.meta.url))): Promise<Bundle> => bundled(entry);

export interface ServerOptions {
  readonly bundle: string;
  /** Holds `server/` (data), `server.log` and the journal. */
  readonly directory: string;
  readonly compactionMs?: number;
  readonly mutants?: readonly string[];
}

export interface Start {
  readonly failpoints?: string;
  /** Put before the command, as `strace …`. */
  readonly under?: readonly string[];
}

const READY_MS = 60_000;

export class Server {
  readonly store: string;
  readonly kubeconfig: string;
  readonly log: string;
  /** Between the server and clients that come to its port. */
  readonly network: Network;
  readonly #options: ServerOptions;
  readonly #port: number;
  #child: ChildProcess | undefined;
  #traced = false;
  #ended: Promise<unknown> = Promise.resolve();
  starts = 0;

  static async make(options: ServerOptions): Promise<Server> {
    mkdirSync(options.directory, { recursive: true });
    const port = await freePort();
    return new Server(options, port, await Network.between(port));
  }

  private constructor(options: ServerOptions, port: number, network: Network) {
    this.network = network;
    this.#options = options;
    this.#port = port;
    this.store = join(options.directory, 'server', 'store');
    this.kubeconfig = join(options.directory, 'kubeconfig');
    this.log = join(options.directory, 'server.log');
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Settles when it serves; rejects when it ends before. */
  async start({ failpoints = '', under = [] }: Start = {}): Promise<void> {
    const { bundle, directory, compactionMs, mutants = [] } = this.#options;
    const args = ['--data-dir', join(directory, 'server'), '--secure-port', String(this.#port), '--write-kubeconfig', this.kubeconfig];
    if (compactionMs !== undefined) args.push('--etcd-compaction-interval', `${compactionMs}ms`);
    if (failpoints !== '') args.push('--failpoints', failpoints);
    const [command, ...rest] = [...under, process.execPath, bundle, ...args];
    const log = openSync(this.log, 'a');
    const child = spawn(command!, rest, {
      stdio: ['ignore', log, log, 'ipc'],
      // a tracer does not take its process along when it is killed: a group of their own
      detached: under.length > 0,
      env: { ...process.env, ROBUSTNESS_JOURNAL: directory, ROBUSTNESS_MUTANTS: mutants.join(',') },
    });
    closeSync(log);
    this.#child = child;
    this.#traced = under.length > 0;
    this.#ended = once(child, 'exit');
    this.starts++;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`the API server is not ready after ${READY_MS / 1000} s, see ${this.log}`)),
        READY_MS,
      );
      child.once('exit', (code, signal) => {
        clearTimeout(timer);
        reject(new Error(`the API server ended before it was ready (${signal ?? code}), see ${this.log}`));
      });
      child.on('message', (message: { type?: string }) => {
        if (message.type !== 'ready') return;
        clearTimeout(timer);
        resolve();
      });
    });
  }

  get alive(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** How it ended: a signal's name or an exit code. */
  get end(): string | number | null {
    return this.#child?.signalCode ?? this.#child?.exitCode ?? null;
  }

  signal(name: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid === undefined || !this.alive) return;
    process.kill(this.#traced ? -pid : pid, name);
  }

  /** Settles at its end; false when it still lives after `ms`. */
  async ended(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const ended = await Promise.race([this.#ended.then(() => true), late]);
    clearTimeout(timer);
    return ended;
  }

  async close(): Promise<void> {
    await this.kill();
    await this.network.close();
  }

  async kill(): Promise<void> {
    if (!this.alive) return;
    this.signal('SIGKILL');
    await this.#ended;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
