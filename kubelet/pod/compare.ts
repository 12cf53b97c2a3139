/**
 * What has to happen to one pod now: a pure comparison of what its object asks for with what its containers are. Mirrors upstream
 * `kuberuntime.computePodActions` and the three states of a pod worker (sync, terminating, terminated).
 *
 * Invariant: the pod object is deleted only after all its containers have ended and the API knows it.
 */
import type { Container, Pod, PodStatus } from '../../machinery/api/types/core.v1.ts';
import type { ContainerRole, RuntimeContainer, RuntimePod, StartRequest } from '../runtime/interface.ts';
import { isSidecar, podStatus, restartsAfter } from '../status.ts';
import { changedFor, needsRestart } from './allocation.ts';
import { type BackOffLimits, nextCrashBackOff, nextPullBackOff, pullErrorShownMs } from './back-off.ts';
import { RECHECK_MS } from './config-check.ts';
import type { ResizeProgress } from './resize.ts';
import { statusDiffers } from './status-patch.ts';

export interface ObservedPod {
  readonly pod: Pod;
  readonly runtime: RuntimePod | undefined;
  readonly hostIp: string;
  readonly acceptedAtMs: number;
  /** The status this kubelet wrote last; undefined when it has not written since its start. */
  readonly published: PodStatus | undefined;
  /** Since when the object shows another status than the one published; undefined while they agree. */
  readonly foreignSinceMs: number | undefined;
  readonly failure: { readonly reason: string; readonly message: string } | undefined;
  readonly limits: BackOffLimits;
  /** Containers whose configuration is missing, and why. */
  readonly blocked?: ReadonlyMap<string, string>;
  /** A resize that the node has no room for. */
  readonly resizePending?: ResizeProgress['pending'];
}

export type PodAction =
  | { readonly do: 'createSandbox' }
  | ({ readonly do: 'start' } & StartRequest)
  | { readonly do: 'resize'; readonly container: string }
  | { readonly do: 'stop'; readonly container: string; readonly graceMs: number; readonly preStopMs: number; readonly reason?: string };

export interface PodPlan {
  readonly actions: readonly PodAction[];
  readonly status?: PodStatus;
  /** Everything has ended and is known: delete the object and forget the pod. */
  readonly remove?: boolean;
  readonly requeueAfterMs?: number;
}

/** A status that is about to change is not written for so long: a pod that becomes Running and Ready at once costs one write. */
const SETTLE_MS = 100;
/** A status changed by somebody else is put right after this time (upstream's status manager looks every 10 s). */
const FOREIGN_MS = 10_000;

export function comparePod(observed: ObservedPod, now: Date): PodPlan {
  const { pod, runtime } = observed;
  const nowMs = now.getTime();
  const status = podStatus({ ...observed, now });
  const terminal = isFinal(status.phase);
  const dying = pod.metadata.deletionTimestamp !== undefined;
  const wakeAt: number[] = observed.resizePending ? [nowMs + RECHECK_MS] : [];
  const actions = dying || terminal ? stopAll(observed, nowMs) : keepRunning(observed, nowMs, wakeAt);
  const running = runtime ? [...runtime.containers.values()].some(isLive) : false;

  const pending = statusWrite(observed, status, nowMs, wakeAt);
  // While it is being stopped nothing is reported; a pod that never ran here has nothing to report.
  const write = pending && !(dying && (running || !runtime)) ? { status } : {};
  if (dying && !running) return { actions, ...write, remove: true };
  const next = Math.min(...wakeAt);
  return { actions, ...write, ...(Number.isFinite(next) && { requeueAfterMs: Math.max(1, next - nowMs) }) };
}

export const isLive = (container: RuntimeContainer): boolean =>
  container.state === 'running' || container.state === 'starting' || container.state === 'pulling';

function statusWrite(observed: ObservedPod, status: PodStatus, nowMs: number, wakeAt: number[]): boolean {
  const known = observed.published ?? observed.pod.status;
  const endedByOthers = observed.published !== undefined && isFinal(observed.pod.status?.phase) && !isFinal(observed.published.phase);
  if (endedByOthers || !statusDiffers(known, status)) {
    if (observed.foreignSinceMs === undefined || !statusDiffers(observed.pod.status, status)) return false;
    const dueAt = observed.foreignSinceMs + FOREIGN_MS;
    if (nowMs < dueAt) wakeAt.push(dueAt);
    return nowMs >= dueAt;
  }
  if (observed.pod.metadata.deletionTimestamp !== undefined) return true;
  const settling = [...(observed.runtime?.containers.values() ?? [])].filter(
    (container) => container.state === 'pulling' || container.state === 'starting',
  );
  const since =
    settling.length > 0
      ? Math.min(...settling.map((container) => container.requestedAtMs))
      : observed.runtime
        ? undefined
        : observed.acceptedAtMs;
  if (since === undefined || nowMs - since >= SETTLE_MS) return true;
  wakeAt.push(since + SETTLE_MS);
  return false;
}

const isFinal = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';

