/**
 * The status of a pod as the kubelet publishes it: a pure function of the pod and what its containers are. Mirrors upstream
 * `kubelet_pods.go` (getPhase, convertStatusToAPIStatus), `status/generate.go` (conditions).
 *
 * Invariant: a phase of Succeeded or Failed never changes again, whoever set it.
 */

import { qosClassOf } from '../machinery/api/qos.ts';
import { formatTime } from '../machinery/api/time.ts';
import type { Container, ContainerState, ContainerStatus, Pod, PodPhase, PodStatus } from '../machinery/api/types/core.v1.ts';
import { podConditions } from './conditions.ts';
import { formatBackOff, pullErrorShownMs } from './pod/back-off.ts';
import type { ContainerExit, RuntimeContainer, RuntimePod } from './runtime/interface.ts';

export interface StatusInput {
  readonly pod: Pod;
  readonly runtime: RuntimePod | undefined;
  readonly hostIp: string;
  /** When the kubelet first saw the pod. */
  readonly acceptedAtMs: number;
  /** Why the kubelet ended or refused the pod as a whole: Evicted, DeadlineExceeded, OutOfcpu … */
  readonly failure?: { readonly reason: string; readonly message: string };
  /** Containers whose configuration is missing, and why. */
  readonly blocked?: ReadonlyMap<string, string>;
  readonly now: Date;
}

export const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always';

export function podStatus(input: StatusInput): PodStatus {
  const { pod, runtime, failure } = input;
  const initContainerStatuses = (pod.spec.initContainers ?? []).map((spec) => containerStatus(input, spec, 'init'));
  const containerStatuses = pod.spec.containers.map((spec) => containerStatus(input, spec, 'app'));
  const current = pod.status?.phase;
  const ended = current === 'Succeeded' || current === 'Failed';
  const phase: PodPhase = ended ? current : failure ? 'Failed' : phaseOf(input, initContainerStatuses, containerStatuses);
  const ip = runtime?.ip ?? pod.status?.podIP;
  const status: PodStatus = {
    ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
    phase,
    ...(failure ??
      (ended
        ? { ...(pod.status?.message && { message: pod.status.message }), ...(pod.status?.reason && { reason: pod.status.reason }) }
        : {})),
    hostIP: input.hostIp,
    hostIPs: [{ ip: input.hostIp }],
    ...(ip && { podIP: ip, podIPs: [{ ip }] }),
    startTime: pod.status?.startTime ?? formatTime(new Date(input.acceptedAtMs)),
    ...(initContainerStatuses.length > 0 && { initContainerStatuses }),
    containerStatuses,
    qosClass: pod.status?.qosClass ?? qosClassOf(pod.spec),
  };
  status.conditions = podConditions(pod, status, runtime !== undefined, input.now);
  return status;
}

function containerStatus(input: StatusInput, spec: Container, role: 'init' | 'app'): ContainerStatus {
  const container = input.runtime?.containers.get(spec.name);
  const known = published(input.pod, spec.name, role);
  // A container that the runtime no longer knows keeps what was last published about its end.
  if (!container && known?.state?.terminated) return known;
  const running = container?.state === 'running';
  const completed = role === 'init' && !isSidecar(spec) && container?.exit?.exitCode === 0 && container.state === 'exited';
  const problem = container?.state === 'running' ? undefined : input.blocked?.get(spec.name);
  const state = problem
    ? { waiting: { reason: 'CreateContainerConfigError', message: problem } }
    : container
      ? stateOf(input, spec, container)
      : notYet(input.pod);
  const last = container && !state.terminated ? (container.exit ?? container.previous) : container?.previous;
  const id = container?.id || (last?.id ?? '');
  return {
    name: spec.name,
    state,
    lastState: last ? { terminated: terminated(last) } : {},
    ready: completed || (running && (role === 'app' || isSidecar(spec) ? container.ready : false)),
    restartCount: container?.restarts ?? known?.restartCount ?? 0,
    image: spec.image ?? '',
    imageID: container?.id ? container.imageId : '',
    ...(id && { containerID: `flyball://${id}` }),
    started: running && (role === 'app' || isSidecar(spec)) ? container.started : false,
  };
}

const published = (pod: Pod, name: string, role: 'init' | 'app'): ContainerStatus | undefined =>
  (role === 'init' ? pod.status?.initContainerStatuses : pod.status?.containerStatuses)?.find((status) => status.name === name);

