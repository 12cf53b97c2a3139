/**
 * Starts the scheduler: informers feed the cache and the queue, one loop takes pods from the queue. Mirrors upstream `cmd/kube-scheduler/app/server.go`.
 */

import type { Pod } from '../machinery/api/types/core.v1.ts';
import type { Client } from '../machinery/client/client.ts';
import { createClient } from '../machinery/client/connect.ts';
import { fence } from '../machinery/client/fence.ts';
import type { Informer } from '../machinery/client/informer.ts';
import { createInformerFactory } from '../machinery/client/informers.ts';
import { type Leadership, lead } from '../machinery/client/leader-election.ts';
import { limitRate } from '../machinery/client/rate-limit.ts';
import { createRecorder } from '../machinery/client/recorder.ts';
import { nodes as nodeResource, poddisruptionbudgets, pods as podResource } from '../machinery/client/resource-type.ts';
import type { ComponentDeps, StartComponent } from '../machinery/process/component.ts';
import { orFreePort } from '../machinery/process/free-port.ts';
import { type HealthServer, serveHealth } from '../machinery/process/health.ts';
import { createMetrics } from '../machinery/process/metrics.ts';
import { stoppedWith } from '../machinery/process/stopping.ts';
import { SchedulerCache } from './cache.ts';
import { mayHelp, nodeChanged, podChanged } from './event-handlers.ts';
import { podInfo } from './framework/pod-info.ts';
import { defaultProfile } from './framework/profile.ts';
import { createLookup } from './lookup.ts';
import type { SchedulerOptions } from './options.ts';
import { hasItsClaims } from './plugins/dynamic-resources.ts';
import type { ClusterEvent } from './queue/cluster-event.ts';
import { SchedulingQueue } from './queue/scheduling-queue.ts';
import { PodScheduler } from './schedule-one.ts';

const USER_AGENT = 'kube-scheduler/v1.36.3';
/** The loop lets others run after so many milliseconds of scheduling. */
const SLICE_MS = 10;

export const startScheduler: StartComponent<SchedulerOptions> = async (options, deps) => {
  const { signal, handle } = stoppedWith(deps.signal);
  const client = createClient({ kubeconfig: options.kubeconfig, userAgent: USER_AGENT, clock: deps.clock });
  const scheduler = new Scheduler(options, { ...deps, signal }, client);
  const health = await scheduler.serveHealth();
  const working = scheduler.run();
  const done = working
    .catch((error: unknown) => (signal.aborted ? undefined : Promise.reject(error)))
    .finally(async () => {
      await health.close();
      await client.close();
    });
  done.catch(() => undefined);
  return handle({ address: health.address, ready: scheduler.ready, done });
};

