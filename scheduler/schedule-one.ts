/**
 * Schedules pods one at a time: observe (the queue's next pod and the cache), compare (`find-node.ts`), act (assume, then bind behind). Mirrors upstream
 * `schedule_one.go`.
 *
 * Invariant: from reading the cache to assuming the pod on its node there is no pause, so no two decisions see the same room.
 */
import { isReason, StatusError } from '../machinery/api/status.ts';
import { formatTime } from '../machinery/api/time.ts';
import type { Pod, PodCondition } from '../machinery/api/types/core.v1.ts';
import type { PodDisruptionBudget } from '../machinery/api/types/policy.v1.ts';
import type { Client } from '../machinery/client/client.ts';
import type { EventRecorder } from '../machinery/client/event-recorder.ts';
import { pods as podResource } from '../machinery/client/resource-type.ts';
import type { Clock } from '../machinery/process/clock.ts';
import { asyncFailpoint } from '../machinery/process/failpoints.ts';
import type { Logger } from '../machinery/process/logger.ts';
import type { Random } from '../machinery/process/random.ts';
import { bindVolumes } from './bind-volumes.ts';
import type { SchedulerCache } from './cache.ts';
import { type Found, findNode } from './find-node.ts';
import { fitMessage } from './fit-error.ts';
import type { Plugin } from './framework/plugin.ts';
import { type PodInfo, podInfo } from './framework/pod-info.ts';
import { type VolumeChoice, volumeChoices } from './plugins/volume-binding.ts';
import { deleteVictims } from './preempt-victims.ts';
import { type Preemption, preempt } from './preemption.ts';
import type { QueuedPod, SchedulingQueue } from './queue/scheduling-queue.ts';

export interface ScheduleDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly cache: SchedulerCache;
  readonly queue: SchedulingQueue;
  readonly profile: readonly Plugin[];
  readonly percentageOfNodesToScore: number;
  readonly schedulerName: string;
  readonly budgets: () => readonly PodDisruptionBudget[];
  /** The pod as the informer knows it now. */
  readonly livePod: (namespace: string, name: string) => Pod | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

interface Observed {
  readonly item: QueuedPod;
  readonly pod: PodInfo;
}

export type Outcome =
  | { readonly to: string }
  | { readonly message: string; readonly rejectedBy: ReadonlySet<string>; readonly preemption?: Preemption };

/** Binds in flight; more wait in the queue. */
const MAX_BINDS = 64;

export class PodScheduler {
  readonly #deps: ScheduleDeps;
  #startIndex = 0;
  #binding = 0;
  #onIdle: (() => void)[] = [];
  readonly counts = { scheduled: 0, unschedulable: 0, error: 0 };

  constructor(deps: ScheduleDeps) {
    this.#deps = deps;
  }

  /** Whether another pod may be taken up now. */
  get hasRoom(): boolean {
    return this.#binding < MAX_BINDS;
  }

