/**
 * THE control loop. Everything that heals in this system is an instance of these five lines:
 *
 *     for (;;) {
 *       desired = read what the object asks for      // from a watched local cache
 *       actual  = read what is there
 *       plan    = compare(desired, actual, now)      // pure
 *       act(plan)                                    // through the API server only
 *     }
 *
 * Watches only say *this key may be wrong*. Mirrors controller-runtime `pkg/reconcile` and client-go's controllers.
 */
import type { KubeObject } from '../api/object.ts';
import type { Client } from '../client/client.ts';
import type { EventRecorder } from '../client/event-recorder.ts';
import type { Informer, InformerFactory } from '../client/informer.ts';
import type { ResourceType } from '../client/resource-type.ts';
import type { Clock } from '../process/clock.ts';
import type { Logger } from '../process/logger.ts';
import type { Metrics } from '../process/metrics.ts';
import type { Random } from '../process/random.ts';
import type { Plan } from './plan.ts';

/** Local reads only: what the informers of this process hold. */
export interface View {
  of<T extends KubeObject>(type: ResourceType<T>): Informer<T>;
}

/** Turns a change of a watched object into the keys that may be wrong now. */
export interface Watch<T extends KubeObject = KubeObject> {
  readonly type: ResourceType<T>;
  keysOf(change: { readonly object: T | undefined; readonly old: T | undefined }, view: View): Iterable<string>;
}

export interface PlannedController<Observed> {
  /** Upstream's name of the loop without the suffix: `replicaset`, `garbagecollector`. */
  readonly name: string;
  readonly watches: readonly Watch[];
  /** Further resources that `observe` reads without being woken by them. */
  readonly reads?: readonly ResourceType[];
  /** `reportingComponent` of its events: `replicaset-controller`. */
  readonly component: string;
  /** How many keys are worked on at once; upstream's --concurrent-…-syncs. Default 5. */
  readonly workers?: number;
  /** Local reads only; undefined when there is nothing to do. */
  observe(key: string, view: View): Observed | undefined;
  /** Pure: no await, no clock, no I/O, mutates nothing. */
  compare(observed: Observed, now: Date): Plan;
}

/** For the few loops that cannot be planned; each is listed with its reason in docs/architecture.md. */
export interface Reconciler {
  readonly name: string;
  readonly component: string;
  run(context: ControllerContext): Promise<void>;
}

export interface ControllerContext {
  readonly client: Client;
  readonly informers: InformerFactory;
  readonly recorder: (component: string) => EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  readonly signal: AbortSignal;
}
