/** `up`: starts a cluster of separate processes, says how to reach it, and stays in the foreground until Ctrl-C or `flyball down`. */
import { relative, resolve } from 'node:path';
import type { Cluster } from '../../cluster/cluster.ts';
import { startCluster } from '../../cluster/start-cluster.ts';
import { DATA_DIR } from '../cluster/running.ts';
import { CliError, usageError } from '../errors.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';

const STATUS_MS = 1000;

export const verb: Verb = {
  usage: '[--nodes N] [--secure-port P] [--data-dir D]',
  flags: {
    nodes: { type: 'integer', default: 3, help: 'How many simulated nodes' },
    'nodes-per-kubelet': {
      type: 'integer',
      help: 'How many of them share a kubelet process; up to 10 nodes have one each, more share one',
    },
    'secure-port': { type: 'integer', default: 6443, help: 'Port of the API server; 0 takes any free one' },
    'bind-address': { type: 'string', default: '127.0.0.1', help: 'Address the API server listens on' },
    'data-dir': { type: 'string', default: DATA_DIR, help: 'Store, certificates, kubeconfig and logs; kept for the next start' },
    'apiserver-flag': { type: 'array', help: 'A further flag of the API server, as --apiserver-flag=--v=4' },
    'controllers-flag': { type: 'array', help: 'A further flag of the controllers' },
    'scheduler-flag': { type: 'array', help: 'A further flag of the scheduler' },
    'kubelet-flag': { type: 'array', help: 'A further flag of the kubelets' },
    without: { type: 'list', help: 'Components that are not started; flyball start starts them later' },
  },
  run: up,
};

async function up(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  if (args.length > 0) throw usageError(session.verb, `unexpected arguments: [${args.join(' ')}]`);
  if (flags.integer('nodes') < 0) throw new CliError('--nodes must not be negative');
  const port = flags.integer('secure-port');
  if (port < 0 || port > 65_535) throw new CliError(`--secure-port must be between 0 and 65535, not ${port}`);
  const { cwd } = session.deps.surroundings;
  const began = session.clock.monotonicMs();
  const cluster = await startCluster({
    dataDir: resolve(cwd, flags.string('data-dir')),
    nodes: flags.integer('nodes'),
    ...(flags.changed('nodes-per-kubelet') && { nodesPerKubelet: flags.integer('nodes-per-kubelet') }),
    securePort: port,
    bindAddress: flags.string('bind-address'),
    without: flags.list('without'),
    flags: {
      apiserver: flags.list('apiserver-flag'),
      controllers: flags.list('controllers-flag'),
      scheduler: flags.list('scheduler-flag'),
      kubelet: flags.list('kubelet-flag'),
    },
  });
  const seconds = ((session.clock.monotonicMs() - began) / 1000).toFixed(1);
  const inside = relative(cwd, cluster.kubeconfig);
  session.out(greeting(inside.startsWith('..') ? cluster.kubeconfig : inside, cluster.server, seconds));
  await stay(session, cluster);
}

const greeting = (
  kubeconfig: string,
  server: string,
  seconds: string,
): string => `The control plane is ready at ${server} after ${seconds} s.
Its kubeconfig is ${kubeconfig}. Try, in another terminal:

  export KUBECONFIG=${kubeconfig.startsWith('/') ? '' : '$PWD/'}${kubeconfig}
  kubectl create deployment hello --image=registry.example/hello:1.0 --replicas=3
  kubectl get pods -o wide

Ctrl-C stops everything; the data stays.
`;

/** Settles when the cluster has been stopped, by Ctrl-C here or by an order from elsewhere. */
async function stay(session: Session, cluster: Cluster): Promise<void> {
  const live = session.deps.isTerminal;
  let shown = '';
  const show = async (): Promise<void> => {
    const line = await statusLine(cluster);
    if (line !== shown) session.out(live ? `\r\u001b[K${line}` : `${line}\n`);
    shown = line;
  };
  let stopped = false;
  const ended = cluster.stopped.then(() => {
    stopped = true;
  });
  while (!stopped && !session.signal.aborted) {
    await show();
    const pause = new AbortController();
    const sleeping = session.clock.sleep(STATUS_MS, AbortSignal.any([session.signal, pause.signal])).catch(() => undefined);
    await Promise.race([sleeping, ended]);
    pause.abort(new Error('woken'));
  }
  if (live) session.out('\n');
  if (!stopped) {
    session.line('stopping');
    await cluster.stopAll();
  }
  session.line('stopped');
}

async function statusLine(cluster: Cluster): Promise<string> {
  const processes = await cluster.processes();
  const ready = processes.filter((p) => p.ready).length;
  const odd = processes.filter((p) => !p.ready).map((p) => `${p.name} ${p.state}${p.ended && p.state === 'dead' ? ` (${p.ended})` : ''}`);
  return `${ready} of ${processes.length} processes ready${odd.length > 0 ? `: ${odd.join(', ')}` : ''}`;
}