  /** Settles when a binding has ended. */
  room(): Promise<void> {
    return this.hasRoom ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** One pod: false when none waits. */
  scheduleOne(): boolean {
    const item = this.#deps.queue.pop();
    if (!item) return false;
    const observed = this.observe(item);
    if (!observed) return true;
    this.act(observed, this.compare(observed));
    return true;
  }

  /** Undefined when the pod needs no node any more. */
  observe(item: QueuedPod): Observed | undefined {
    const { namespace, name } = item.pod.metadata as { namespace: string; name: string };
    const live = this.#deps.livePod(namespace, name);
    if (
      !live ||
      live.metadata.uid !== item.uid ||
      live.spec.nodeName ||
      live.metadata.deletionTimestamp ||
      this.#deps.cache.isAssumed(item.uid)
    )
      return undefined;
    item.pod = live;
    return { item, pod: podInfo(live) };
  }

  compare({ pod }: Observed): Outcome {
    const { cache, profile, percentageOfNodesToScore, random } = this.#deps;
    if (cache.nodes.length === 0) return { message: 'no nodes available to schedule pods', rejectedBy: new Set() };
    const found: Found = findNode(pod, cache, profile, { percentageOfNodesToScore, startIndex: this.#startIndex, random });
    this.#startIndex = found.nextStartIndex;
    if (found.node) return { to: found.node.name };
    const preemption = preempt({ pod, found, snapshot: cache, budgets: this.#deps.budgets() });
    return { message: fitMessage(found.diagnosis, preemption.message), rejectedBy: found.diagnosis.rejectedBy, preemption };
  }

  act({ item, pod }: Observed, outcome: Outcome): void {
    if ('to' in outcome) {
      this.#deps.cache.assume(pod, outcome.to);
      const node = this.#deps.cache.node(outcome.to)?.node;
      const volumes = node && pod.claims.length > 0 ? volumeChoices(pod, node, this.#deps.cache.lookup) : [];
      // One that waits for its volumes, which may take minutes, holds nobody up.
      const slot = volumes.length === 0 ? 1 : 0;
      this.#binding += slot;
      this.#bind(item, pod, outcome.to, volumes).finally(() => {
        this.#binding -= slot;
        for (const resolve of this.#onIdle.splice(0)) resolve();
      });
      return;
    }
    this.counts.unschedulable++;
    this.#deps.queue.putUnschedulable(item, outcome.rejectedBy);
    this.#deps.recorder.event(pod.pod, 'Warning', 'FailedScheduling', outcome.message, { action: 'Scheduling' });
    const nominated = outcome.preemption?.nodeName;
    if (nominated) this.#preempt(pod, nominated, outcome.preemption?.victims ?? []);
    this.#setCondition(pod.pod, { reason: 'Unschedulable', message: outcome.message, nominated });
  }

  async #bind(item: QueuedPod, pod: PodInfo, nodeName: string, volumes: readonly VolumeChoice[]): Promise<void> {
    const { client, recorder, cache, queue, logger, clock, signal } = this.#deps;
    const { namespace, name } = pod.pod.metadata as { namespace: string; name: string };
    let asked = false;
    try {
      await bindVolumes({ client, lookup: cache.lookup, clock, signal }, volumes, nodeName);
      await asyncFailpoint('scheduler.before-bind');
      asked = true;
      await client.createSubresource(podResource, { namespace, name }, 'binding', {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { namespace, name, uid: item.uid },
        target: { kind: 'Node', name: nodeName },
      });
      await asyncFailpoint('scheduler.after-bind');
      this.counts.scheduled++;
      recorder.event(pod.pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${nodeName}`, { action: 'Binding' });
    } catch (error) {
      if (asked && !(error instanceof StatusError) && (await this.#isBound(namespace, name, item.uid))) return;
      cache.forget(item.uid);
      // Others may now have the room.
      queue.wake({ kind: 'any' });
      if (isReason(error, 'NotFound')) return;
      const live = this.#deps.livePod(namespace, name);
      if (!live || live.metadata.uid !== item.uid || live.spec.nodeName) return;
      this.counts.error++;
      if (!signal.aborted) logger.warn({ err: error, pod: `${namespace}/${name}`, node: nodeName }, 'binding failed, will be retried');
      queue.putFailed(item);
    }
  }

  /** After a request whose answer was lost: the room is not given to others before it is known what became of it. */
  async #isBound(namespace: string, name: string, uid: string): Promise<boolean> {
    const { client, clock, signal } = this.#deps;
    for (let delay = 100; !signal.aborted; delay = Math.min(delay * 2, 5000)) {
      try {
        const pod = await client.get(podResource, { namespace, name });
        return pod.metadata.uid === uid && pod.spec.nodeName !== undefined && pod.spec.nodeName !== '';
      } catch (error) {
        if (error instanceof StatusError) return false;
        await clock.sleep(delay, signal).catch(() => undefined);
      }
    }
    return true;
  }

  #preempt(pod: PodInfo, nodeName: string, victims: readonly PodInfo[]): void {
    this.#deps.cache.nominate(pod, nodeName);
    deleteVictims(this.#deps, pod, nodeName, victims).catch((error: unknown) => {
      this.#deps.logger.warn({ err: error, pod: pod.pod.metadata.name, node: nodeName }, 'preempting failed');
      this.#deps.queue.wake({ kind: 'any' });
    });
  }

  /** Told once, not at every try: the status is written only when it says something new. */
  #setCondition(pod: Pod, { reason, message, nominated }: { reason: string; message: string; nominated: string | undefined }): void {
    const old = pod.status?.conditions?.find((condition) => condition.type === 'PodScheduled');
    const renominated = nominated !== undefined && pod.status?.nominatedNodeName !== nominated;
    if (!renominated && old?.status === 'False' && old.reason === reason && old.message === message) return;
    const { namespace, name, uid } = pod.metadata as { namespace: string; name: string; uid: string };
    const condition: PodCondition = {
      type: 'PodScheduled',
      ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
      status: 'False',
      ...(old?.status !== 'False' && { lastTransitionTime: formatTime(this.#deps.clock.now()) }),
      reason,
      message,
    };
    const patch = { metadata: { uid }, status: { conditions: [condition], ...(renominated && { nominatedNodeName: nominated }) } };
    this.#deps.client
      .patch(podResource, { namespace, name }, 'application/strategic-merge-patch+json', patch, { subresource: 'status' })
      .catch((error: unknown) => {
        if (isReason(error, 'NotFound', 'Conflict')) return;
        this.#deps.logger.warn({ err: error, pod: `${namespace}/${name}` }, 'writing the PodScheduled condition failed');
        this.#deps.queue.retry(uid);
      });
  }
}
