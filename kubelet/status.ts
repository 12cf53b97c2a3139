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
import { allocatedTo } from './pod/allocation.ts';
import { formatBackOff, pullErrorShownMs } from './pod/back-off.ts';
import { type ResizeProgress, resizeConditions } from './pod/resize.ts';
import type { ContainerExit, ContainerRole, RuntimeContainer, RuntimePod } from './runtime/interface.ts';

export interface StatusInput {
  readonly pod: Pod;
  readonly runtime: RuntimePod | undefined;
  readonly hostIp: string;
  /** When the kubelet first saw the pod. */
  readonly acceptedAtMs: number;
  /** Why the kubelet ended or refused the pod as a whole: Evicted, DeadlineExceeded, OutOfcpu … */
  readonly failure?: { readonly reason: string; readonly message: string };
  /** A resize that the node has no room for. */
  readonly resizePending?: ResizeProgress['pending'];
  readonly now: Date;
}

export const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always';

export function podStatus(input: StatusInput): PodStatus {
  const { pod, runtime, failure } = input;
  const initContainerStatuses = (pod.spec.initContainers ?? []).map((spec) => containerStatus(input, spec, 'init'));
  const containerStatuses = pod.spec.containers.map((spec) => containerStatus(input, spec, 'app'));
  const ephemeralContainerStatuses = (pod.spec.ephemeralContainers ?? []).map((spec) => containerStatus(input, spec, 'ephemeral'));
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
    ...(ephemeralContainerStatuses.length > 0 && { ephemeralContainerStatuses }),
    qosClass: pod.status?.qosClass ?? qosClassOf(pod.spec),
  };
  status.conditions = podConditions(pod, status, {
    hasSandbox: runtime !== undefined,
    resize: resizeConditions(pod, runtime, input.resizePending),
    now: input.now,
  });
  return status;
}

function containerStatus(input: StatusInput, spec: Container, role: ContainerRole): ContainerStatus {
  const container = input.runtime?.containers.get(spec.name);
  const known = published(input.pod, spec.name, role);
  // A container that the runtime no longer knows keeps what was last published about its end.
  if (!container && known?.state?.terminated) return known;
  const running = container?.state === 'running';
  const completed = role === 'init' && !isSidecar(spec) && container?.exit?.exitCode === 0 && container.state === 'exited';
  const state = container ? stateOf(input, spec, container) : notYet(input.pod);
  const last = container && !state.terminated ? (container.exit ?? container.previous) : container?.previous;
  const id = container?.id || (last?.id ?? '');
  // Nobody probes an ephemeral container: it is never ready.
  const serves = running && (role === 'app' || isSidecar(spec));
  return {
    name: spec.name,
    state,
    lastState: last ? { terminated: terminated(last) } : {},
    ready: completed || (serves && container.ready),
    restartCount: container?.restarts ?? known?.restartCount ?? 0,
    image: spec.image ?? '',
    imageID: container?.id ? container.imageId : '',
    ...(id && { containerID: `flyball://${id}` }),
    ...(role !== 'ephemeral' && { started: serves && container.started }),
    ...(container && id && resourceStatus(input, spec, container)),
  };
}

/** What was set aside for the container and what it has; upstream shows both once there is a container. */
function resourceStatus(input: StatusInput, spec: Container, container: RuntimeContainer): Partial<ContainerStatus> {
  const allocated = allocatedTo(input.runtime, spec);
  return {
    ...(allocated.requests && { allocatedResources: allocated.requests }),
    resources: (container.state === 'running' ? container.resources : undefined) ?? allocated,
  };
}

const STATUSES = { init: 'initContainerStatuses', app: 'containerStatuses', ephemeral: 'ephemeralContainerStatuses' } as const;

const published = (pod: Pod, name: string, role: ContainerRole): ContainerStatus | undefined =>
  pod.status?.[STATUSES[role]]?.find((status) => status.name === name);

function stateOf(input: StatusInput, spec: Container, container: RuntimeContainer): ContainerState {
  switch (container.state) {
    case 'running':
      return { running: { startedAt: formatTime(new Date(container.startedAtMs)) } };
    case 'pull-failed':
      return { waiting: pullFailure(input, container) };
    case 'create-failed':
      return { waiting: { reason: 'CreateContainerConfigError', message: container.createError ?? '' } };
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
  if (container.role === 'ephemeral') return false;
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
