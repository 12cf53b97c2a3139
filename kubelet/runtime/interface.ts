/**
 * What the kubelet asks of whatever runs containers. Mirrors the Container Runtime Interface (CRI), reduced to what the pod worker needs.
 *
 * Invariant: every call only starts work and returns; what came of it is seen in the runtime's state, and `onChange` says whose state to look at.
 * So the worker decides from state alone, and a kubelet that starts beside a living runtime sees the same as one that was there all along.
 */
import type { Container, Pod, ResourceRequirements } from '../../machinery/api/types/core.v1.ts';

export type ContainerRole = 'init' | 'app' | 'ephemeral';
export type ContainerState = 'pulling' | 'pull-failed' | 'create-failed' | 'starting' | 'running' | 'exited';

/** The end of one run of a container. */
export interface ContainerExit {
  readonly id: string;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly exitCode: number;
  readonly signal?: number;
  /** Completed, Error, OOMKilled, ContainerStatusUnknown: upstream's words. */
  readonly reason: string;
  readonly message?: string;
}

export interface RuntimeContainer {
  readonly name: string;
  readonly role: ContainerRole;
  readonly image: string;
  state: ContainerState;
  /** Without the `flyball://` scheme; '' before the first start. */
  id: string;
  imageId: string;
  restarts: number;
  /** When the start of this run was asked for, and when it came about (0 before). */
  readonly requestedAtMs: number;
  startedAtMs: number;
  /** Probe results of the present run. `healthy` is what the liveness and startup probes say. */
  started: boolean;
  ready: boolean;
  healthy: boolean;
  /** Set when state is exited. */
  exit?: ContainerExit;
  /** The run before the present one. */
  previous?: ContainerExit;
  /** Why the last pull failed. */
  pullError?: string;
  pullFailedAtMs?: number;
  /** Why the container cannot be made of what it is given. */
  readonly createError?: string;
  /** Back-offs in force should the pull fail or the run end, as given with the start. */
  readonly pullBackOffMs: number;
  readonly crashBackOffMs: number;
  /** SIGTERM has been sent. */
  stopping?: boolean;
  /** What this run has in fact. Absent where an older kubelet wrote the record. */
  resources?: ResourceRequirements;
  /** A change of `resources` is under way. */
  resizing?: boolean;
  /** Why the kubelet itself ends this run, such as a failed liveness probe. */
  killedBy?: string;
}

/** What the node has set aside for the containers of a pod, by name, and the pod's generation that asked for it. */
export interface Allocation {
  readonly generation: number;
  readonly resources: Readonly<Record<string, ResourceRequirements>>;
}

export interface RuntimePod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly sandboxId: string;
  readonly ip: string;
  readonly createdAtMs: number;
  /** Absent where an older kubelet wrote the record. */
  allocation?: Allocation;
  readonly containers: Map<string, RuntimeContainer>;
}

export interface StartRequest {
  readonly container: Container;
  readonly role: ContainerRole;
  /** How long to wait after a failed pull, and after the end of this run; see `pod/back-off.ts`. */
  readonly pullBackOffMs: number;
  readonly crashBackOffMs: number;
  /** What keeps the container from being made once its image is there. */
  readonly configError?: string;
}

export interface LogLine {
  readonly atMs: number;
  readonly text: string;
  readonly stream: 'stdout' | 'stderr';
}

export interface ContainerLogs {
  readonly lines: readonly LogLine[];
  /** When the next line is due, as far as known now. */
  readonly nextAtMs?: number;
  /** True when no further line can come. */
  readonly ended: boolean;
}

export interface Runtime {
  /** All pods that have a sandbox, running or not. */
  pods(): Iterable<RuntimePod>;
  pod(uid: string): RuntimePod | undefined;
  hasImage(image: string): boolean;
  /** Gives the pod a sandbox with an address. A second call for the same uid does nothing. */
  createSandbox(pod: Pod): void;
  /** Remembers what the pod may use from now on; containers that run keep what they have until they are resized. */
  allocate(uid: string, allocation: Allocation): void;
  /** Gives a running container what is allocated to it, without a restart. */
  resize(uid: string, container: string): void;
  /** Pulls the image if it must, then creates and starts the container. */
  start(pod: Pod, request: StartRequest): void;
  /** Sends SIGTERM, after `graceMs` SIGKILL. A shorter grace than one already running shortens it. */
  stop(uid: string, container: string, graceMs: number, options?: { readonly reason?: string; readonly preStopMs?: number }): void;
  /** Forgets a pod whose containers have all ended: sandbox, address, logs. */
  remove(uid: string): void;
  logs(uid: string, container: string, previous: boolean): ContainerLogs | undefined;
  onChange(listener: (uid: string) => void): void;
  /** Stops all timers. The containers live on in the state file. */
  close(): void;
}
