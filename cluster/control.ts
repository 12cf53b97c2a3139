/**
 * Lets other processes act on a running cluster: whoever started it listens on a Unix socket in the data directory (readable by its owner alone) and
 * takes one order per connection, a line of JSON each way.
 */
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { ACTIONS, type Action, type ClusterControl } from './cluster.ts';
import { layoutOf } from './layout.ts';
import type { ProcessStatus } from './runner.ts';

type Order = { readonly do: 'processes' | 'stopAll' } | { readonly do: Action; readonly name: string };
type Answer = { readonly processes: readonly ProcessStatus[]; readonly supervisorPid: number } | { readonly error: string };

const MAX_ORDER_BYTES = 4096;

/** Rejects when a cluster is running in the data directory already. */
export async function serveControl(cluster: ClusterControl & { readonly dataDir: string }): Promise<{ close(): void }> {
  const path = layoutOf(cluster.dataDir).controlSocket;
  const running = await ask(path, { do: 'processes' }).catch(() => undefined);
  if (running && 'processes' in running)
    throw new Error(`a cluster is running in ${cluster.dataDir} already (process ${running.supervisorPid})`);
  rmSync(path, { force: true });
  const server = createServer((socket) => answerOn(socket, cluster));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  chmodSync(path, 0o600);
  server.unref();
  // does not wait for open connections: one of them may be the order to stop
  return { close: () => server.close() };
}

function answerOn(socket: Socket, cluster: ClusterControl): void {
  socket.on('error', () => socket.destroy());
  readLine(socket)
    .then((line) => obey(cluster, JSON.parse(line) as Order))
    .catch((error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }))
    .then((answer: Answer) => socket.end(`${JSON.stringify(answer)}\n`));
}

async function obey(cluster: ClusterControl, order: Order): Promise<Answer> {
  if (order.do === 'stopAll') await cluster.stopAll();
  else if ('name' in order) {
    if (!ACTIONS.includes(order.do)) throw new Error(`unknown order ${order.do}`);
    await cluster[order.do](order.name);
  }
  return { processes: await cluster.processes(), supervisorPid: process.pid };
}

function readLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
      else if (text.length > MAX_ORDER_BYTES * 256) reject(new Error('too long'));
    });
    socket.once('error', reject);
    socket.once('end', () => reject(new Error('the connection ended early')));
  });
}

async function ask(path: string, order: Order): Promise<Answer> {
  const socket = connect(path);
  socket.once('connect', () => socket.write(`${JSON.stringify(order)}\n`));
  try {
    return JSON.parse(await readLine(socket)) as Answer;
  } finally {
    socket.destroy();
  }
}

/** The control of the cluster that runs in a data directory. Every call rejects when there is none, saying so. */
export function connectCluster(dataDir: string): ClusterControl {
  const path = layoutOf(dataDir).controlSocket;
  const send = async (order: Order): Promise<readonly ProcessStatus[]> => {
    const answer = await ask(path, order).catch((error: Error & { code?: string }) => {
      // not as the cause: what refuses here is no API server, and must not be told as one. A killed parent leaves its socket behind
      if (['ENOENT', 'ENOTDIR', 'ECONNREFUSED'].includes(error.code ?? '')) {
        throw new Error(`no cluster is running in ${dataDir}; start one with: flyball up`);
      }
      throw new Error(`the cluster in ${dataDir} gives no answer: ${error.message}`);
    });
    if ('error' in answer) throw new Error(answer.error);
    return answer.processes;
  };
  const act = (action: Action) => async (name: string) => {
    await send({ do: action, name });
  };
  return {
    processes: () => send({ do: 'processes' }),
    kill: act('kill'),
    pause: act('pause'),
    resume: act('resume'),
    start: act('start'),
    stop: act('stop'),
    restart: act('restart'),
    stopAll: async () => {
      await send({ do: 'stopAll' });
    },
  };
}
