/**
 * Runs controllers: the loop of `controller.ts` made of a queue, workers, local copies and a client.
 *
 * Invariants: nothing is compared before every copy the controller reads is complete; one key is never worked on twice at once; a key that failed is
 * tried again with growing pauses and stops no other key.
 */
import { setMaxListeners } from 'node:events';
import type { KubeObject } from '../api/object.ts';
import { isReason } from '../api/status.ts';
import type { Informer } from '../client/informer.ts';
import { LeaseLostError } from '../client/leader-election.ts';
import type { ResourceType } from '../client/resource-type.ts';
import { act } from './act.ts';
import type { ControllerContext, PlannedController, Reconciler, View } from './controller.ts';
import { Freshness } from './freshness.ts';
import { queueMetrics } from './queue-metrics.ts';
import { Workqueue } from './workqueue.ts';

const DEFAULT_WORKERS = 5;
/**
 * A key that takes long to compare is not compared again for a multiple of that: a burst of events about it (the ten thousand pods of one ReplicaSet
 * becoming ready) then costs a tenth of the process and not all of it. The time that its writes took counts. Keys of the usual size take no millisecond
 * and never rest.
 */
const REST_FACTOR = 9;
const LONGEST_REST_MS = 200;
const restAfter = (comparedMs: number, wroteMs: number): number =>
  comparedMs < 1 ? 0 : Math.max(0, Math.min(LONGEST_REST_MS, comparedMs * REST_FACTOR) - wroteMs);

/** Runs until the context's signal aborts. Rejects only when the controller cannot run at all. */
export function runController<Observed>(controller: PlannedController<Observed> | Reconciler, context: ControllerContext): Promise<void> {
  return 'run' in controller ? controller.run(context) : runPlanned(controller, context);
}

async function runPlanned<Observed>(controller: PlannedController<Observed>, context: ControllerContext): Promise<void> {
  setMaxListeners(0, context.signal); // every loop and every waiting key of the process listens to it
  const logger = context.logger.child({ controller: controller.name });
  const queue = new Workqueue(context.clock);
  const freshness = new Freshness({ clock: context.clock, logger, wake: (key) => queue.add(key) });
  const view = viewOf(controller, context, freshness);
  for (const watch of controller.watches) {
    view.of(watch.type).addHandler((change) => {
      for (const key of watch.keysOf(change, view)) queue.add(key);
    });
  }
  const metrics = queueMetrics(controller.name, queue, context);
  await view.synced(context.signal);
  if (context.signal.aborted) return;
  logger.info('copies are complete, starting to reconcile');
  const recorder = context.recorder(controller.component);
  const { client, clock, signal } = context;
  const deps = { name: controller.name, client, recorder, freshness, clock, signal };

  /** The five lines. */
  const pass = async (key: string): Promise<void> => {
    if (!freshness.isFresh(key)) return;
    const observed = controller.observe(key, view);
    if (observed === undefined) return queue.forget(key);
    const plan = controller.compare(observed, context.clock.now());
    const failure = await act(key, plan, deps);
    if (failure) throw failure;
    queue.forget(key);
    if (plan.requeueAfterMs !== undefined) queue.addAfter(key, plan.requeueAfterMs);
  };

  const worker = async (): Promise<void> => {
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      const finished = metrics.started();
      const startedMs = clock.monotonicMs();
      let comparedMs = 0;
      try {
        const passing = pass(key);
        comparedMs = clock.monotonicMs() - startedMs; // it has come to its first wait: everything before is thinking
        await passing;
      } catch (error) {
        if (!context.signal.aborted) {
          logger[isExpected(error) ? 'debug' : 'warn'](
            { key, err: error, failures: queue.failures(key) },
            'pass failed, will be tried again',
          );
          metrics.retried();
          queue.addRateLimited(key);
        }
      } finally {
        queue.done(key, restAfter(comparedMs, clock.monotonicMs() - startedMs - comparedMs));
        finished();
      }
    }
  };

  context.signal.addEventListener('abort', () => queue.close(), { once: true });
  await Promise.all(Array.from({ length: controller.workers ?? DEFAULT_WORKERS }, worker));
}

/**
 * A conflict says only that somebody else was faster: the next pass sees what they wrote. And what a former leader did not send is its successor's to do; the
 * loss itself is logged where it is found.
 */
const isExpected = (error: unknown): boolean => isReason(error, 'Conflict') || error instanceof LeaseLostError;

interface ControllerView extends View {
  /** Settles when every copy is complete, or at the abort. */
  synced(signal: AbortSignal): Promise<void>;
}

/** What the controller says it reads, and nothing else: a copy asked for in the middle of a pass would be empty. */
function viewOf(controller: PlannedController<unknown>, context: ControllerContext, freshness: Freshness): ControllerView {
  const informers = new Map<string, Informer<KubeObject>>();
  for (const type of [...controller.watches.map((watch) => watch.type), ...(controller.reads ?? [])]) {
    const informer = context.informers.for(type);
    informers.set(idOf(type), informer);
    freshness.follow(informer);
  }
  return {
    of: <T extends KubeObject>(type: ResourceType<T>) => {
      const informer = informers.get(idOf(type));
      if (!informer) throw new Error(`controller ${controller.name} reads ${type.resource} without saying so in its watches or reads`);
      return informer as unknown as Informer<T>;
    },
    synced: async (signal) => {
      await Promise.all([...informers.values()].map((informer) => informer.reached(1, signal))).catch((error) => {
        if (!signal.aborted) throw error;
      });
    },
  };
}

const idOf = (type: ResourceType): string => `${type.group}/${type.version}/${type.resource}`;