function stopAll(observed: ObservedPod, nowMs: number): PodAction[] {
  const { pod, runtime } = observed;
  if (!runtime) return [];
  // the API cuts it to whole seconds, but a container is promised all of its grace
  const deadline = pod.metadata.deletionTimestamp ? Date.parse(pod.metadata.deletionTimestamp) + 999 : undefined;
  const graceS = pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30;
  const graceMs = deadline === undefined ? graceS * 1000 : Math.max(0, Math.min(graceS * 1000, deadline - nowMs));
  const live = [...runtime.containers.values()].filter((container) => container.state !== 'exited');
  const apps = live.filter((container) => container.role !== 'init');
  // Sidecars outlive the containers they serve and go in the reverse order of their start.
  const targets = apps.length > 0 ? apps : live.slice(-1);
  return targets
    .filter((container) => !container.stopping || graceMs === 0)
    .map((container) => ({ do: 'stop', container: container.name, graceMs, preStopMs: preStopMs(pod, container.name) }));
}

function preStopMs(pod: Pod, name: string): number {
  const spec = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find((other) => other.name === name);
  const hook = spec?.lifecycle?.preStop;
  if (hook?.sleep) return hook.sleep.seconds * 1000;
  const seconds = /^\s*sleep\s+(\d+)/.exec(
    (hook?.exec?.command ?? []).filter((word) => !/^(.*\/)?(ba|a|da)?sh$|^-c$/.test(word)).join(' '),
  )?.[1];
  return seconds ? Number(seconds) * 1000 : 0;
}

function keepRunning(observed: ObservedPod, nowMs: number, wakeAt: number[]): PodAction[] {
  const { pod, runtime } = observed;
  const actions: PodAction[] = runtime ? [] : [{ do: 'createSandbox' }];
  const containers = runtime?.containers ?? new Map<string, RuntimeContainer>();
  // Before the init containers, so that one can look into a pod that does not get past them.
  for (const spec of pod.spec.ephemeralContainers ?? [])
    actions.push(...consider(observed, { spec, container: containers.get(spec.name), role: 'ephemeral' }, nowMs, wakeAt));
  let initialized = true;
  for (const spec of pod.spec.initContainers ?? []) {
    const container = containers.get(spec.name);
    // Once the main containers run, a finished init container is history, whatever became of it.
    const past = pod.spec.containers.some((other) => containers.has(other.name));
    if (isSidecar(spec)) {
      actions.push(...consider(observed, { spec, container, role: 'init' }, nowMs, wakeAt));
      if (!container?.started && !past) initialized = false;
    } else if (!past && !(container?.state === 'exited' && container.exit?.exitCode === 0)) {
      actions.push(...consider(observed, { spec, container, role: 'init' }, nowMs, wakeAt));
      initialized = false;
    }
    if (!initialized) return actions;
  }
  for (const spec of pod.spec.containers)
    actions.push(...consider(observed, { spec, container: containers.get(spec.name), role: 'app' }, nowMs, wakeAt));
  return actions;
}

interface Considered {
  readonly spec: Container;
  readonly container: RuntimeContainer | undefined;
  readonly role: ContainerRole;
}

/** Starts, starts again or ends one container, or says when to look again. */
function consider(observed: ObservedPod, { spec, container, role }: Considered, nowMs: number, wakeAt: number[]): PodAction[] {
  const problem = observed.blocked?.get(spec.name);
  const start: PodAction = {
    do: 'start',
    container: spec,
    role,
    crashBackOffMs: nextCrashBackOff(container, observed.limits),
    pullBackOffMs: nextPullBackOff(container, observed.limits),
    ...(problem !== undefined && { configError: problem }),
  };
  if (!container) return [start];
  if (container.state === 'create-failed') {
    if (container.createError !== problem) return [start];
    wakeAt.push(nowMs + RECHECK_MS);
    return [];
  }
  if (container.state === 'pull-failed') {
    if (spec.imagePullPolicy === 'Never') return [];
    const failedAt = container.pullFailedAtMs ?? 0;
    const retryAt = failedAt + container.pullBackOffMs;
    if (nowMs >= retryAt || container.image !== spec.image) return [start];
    wakeAt.push(
      nowMs < failedAt + pullErrorShownMs(container.pullBackOffMs) ? failedAt + pullErrorShownMs(container.pullBackOffMs) : retryAt,
    );
    return [];
  }
  if (container.state === 'exited') {
    if (!restartsAfter(observed.pod, spec, container)) return [];
    const restartAt = (container.exit?.finishedAtMs ?? 0) + container.crashBackOffMs;
    if (nowMs >= restartAt) return [start];
    wakeAt.push(restartAt);
    return [];
  }
  if (container.state !== 'running' || container.stopping) return [];
  const graceMs = (observed.pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  const stop = (reason: string): PodAction[] => [
    { do: 'stop', container: spec.name, graceMs, preStopMs: preStopMs(observed.pod, spec.name), reason },
  ];
  if (!container.healthy)
    return stop(`Container ${spec.name} failed ${spec.livenessProbe ? 'liveness' : 'startup'} probe, will be restarted`);
  if (container.image !== (spec.image ?? '')) return stop(`Container ${spec.name} definition changed, will be restarted`);
  const changed = container.resizing ? [] : changedFor(observed.runtime, spec, container);
  if (changed.length === 0) return [];
  return needsRestart(spec, changed) ? stop(`Container ${spec.name} resize requires restart`) : [{ do: 'resize', container: spec.name }];
}
