/**
 * The loop of one node's pods: observe, compare, act, one pass at a time for each pod. Mirrors upstream `pod_workers.go` and `status_manager.go`.
 *
 * Invariant: passes of one pod never overlap, and nothing but the pod's object, the runtime's state and the time decides what a pass does.
 */
import type { Pod, PodStatus } from '../../machinery/api/types/core.v1.ts';
import type { Client } from '../../machinery/client/client.ts';
import type { Cancel, Clock } from '../../machinery/process/clock.ts';
import type { Logger } from '../../machinery/process/logger.ts';
import type { Runtime } from '../runtime/interface.ts';
import { allocatedPod } from './allocation.ts';
import type { BackOffLimits } from './back-off.ts';
import { comparePod, type ObservedPod, type PodPlan } from './compare.ts';
import { type Blocked, findBlocked, namesConfig, RECHECK_MS } from './config-check.ts';
import { PodContainers } from './pod-containers.ts';
import type { PodEvent, ToldPod } from './pod-events.ts';
import { PodWrites } from './pod-writes.ts';
import { followResize, type ResizeProgress, type ResizeRefusal } from './resize.ts';
import { statusDiffers } from './status-patch.ts';

export interface PodWorkersDeps {
  readonly client: Client;
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hostIp: string;
  readonly limits: BackOffLimits;
  readonly tell: (pod: Pod, event: PodEvent) => void;
  /** Why the node refuses a pod it has not yet accepted; undefined when it takes it. */
  readonly admit: (pod: Pod, accepted: readonly Pod[]) => { readonly reason: string; readonly message: string } | undefined;
  /** Why the node does not give an accepted pod what it now asks for. */
  readonly admitResize: (pod: Pod, accepted: readonly Pod[]) => ResizeRefusal | undefined;
}

interface PodState {
  pod: Pod | undefined;
  readonly acceptedAtMs: number;
  published?: PodStatus;
  publishedRevision: number;
  foreignSinceMs?: number;
  failure?: { readonly reason: string; readonly message: string };
  admitted: boolean;
  /** All ConfigMaps and Secrets it names have been found. */
  configured: boolean;
  blocked?: Blocked | undefined;
  deleted: boolean;
  told: ToldPod;
  readonly resize: ResizeProgress;
  running: boolean;
  dirty: boolean;
  failures: number;
  timer?: Cancel;
  /** For spec.activeDeadlineSeconds. */
  deadline?: Cancel;
}

/** Passes without a pause for one pod; a bound for what would be a bug. */
const MAX_PASSES = 20;
const RETRY_MS = { first: 100, most: 3_000 };

export class PodWorkers {
  readonly #deps: PodWorkersDeps;
  readonly #states = new Map<string, PodState>();
  readonly #containers: PodContainers;
  readonly #writes: PodWrites;
  #stopped = false;
  #idle: (() => void)[] = [];

  constructor(deps: PodWorkersDeps) {
    this.#deps = deps;
    this.#containers = new PodContainers(deps);
    this.#writes = new PodWrites(deps.client);
    deps.runtime.onChange((uid) => this.wake(uid));
  }

  /** A pod of this node as the API shows it now. */
  podChanged(pod: Pod): void {
    const uid = pod.metadata.uid as string;
    const state = this.#stateOf(uid);
    state.pod = pod;
    this.#noteForeign(state, pod);
    this.wake(uid);
  }

  /** The object is gone, or has moved to no concern of this node. */
  podGone(uid: string): void {
    const state = this.#states.get(uid);
    if (!state) return;
    state.pod = undefined;
    this.wake(uid);
  }

