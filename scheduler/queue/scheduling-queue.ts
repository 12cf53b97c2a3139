/**
 * The pods that wait for a node, in three places: *active* (to be tried now, by priority), *back-off* (to be tried soon), *unschedulable* (to be tried
 * when something happens that may help, and after 5 minutes at the latest). Mirrors upstream `backend/queue/scheduling_queue.go`.
 *
 * Invariant: a pod is in at most one of the three; it leaves only by `pop` or `remove`.
 */
import { deepEqual } from '../../machinery/api/equality.ts';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import type { Cancel, Clock } from '../../machinery/process/clock.ts';
import { podInfo } from '../framework/pod-info.ts';
import type { ClusterEvent } from './cluster-event.ts';
import { Heap } from './heap.ts';

export interface QueuedPod {
  readonly uid: string;
  pod: Pod;
  /** When it joined the queue. */
  readonly sinceMs: number;
  attempts: number;
  /** When the last try ended. */
  triedAtMs: number;
  /** Names of the plugins that rejected it at the last try; empty after an error. */
  rejectedBy: ReadonlySet<string>;
  gated: boolean;
}

export interface QueueDeps {
  readonly clock: Clock;
  readonly initialBackOffMs: number;
  readonly maxBackOffMs: number;
  /** Whether `event` may help a pod that these plugins rejected. */
  readonly mayHelp: (pod: Pod, rejectedBy: ReadonlySet<string>, event: ClusterEvent) => boolean;
  /** Whether the pod may be considered at all (upstream's PreEnqueue). */
  readonly isGated: (pod: Pod) => boolean;
  /** Called whenever something has become active. */
  readonly onActive: () => void;
}

const FLUSH_AFTER_MS = 5 * 60_000;
const FLUSH_EVERY_MS = 30_000;

export class SchedulingQueue {
  readonly #deps: QueueDeps;
  readonly #active = new Heap<QueuedPod>((item) => item.uid, isBefore);
  readonly #backOff: Heap<QueuedPod>;
  readonly #unschedulable = new Map<string, QueuedPod>();
  #timer: Cancel | undefined;
  #flushTimer: Cancel | undefined;

