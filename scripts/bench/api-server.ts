/** The API server alone, as a process of its own, as built; and what it takes of the machine. */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '../../machinery/api/yaml.ts';
import type { Target } from './connection.ts';

export interface MeasuredServer {
  readonly target: Target;
  readonly pid: number;
  readonly readyMs: number;
  stop(): Promise<void>;
}

interface KubeconfigFile {
  readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, string>> }];
  readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }];
}

export async function startServer(built: string, dataDir: string, nodeArguments: readonly string[]): Promise<MeasuredServer> {
  const kubeconfig = join(dataDir, 'kubeconfig');
  const start = performance.now();
  const child = fork(join(built, 'apiserver/main.js'), ['--data-dir', dataDir, '--secure-port', '0', '--write-kubeconfig', kubeconfig], {
    execArgv: [...nodeArguments],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  await ready(child);
  const readyMs = performance.now() - start;
  const target = targetOf(kubeconfig);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    target,
    pid: child.pid!,
    readyMs,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('message', (message: { type: string }) => {
      if (message.type === 'ready') resolve();
    });
    child.once('exit', (code) => reject(new Error(`the API server ended with ${code}`)));
  });
}

function targetOf(path: string): Target {
  const { clusters, users } = parseYaml(readFileSync(path, 'utf8')) as unknown as KubeconfigFile;
  const { server, 'certificate-authority-data': ca } = clusters[0].cluster;
  const { 'client-certificate-data': cert, 'client-key-data': key } = users[0].user;
  const text = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString('utf8');
  const url = new URL(server!);
  return { host: url.hostname, port: Number(url.port), ca: text(ca), cert: text(cert), key: text(key) };
}

export interface Usage {
  readonly rssMb: number;
  readonly cpuMs: number;
  /** The kernel's part of it: sockets, files, waking others up. */
  readonly systemMs: number;
}

const TICK_MS = 10;

/** Linux only: resident memory and processor time of one process, all threads. */
export function usageOf(pid: number): Usage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    rssMb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024,
    cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    systemMs: Number(fields[12]) * TICK_MS,
  };
}
