/** Where the files of a cluster lie in its data directory. */
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiSocketOf, fitsSocket } from '../machinery/process/socket-path.ts';

export interface Layout {
  readonly dataDir: string;
  /** Of the administrator. */
  readonly kubeconfig: string;
  kubeconfigOf(component: string): string;
  logOf(process: string): string;
  pidFileOf(process: string): string;
  readonly pidDirectory: string;
  /** Unix socket of the API server, where the path allows one. */
  readonly apiSocket: string | undefined;
  /** Unix socket on which the process that started the cluster takes orders. */
  readonly controlSocket: string;
  kubeletRoot(node: string): string;
}

export function layoutOf(dataDir: string): Layout {
  const socket = join(dataDir, 'control.sock');
  return {
    dataDir,
    kubeconfig: join(dataDir, 'kubeconfig'),
    kubeconfigOf: (component) => join(dataDir, 'kubeconfigs', `${component}.kubeconfig`),
    logOf: (name) => join(dataDir, 'logs', `${name}.log`),
    pidFileOf: (name) => join(dataDir, 'pids', `${name}.pid`),
    pidDirectory: join(dataDir, 'pids'),
    apiSocket: apiSocketOf(dataDir),
    controlSocket: fitsSocket(socket)
      ? socket
      : join(tmpdir(), `flyball-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}.sock`),
    kubeletRoot: (node) => join(dataDir, 'kubelet', node),
  };
}