class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #deps: ComponentDeps;
  readonly #client: Client;
  readonly #informers;
  readonly #pods: Informer<Pod>;
  readonly #cache: SchedulerCache;
  readonly #queue: SchedulingQueue;
  readonly ready: Promise<void>;
  #isReady: () => void = () => undefined;
  #leading = false;
  #loop: PodScheduler | undefined;
  #running = false;

  constructor(options: SchedulerOptions, deps: ComponentDeps, client: Client) {
    this.#options = options;
    this.#deps = deps;
    this.#client = client;
    this.ready = new Promise((resolve) => {
      this.#isReady = resolve;
    });
    this.#informers = createInformerFactory(client, deps);
    this.#queue = new SchedulingQueue({
      clock: deps.clock,
      initialBackOffMs: options.podInitialBackoffSeconds * 1000,
      maxBackOffMs: options.podMaxBackoffSeconds * 1000,
      mayHelp,
      isGated: (pod) => (pod.spec.schedulingGates?.length ?? 0) > 0 || !hasItsClaims(podInfo(pod), this.#cache.lookup),
      onActive: () => this.#kick(),
    });
    const wake = (event: ClusterEvent): void => this.#queue.wake(event);
    this.#cache = new SchedulerCache(createLookup(this.#informers, wake));
    const handled = { cache: this.#cache, queue: this.#queue, schedulerName: options.schedulerName };
    this.#informers.for(poddisruptionbudgets);
    // Finished pods hold no room: for us they are gone.
    this.#pods = this.#informers.for(podResource, { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' });
    this.#pods.addHandler(({ object, old }) => podChanged(handled, object, old));
    this.#informers.for(nodeResource).addHandler(({ object, old }) => nodeChanged(handled, object, old));
  }

  /** Settles when stopped; rejects when leadership is lost. */
  async run(): Promise<void> {
    const { signal, clock, random, logger } = this.#deps;
    const options = this.#options;
    this.#informers.start(signal);
    this.#queue.start();
    try {
      await this.#informers.synced(signal);
      if (!options.leaderElect) {
        await this.#work({ signal, held: () => true });
        return;
      }
      this.#isReady();
      await lead(
        {
          client: this.#client,
          namespace: options.leaderElectResourceNamespace,
          name: options.leaderElectResourceName || 'kube-scheduler',
          leaseDurationMs: options.leaderElectLeaseDurationMs,
          renewDeadlineMs: options.leaderElectRenewDeadlineMs,
          retryPeriodMs: options.leaderElectRetryPeriodMs,
          clock,
          random,
          logger,
          signal,
        },
        (leadership) => this.#work(leadership),
      );
    } finally {
      this.#queue.stop();
    }
  }

  async #work(leadership: Leadership): Promise<void> {
    const { clock, random, logger } = this.#deps;
    const client = limitRate(fence(this.#client, leadership), this.#options, { clock, signal: leadership.signal });
    const recorder = createRecorder(client, { ...this.#deps, component: this.#options.schedulerName, api: 'events.k8s.io' });
    this.#loop = new PodScheduler({
      client,
      recorder,
      cache: this.#cache,
      queue: this.#queue,
      profile: defaultProfile,
      schedulerName: this.#options.schedulerName,
      budgets: () => this.#informers.for(poddisruptionbudgets).list(),
      percentageOfNodesToScore: this.#options.percentageOfNodesToScore,
      livePod: (namespace, name) => this.#pods.get(`${namespace}/${name}`),
      clock,
      random,
      logger,
      signal: leadership.signal,
    });
    this.#leading = true;
    this.#isReady();
    this.#kick();
    if (!leadership.signal.aborted)
      await new Promise<void>((resolve) => leadership.signal.addEventListener('abort', () => resolve(), { once: true }));
    this.#leading = false;
    await recorder.flush();
  }

  /** Works the active queue down, a slice at a time. */
  #kick(): void {
    if (this.#running || !this.#leading || !this.#loop) return;
    this.#running = true;
    queueMicrotask(() => {
      this.#drain(this.#loop as PodScheduler).finally(() => {
        this.#running = false;
        if (this.#queue.sizes.active > 0) this.#kick();
      });
    });
  }

  async #drain(loop: PodScheduler): Promise<void> {
    const { clock, signal, logger } = this.#deps;
    try {
      for (;;) {
        const until = clock.monotonicMs() + SLICE_MS;
        while (this.#leading && loop.hasRoom && clock.monotonicMs() < until) if (!loop.scheduleOne()) return;
        if (!this.#leading) return;
        await loop.room();
        await clock.sleep(0, signal);
      }
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, 'scheduling failed');
    }
  }

  serveHealth(): Promise<HealthServer> {
    const metrics = createMetrics();
    metrics.gauge('scheduler_pending_pods', 'Pods that wait for a node, by queue', {
      labels: ['queue'],
      collect: (gauge) => {
        for (const [queue, size] of Object.entries(this.#queue.sizes)) gauge.set({ queue }, size);
      },
    });
    metrics.gauge('scheduler_schedule_attempts', 'Tries by result', {
      labels: ['result'],
      collect: (gauge) => {
        for (const [result, count] of Object.entries(this.#loop?.counts ?? {})) gauge.set({ result }, count);
      },
    });
    const page = {
      host: this.#options.bindAddress,
      metrics,
      checks: { readyz: [{ name: 'informer-sync', check: () => (this.#pods.synced ? undefined : 'the caches are not filled yet') }] },
      debug: {
        queue: () =>
          [...this.#queue.pending()].map((item) => ({
            pod: `${item.pod.metadata.namespace}/${item.pod.metadata.name}`,
            attempts: item.attempts,
            rejectedBy: [...item.rejectedBy],
            gated: item.gated,
          })),
        nodes: () =>
          this.#cache.nodes.map((node) => ({
            name: node.name,
            pods: node.pods.size,
            requested: Object.fromEntries(node.requested),
            allocatable: Object.fromEntries(node.allocatable),
          })),
      },
    };
    return orFreePort(this.#options.securePort, (port) => serveHealth({ ...page, port }));
  }
}