function stateOf(input: StatusInput, spec: Container, container: RuntimeContainer): ContainerState {
  switch (container.state) {
    case 'running':
      return { running: { startedAt: formatTime(new Date(container.startedAtMs)) } };
    case 'pull-failed':
      return { waiting: pullFailure(input, container) };
    case 'exited':
      return restartsAfter(input.pod, spec, container) && !stays(input)
        ? { waiting: crashLoop(input.pod, container) }
        : { terminated: terminated(container.exit as ContainerExit) };
    default:
      return notYet(input.pod);
  }
}

const notYet = (pod: Pod): ContainerState => ({
  waiting: { reason: (pod.spec.initContainers?.length ?? 0) > 0 ? 'PodInitializing' : 'ContainerCreating' },
});

/** In a pod that ends, an ended container is shown as ended. A first end is shown as such too: its restart is immediate. */
const stays = (input: StatusInput): boolean =>
  input.pod.metadata.deletionTimestamp !== undefined ||
  input.failure !== undefined ||
  input.pod.status?.phase === 'Failed' ||
  input.pod.status?.phase === 'Succeeded';

/** Whether an ended container is to be started again, by its own or its pod's restart policy. */
export function restartsAfter(pod: Pod, spec: Container, container: RuntimeContainer): boolean {
  const code = container.exit?.exitCode ?? 0;
  if (isSidecar(spec) && container.role === 'init') return true;
  const policy = spec.restartPolicy ?? pod.spec.restartPolicy ?? 'Always';
  if (container.role === 'init') return code !== 0 && policy !== 'Never';
  return policy === 'Always' || (policy === 'OnFailure' && code !== 0);
}

function pullFailure(input: StatusInput, container: RuntimeContainer): { reason: string; message: string } {
  const error = container.pullError ?? '';
  const sinceMs = input.now.getTime() - (container.pullFailedAtMs ?? 0);
  if (sinceMs < pullErrorShownMs(container.pullBackOffMs)) return { reason: 'ErrImagePull', message: error };
  return { reason: 'ImagePullBackOff', message: `Back-off pulling image "${container.image}": ErrImagePull: ${error}` };
}

function crashLoop(pod: Pod, container: RuntimeContainer): { reason: string; message: string } {
  const { namespace, name, uid } = pod.metadata;
  const backOff = formatBackOff(container.crashBackOffMs);
  return {
    reason: 'CrashLoopBackOff',
    message: `back-off ${backOff} restarting failed container=${container.name} pod=${name}_${namespace}(${uid})`,
  };
}

function terminated(exit: ContainerExit): NonNullable<ContainerState['terminated']> {
  return {
    exitCode: exit.exitCode,
    ...(exit.signal !== undefined && { signal: exit.signal }),
    reason: exit.reason,
    ...(exit.message && { message: exit.message }),
    startedAt: formatTime(new Date(exit.startedAtMs)),
    finishedAt: formatTime(new Date(exit.finishedAtMs)),
    containerID: `flyball://${exit.id}`,
  };
}

/** Upstream getPhase. */
function phaseOf(input: StatusInput, inits: readonly ContainerStatus[], apps: readonly ContainerStatus[]): PodPhase {
  const { pod } = input;
  const policy = pod.spec.restartPolicy ?? 'Always';
  for (const [index, status] of inits.entries()) {
    const spec = pod.spec.initContainers?.[index] as Container;
    const end = status.state?.terminated ?? status.lastState?.terminated;
    if (isSidecar(spec)) {
      if (!status.started && !(status.state?.running || end)) return 'Pending';
      continue;
    }
    if (status.state?.terminated?.exitCode === 0) continue;
    if (status.state?.terminated && policy === 'Never') return 'Failed';
    return 'Pending';
  }
  const count = { running: 0, waiting: 0, succeeded: 0, failed: 0 };
  for (const { state, lastState } of apps) {
    if (state?.running) count.running++;
    else if (state?.terminated) count[state.terminated.exitCode === 0 ? 'succeeded' : 'failed']++;
    else if (lastState?.terminated) count[policy === 'Never' ? 'failed' : 'running']++;
    else count.waiting++;
  }
  if (count.waiting > 0) return 'Pending';
  if (count.running > 0) return 'Running';
  if (pod.metadata.deletionTimestamp === undefined) {
    if (policy === 'Always') return 'Running';
    if (policy === 'OnFailure' && count.failed > 0) return 'Running';
  }
  return count.failed > 0 ? 'Failed' : 'Succeeded';
}