  constructor(deps: QueueDeps) {
    this.#deps = deps;
    this.#backOff = new Heap(
      (item) => item.uid,
      (a, b) => this.#readyAt(a) < this.#readyAt(b),
    );
  }

  start(): void {
    this.#flushTimer = this.#deps.clock.setTimer(FLUSH_EVERY_MS, () => {
      this.#flushOld();
      this.start();
    });
  }

  stop(): void {
    this.#timer?.();
    this.#flushTimer?.();
  }

  get sizes(): { active: number; backoff: number; unschedulable: number; gated: number } {
    const gated = [...this.#unschedulable.values()].filter((item) => item.gated).length;
    return { active: this.#active.size, backoff: this.#backOff.size, unschedulable: this.#unschedulable.size - gated, gated };
  }

  /** A new pod, or a changed one that still waits. */
  put(pod: Pod): void {
    const uid = pod.metadata.uid as string;
    const known = this.#active.get(uid) ?? this.#backOff.get(uid) ?? this.#unschedulable.get(uid);
    if (!known) {
      const nowMs = this.#deps.clock.monotonicMs();
      this.#enter({ uid, pod, sinceMs: nowMs, attempts: 0, triedAtMs: 0, rejectedBy: new Set(), gated: false });
      return;
    }
    const old = known.pod;
    known.pod = pod;
    if (this.#active.has(uid)) this.#active.push(known);
    if (!this.#unschedulable.has(uid) || old === pod) return;
    if (known.gated || this.#deps.mayHelp(pod, known.rejectedBy, { kind: 'own-update', pod })) {
      if (known.gated || specChanged(old, pod)) this.#requeue(known);
    }
  }

  remove(uid: string): void {
    this.#active.remove(uid);
    this.#backOff.remove(uid);
    this.#unschedulable.delete(uid);
  }

  /** The next pod to try. */
  pop(): QueuedPod | undefined {
    const item = this.#active.pop();
    if (item) item.attempts++;
    return item;
  }

  /** The try ended without a node. */
  putUnschedulable(item: QueuedPod, rejectedBy: ReadonlySet<string>): void {
    item.triedAtMs = this.#deps.clock.monotonicMs();
    item.rejectedBy = rejectedBy;
    this.#unschedulable.set(item.uid, item);
  }

  /** The try failed for a reason that is none of the pod's: it is tried again after its back-off. */
  putFailed(item: QueuedPod): void {
    item.triedAtMs = this.#deps.clock.monotonicMs();
    item.rejectedBy = new Set();
    this.#toBackOff(item);
  }

  /** What was to be told of a pod that found no node could not be written: it is tried again after its back-off. */
  retry(uid: string): void {
    const item = this.#unschedulable.get(uid);
    if (item && !item.gated) this.#requeue(item);
  }

  /** Something happened: those whom it may help are tried again, after their back-off. */
  wake(event: ClusterEvent): void {
    for (const item of [...this.#unschedulable.values()]) {
      if (item.gated) {
        if (event.kind === 'resource-claim') this.#requeue(item);
        continue;
      }
      if (event.kind === 'any' || item.rejectedBy.size === 0 || this.#deps.mayHelp(item.pod, item.rejectedBy, event)) this.#requeue(item);
    }
  }

  *pending(): Iterable<QueuedPod> {
    yield* this.#active.values();
    yield* this.#backOff.values();
    yield* this.#unschedulable.values();
  }

  #enter(item: QueuedPod): void {
    item.gated = this.#deps.isGated(item.pod);
    if (item.gated) {
      this.#unschedulable.set(item.uid, item);
      return;
    }
    this.#active.push(item);
    this.#deps.onActive();
  }

  #requeue(item: QueuedPod): void {
    this.#unschedulable.delete(item.uid);
    if (!item.gated && this.#readyAt(item) > this.#deps.clock.monotonicMs()) this.#toBackOff(item);
    else this.#enter(item);
  }

  #toBackOff(item: QueuedPod): void {
    this.#backOff.push(item);
    this.#armTimer();
  }

  #readyAt(item: QueuedPod): number {
    if (item.attempts === 0) return 0;
    const { initialBackOffMs, maxBackOffMs } = this.#deps;
    return item.triedAtMs + Math.min(maxBackOffMs, initialBackOffMs * 2 ** Math.min(item.attempts - 1, 30));
  }

  #armTimer(): void {
    this.#timer?.();
    this.#timer = undefined;
    const first = this.#backOff.peek();
    if (!first) return;
    const delay = Math.max(1, this.#readyAt(first) - this.#deps.clock.monotonicMs());
    this.#timer = this.#deps.clock.setTimer(delay, () => {
      const nowMs = this.#deps.clock.monotonicMs();
      for (let item = this.#backOff.peek(); item && this.#readyAt(item) <= nowMs; item = this.#backOff.peek()) {
        this.#backOff.pop();
        this.#enter(item);
      }
      this.#armTimer();
    });
  }

  #flushOld(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const item of [...this.#unschedulable.values()]) if (!item.gated && nowMs - item.triedAtMs > FLUSH_AFTER_MS) this.#requeue(item);
  }
}

/** PrioritySort: the higher priority first, then the longer wait. */
function isBefore(a: QueuedPod, b: QueuedPod): boolean {
  const [x, y] = [podInfo(a.pod).priority, podInfo(b.pod).priority];
  return x > y || (x === y && a.sinceMs < b.sinceMs);
}

/** A change of the status alone, such as the condition we wrote, is no reason to try again. */
function specChanged(old: Pod, pod: Pod): boolean {
  const bare = (object: Pod): unknown => [object.spec, object.metadata.labels ?? {}, object.metadata.annotations ?? {}];
  return old.metadata.generation !== pod.metadata.generation || !deepEqual(bare(old), bare(pod));
}
