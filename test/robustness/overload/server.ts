/** Starts the API server as a process of its own, so that what it holds and how it answers can be told from what its flood costs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readKubeconfig } from '../../../machinery/client/kubeconfig.ts';
import { bundleServer } from '../server.ts';

/** What the server says of itself; delays since it was last asked. */
export interface Figures {
  readonly heapMb: number;
  readonly externalMb: number;
  readonly delayP99Ms: number;
  readonly delayMaxMs: number;
  /** Sockets, timers and requests to the system. */
  readonly resources: number;
}

export interface Credentials {
  readonly host: string;
  readonly port: number;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface FloodedServer {
  readonly pid: number;
  readonly kubeconfig: string;
  readonly credentials: Credentials;
  readonly alive: boolean;
  figures(collect?: boolean): Promise<Figures>;
  /** Resident memory now, in MiB. */
  rssMb(): number;
  signal(name: NodeJS.Signals): void;
  /** How it ended: an exit code or a signal. */
  readonly ended: Promise<number | string>;
}

export const bundleFloodedServer = (): ReturnType<typeof bundleServer> =>
  bundleServer(fileURLToPath(new URL('./server-main.ts', import.meta.url)));

/** `directory` gets everything the server writes. */
export async function startFloodedServer(bundle: string, directory: string, args: readonly string[] = []): Promise<FloodedServer> {
  const kubeconfig = join(directory, 'kubeconfig');
  const child = spawn(
    process.execPath,
    ['--expose-gc', bundle, '--data-dir', directory, '--secure-port', '0', '--write-kubeconfig', kubeconfig, ...args],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  );
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  await message(child, 'ready', ended);
  const { server, ca = '', cert = '', key = '' } = readKubeconfig(kubeconfig);
  const { hostname, port } = new URL(server);
  return {
    pid: child.pid!,
    kubeconfig,
    credentials: { host: hostname, port: Number(port), ca, cert, key },
    get alive() {
      return child.exitCode === null && child.signalCode === null;
    },
    figures: async (collect = false) => {
      const answer = message<{ figures: Figures }>(child, 'figures', ended);
      child.send({ type: 'figures', collect });
      return (await answer).figures;
    },
    rssMb: () => statusMb(child.pid!, 'VmRSS'),
    signal: (name) => void child.kill(name),
    ended,
  };
}

function message<T = unknown>(child: ChildProcess, type: string, ended: Promise<number | string>): Promise<T> {
  return new Promise((resolve, reject) => {
    const take = (received: { type?: string }): void => {
      if (received.type !== type) return;
      child.off('message', take);
      resolve(received as T);
    };
    child.on('message', take);
    ended.then((end) => reject(new Error(`the API server ended with ${end}`)), reject);
  });
}

/** Linux says it in /proc; elsewhere it is not known. */
function statusMb(pid: number, name: string): number {
  try {
    return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