  /** To be called once the first full state is known: what runs without an object is an orphan and goes. */
  reconcileOrphans(): void {
    for (const { uid } of this.#deps.runtime.pods()) {
      if (this.#states.get(uid)?.pod) continue;
      this.#stateOf(uid);
      this.wake(uid);
    }
  }

  wake(uid: string): void {
    const state = this.#states.get(uid);
    if (!state || this.#stopped) return;
    state.dirty = true;
    if (state.running) return;
    state.running = true;
    // Deferred, so that what changes in one turn is looked at once.
    queueMicrotask(() => void this.#run(uid, state));
  }

  /** No new passes; settles when those under way have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const state of this.#states.values()) {
      state.timer?.();
      state.deadline?.();
    }
    if ([...this.#states.values()].some((state) => state.running)) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #stateOf(uid: string): PodState {
    let state = this.#states.get(uid);
    if (!state) {
      const known = this.#deps.runtime.pod(uid);
      state = {
        pod: undefined,
        acceptedAtMs: known?.createdAtMs ?? this.#nowMs(),
        publishedRevision: 0,
        admitted: known !== undefined,
        configured: false,
        deleted: false,
        told: new Map(),
        resize: {},
        running: false,
        dirty: false,
        failures: 0,
      };
      // What ran before this process started has been told of.
      state.told = this.#containers.news(uid, undefined, state.told)?.told ?? state.told;
      this.#states.set(uid, state);
    }
    return state;
  }

  async #run(uid: string, state: PodState): Promise<void> {
    try {
      for (let pass = 0; state.dirty && !this.#stopped && pass < MAX_PASSES; pass++) {
        state.dirty = false;
        await this.#pass(uid, state);
      }
      state.failures = 0;
    } catch (error) {
      state.failures++;
      this.#deps.logger.warn(
        { err: error, pod: state.pod && `${state.pod.metadata.namespace}/${state.pod.metadata.name}` },
        'pod sync failed, will be retried',
      );
      this.#wakeAfter(uid, state, Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** Math.min(state.failures - 1, 10)));
    } finally {
      state.running = false;
      if (this.#stopped && ![...this.#states.values()].some((other) => other.running))
        for (const resolve of this.#idle.splice(0)) resolve();
    }
    if (state.dirty) this.wake(uid);
  }

  async #pass(uid: string, state: PodState): Promise<void> {
    if (state.pod && (await this.#waitsForConfig(uid, state, state.pod))) return;
    const observed = this.#observe(uid, state);
    if (!observed) return this.#sweep(uid);
    const plan = comparePod(observed, this.#deps.clock.now());
    await this.#act(uid, state, observed.pod, plan);
  }

  #observe(uid: string, state: PodState): ObservedPod | undefined {
    const { pod } = state;
    if (!pod) return undefined;
    if (!state.admitted) this.#admit(state, pod);
    this.#expire(uid, state, pod);
    if (!pod.metadata.deletionTimestamp && !state.failure)
      followResize(pod, state.resize, {
        runtime: this.#deps.runtime,
        tell: (event) => this.#deps.tell(pod, event),
        judge: () => this.#deps.admitResize(pod, this.#accepted(state)),
      });
    return {
      pod,
      runtime: this.#deps.runtime.pod(uid),
      hostIp: this.#deps.hostIp,
      acceptedAtMs: state.acceptedAtMs,
      published: state.published,
      foreignSinceMs: state.foreignSinceMs,
      failure: state.failure,
      limits: this.#deps.limits,
      ...(state.blocked && { blocked: state.blocked.containers }),
      ...(state.resize.pending && { resizePending: state.resize.pending }),
    };
  }

  /** Asks for what the pod names until all of it is there; true while a volume keeps the pod from starting. */
  async #waitsForConfig(uid: string, state: PodState, pod: Pod): Promise<boolean> {
    if (state.configured || pod.metadata.deletionTimestamp) return false;
    const nowMs = this.#nowMs();
    const known = [...(this.#deps.runtime.pod(uid)?.containers.values() ?? [])];
    if (!namesConfig(pod) || (known.length > 0 && known.every(({ state }) => state !== 'create-failed')))
      state.configured = state.blocked === undefined;
    if (state.configured) return false;
    if (!state.blocked || nowMs - state.blocked.atMs >= RECHECK_MS) {
      const before = state.blocked;
      state.blocked = await findBlocked(this.#deps.client, pod, nowMs);
      state.configured = state.blocked === undefined;
      this.#tellBlocked(pod, before, state.blocked);
    }
    if (!state.blocked?.volume) return false;
    this.#wakeAfter(uid, state, RECHECK_MS);
    return true;
  }

  #tellBlocked(pod: Pod, before: Blocked | undefined, now: Blocked | undefined): void {
    if (!now?.volume || before?.volume?.problem === now.volume.problem) return;
    const message = `MountVolume.SetUp failed for volume "${now.volume.name}" : ${now.volume.problem}`;
    this.#deps.tell(pod, { type: 'Warning', reason: 'FailedMount', message });
  }

  async #act(uid: string, state: PodState, pod: Pod, plan: PodPlan): Promise<void> {
    // What ended since the last pass is told before the next run takes its place.
    if (plan.actions.length > 0) this.#tellEvents(uid, state, pod);
    for (const action of plan.actions) this.#containers.carryOut(uid, pod, action);
    this.#tellEvents(uid, state, pod);
    if (plan.actions.length > 0) {
      // The status follows from what the actions made of the containers: look again first.
      state.dirty = true;
      return;
    }
    state.timer?.();
    if (plan.requeueAfterMs !== undefined) this.#wakeAfter(uid, state, plan.requeueAfterMs);
    if (plan.status) await this.#publish(state, pod, plan.status);
    if (plan.remove && !state.deleted) await this.#delete(uid, state, pod);
  }

  async #publish(state: PodState, pod: Pod, status: PodStatus): Promise<void> {
    const revision = await this.#writes.publish(pod, status);
    if (revision === undefined) return;
    state.published = status;
    state.publishedRevision = revision;
    delete state.foreignSinceMs;
  }

  async #delete(uid: string, state: PodState, pod: Pod): Promise<void> {
    await this.#writes.delete(pod);
    state.deleted = true;
    this.#containers.forget(uid);
  }

  /** The object is gone: end what still runs, at once, and forget the pod. */
  #sweep(uid: string): void {
    if (!this.#containers.endAll(uid)) return;
    const state = this.#states.get(uid);
    state?.timer?.();
    state?.deadline?.();
    this.#states.delete(uid);
  }

  #admit(state: PodState, pod: Pod): void {
    state.admitted = true;
    if (pod.metadata.deletionTimestamp || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return;
    const refusal = this.#deps.admit(pod, this.#accepted(state));
    if (!refusal) return;
    state.failure = refusal;
    this.#deps.tell(pod, { type: 'Warning', reason: refusal.reason, message: refusal.message });
  }

  /** The other pods of the node, with what they were given. */
  #accepted(state: PodState): Pod[] {
    return [...this.#states.values()]
      .filter((other) => other !== state && other.admitted && !other.failure && other.pod)
      .map((other) => allocatedPod(other.pod as Pod, this.#deps.runtime.pod(other.pod?.metadata.uid as string)));
  }

  /** spec.activeDeadlineSeconds ends the pod as a whole. */
  #expire(uid: string, state: PodState, pod: Pod): void {
    const limit = pod.spec.activeDeadlineSeconds;
    if (limit === undefined || state.failure || !this.#deps.runtime.pod(uid)) return;
    const started = pod.status?.startTime ? Date.parse(pod.status.startTime) : state.acceptedAtMs;
    const left = started + limit * 1000 - this.#nowMs();
    if (left > 0) {
      state.deadline ??= this.#deps.clock.setTimer(left, () => this.wake(uid));
      return;
    }
    state.failure = { reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than the specified deadline' };
  }

  #noteForeign(state: PodState, pod: Pod): void {
    if (!state.published || Number(pod.metadata.resourceVersion) <= state.publishedRevision) return;
    if (!statusDiffers(pod.status, state.published)) delete state.foreignSinceMs;
    else state.foreignSinceMs ??= this.#nowMs();
  }

  #tellEvents(uid: string, state: PodState, pod: Pod): void {
    const news = this.#containers.news(uid, state.pod, state.told);
    if (!news) return;
    state.told = news.told;
    for (const event of news.events) this.#deps.tell(pod, event);
  }

  #wakeAfter(uid: string, state: PodState, ms: number): void {
    state.timer?.();
    state.timer = this.#deps.clock.setTimer(ms, () => this.wake(uid));
  }

  #nowMs(): number {
    return this.#deps.clock.now().getTime();
  }
}
