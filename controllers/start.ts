/**
 * Starts the control loops: client, leader election, shared informers, one run per loop. Mirrors upstream `cmd/kube-controller-manager/app`.
 *
 * Invariant: no loop writes before this process is the leader, and none after it stopped being it (every write passes the fence).
 */
import { readFileSync } from 'node:fs';
import type { Client } from '../machinery/client/client.ts';
import { createClient } from '../machinery/client/connect.ts';
import type { EventRecorder } from '../machinery/client/event-recorder.ts';
import { fence } from '../machinery/client/fence.ts';
import { createInformerFactory } from '../machinery/client/informers.ts';
import { readKubeconfig } from '../machinery/client/kubeconfig.ts';
import { lead } from '../machinery/client/leader-election.ts';
import { limitRate } from '../machinery/client/rate-limit.ts';
import { createRecorder } from '../machinery/client/recorder.ts';
import type { ControllerContext } from '../machinery/loop/controller.ts';
import { runController } from '../machinery/loop/run.ts';
import type { ComponentDeps, StartComponent } from '../machinery/process/component.ts';
import { orFreePort } from '../machinery/process/free-port.ts';
import { type HealthServer, serveHealth } from '../machinery/process/health.ts';
import { createMetrics, type Metrics } from '../machinery/process/metrics.ts';
import { stoppedWith } from '../machinery/process/stopping.ts';
import type { ControllersOptions } from './options.ts';
import { type AnyController, chosenLoops } from './registry.ts';

const NAME = 'kube-controller-manager';

export const startControllers: StartComponent<ControllersOptions> = async (options, deps) => {
  const { signal, handle } = stoppedWith(deps.signal);
  const config = readKubeconfig(options.kubeconfig);
  const rootCa = options.rootCaFile ? readFileSync(options.rootCaFile, 'utf8') : config.ca;
  const loops = chosenLoops(options, { clock: deps.clock, rootCa });
  const client = createClient({ kubeconfig: config, userAgent: NAME, clock: deps.clock });
  const metrics = createMetrics();
  const state = { leading: false, running: loops.map((loop) => loop.name) };
  const health = await listen(options, metrics, state);
  let becomeReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    becomeReady = resolve;
  });
  const work = async (leading: AbortSignal, writer: Client): Promise<void> => {
    state.leading = true;
    const limited = limitRate(writer, options, { clock: deps.clock, signal: leading });
    await runLoops(loops, { client: limited, metrics, deps: { ...deps, signal: leading }, onReady: becomeReady });
  };
  const done = (async () => {
    try {
      if (options.leaderElect) await elected(options, { client, deps: { ...deps, signal }, onStandby: becomeReady, work });
      else await work(signal, client);
    } finally {
      await Promise.all([client.close(), health.close()]);
    }
  })();
  const running = handle({ address: health.address, ready: Promise.race([ready, done]), done });
  running.ready.catch(() => undefined);
  return running;
};

interface Candidate {
  readonly client: Client;
  readonly deps: ComponentDeps;
  /** A process that waits for another to end does its work too. */
  readonly onStandby: () => void;
  readonly work: (signal: AbortSignal, writer: Client) => Promise<void>;
}

async function elected(options: ControllersOptions, { client, deps, onStandby, work }: Candidate): Promise<void> {
  const cancel = deps.clock.setTimer(2 * options.leaderElectRetryPeriodMs, onStandby, { unref: true });
  try {
    await lead(
      {
        client,
        namespace: options.leaderElectResourceNamespace,
        name: options.leaderElectResourceName || leaseName(options),
        leaseDurationMs: options.leaderElectLeaseDurationMs,
        renewDeadlineMs: options.leaderElectRenewDeadlineMs,
        retryPeriodMs: options.leaderElectRetryPeriodMs,
        ...deps,
      },
      async (leadership) => {
        cancel();
        await work(leadership.signal, fence(client, leadership));
      },
    );
  } finally {
    cancel();
  }
}

/** Processes that run different loops need not wait for each other: each choice of loops has a Lease of its own. */
function leaseName(options: ControllersOptions): string {
  const own = options.controllers.filter((item) => /^[a-z]/.test(item));
  return options.controllers.includes('*') || own.length === 0 ? NAME : `${NAME}-${[...own].sort().join('-')}`.slice(0, 253);
}

interface Work {
  readonly client: Client;
  readonly metrics: Metrics;
  readonly deps: ComponentDeps;
  readonly onReady: () => void;
}

async function runLoops(loops: readonly AnyController[], { client, metrics, deps, onReady }: Work): Promise<void> {
  const informers = createInformerFactory(client, deps);
  const recorders = new Map<string, EventRecorder>();
  const recorder = (component: string): EventRecorder => {
    const made = recorders.get(component) ?? createRecorder(client, { ...deps, component });
    recorders.set(component, made);
    return made;
  };
  // a loop that fails takes the others down: the process ends and is started again
  const failure = new AbortController();
  const signal = AbortSignal.any([deps.signal, failure.signal]);
  const context: ControllerContext = { client, informers, recorder, ...deps, metrics, signal };
  const running = loops.map((loop) =>
    runController(loop, context).catch((error: unknown) => {
      failure.abort(error);
      if (!deps.signal.aborted) throw new Error(`controller ${loop.name} ended`, { cause: error });
    }),
  );
  informers.start(signal);
  informers
    .synced(signal)
    .then(onReady)
    .catch(() => undefined);
  try {
    await Promise.all(running);
  } finally {
    failure.abort(new Error('a controller ended'));
    await Promise.allSettled(running);
    await informers.done;
    await Promise.race([Promise.all([...recorders.values()].map((made) => made.flush())), deps.clock.sleep(1000)]);
  }
}

/** A port that is taken is no reason not to run: any free one will do. */
async function listen(
  options: ControllersOptions,
  metrics: Metrics,
  state: { leading: boolean; running: readonly string[] },
): Promise<HealthServer> {
  const pages = {
    host: options.bindAddress,
    metrics,
    debug: { controllers: () => state },
  };
  return orFreePort(options.securePort, (port) => serveHealth({ ...pages, port }));
}
