/**
 * The events a kubelet tells about a pod's containers, in upstream's words: found by comparing what its containers were with what they are.
 * Pure; what is recovered at the start of the process tells nothing.
 */
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import type { RuntimeContainer, RuntimePod } from '../runtime/interface.ts';
import { pullErrorShownMs } from './back-off.ts';

export interface PodEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** The name of the container it is about; none when it is about the pod. */
  readonly container?: string;
}

/** Where the pod has the container, in the words of an event: `spec.containers{web}`. */
export function fieldPathOf(pod: Pod, container: string): string | undefined {
  const { containers, initContainers, ephemeralContainers } = pod.spec;
  const lists = Object.entries({ containers, initContainers, ephemeralContainers });
  const found = lists.find(([, list]) => list?.some(({ name }) => name === container));
  return found && `spec.${found[0]}{${container}}`;
}

/** What has been told of one container. */
export interface Told {
  readonly id: string;
  readonly pullFailedAtMs: number;
  readonly pullBackOffTold: boolean;
  readonly createFailed: boolean;
  readonly crashTold: boolean;
  readonly requestedAtMs: number;
  /** With the time of the request it tells one run from another: a crash may be followed by a run at the same instant. */
  readonly restarts: number;
}

export type ToldPod = ReadonlyMap<string, Told>;

export interface EventsInput {
  readonly runtime: RuntimePod;
  readonly told: ToldPod;
  /** Whether the image was on the node before this container asked for it. */
  readonly present: (container: RuntimeContainer) => boolean;
  /** Whether the ended container waits to be started again. */
  readonly waits: (container: RuntimeContainer) => boolean;
  readonly nowMs: number;
}

export function podEvents(input: EventsInput): { events: PodEvent[]; told: ToldPod } {
  const events: PodEvent[] = [];
  const told = new Map<string, Told>();
  for (const container of input.runtime.containers.values()) {
    const before = input.told.get(container.name);
    const found = [...pullEvents(input, container, before), ...runEvents(input, container, before)];
    events.push(...found.map((event) => ({ ...event, container: container.name })));
    told.set(container.name, toldOf(input, container));
  }
  return { events, told };
}

function toldOf(input: EventsInput, container: RuntimeContainer): Told {
  return {
    id: container.id,
    pullFailedAtMs: container.state === 'pull-failed' ? (container.pullFailedAtMs ?? 0) : 0,
    pullBackOffTold: container.state === 'pull-failed' && inPullBackOff(input, container),
    createFailed: container.state === 'create-failed',
    crashTold: container.state === 'exited' && input.waits(container),
    requestedAtMs: container.requestedAtMs,
    restarts: container.restarts,
  };
}

const inPullBackOff = (input: EventsInput, container: RuntimeContainer): boolean =>
  input.nowMs >= (container.pullFailedAtMs ?? 0) + pullErrorShownMs(container.pullBackOffMs);

function pullEvents(input: EventsInput, container: RuntimeContainer, before: Told | undefined): PodEvent[] {
  const events: PodEvent[] = [];
  if (isAnew(container, before)) {
    if (input.present(container)) {
      events.push({
        type: 'Normal',
        reason: 'Pulled',
        message: `Container image "${container.image}" already present on machine and can be accessed by the pod`,
      });
    } else events.push({ type: 'Normal', reason: 'Pulling', message: `Pulling image "${container.image}"` });
  }
  if (container.state === 'pull-failed') {
    if (before?.pullFailedAtMs !== container.pullFailedAtMs) {
      events.push({
        type: 'Warning',
        reason: 'Failed',
        message: `Failed to pull image "${container.image}": ${container.pullError ?? ''}`,
      });
      events.push({ type: 'Warning', reason: 'Failed', message: 'Error: ErrImagePull' });
    }
    if (!before?.pullBackOffTold && inPullBackOff(input, container)) {
      events.push({ type: 'Normal', reason: 'BackOff', message: `Back-off pulling image "${container.image}"` });
      events.push({ type: 'Warning', reason: 'Failed', message: 'Error: ImagePullBackOff' });
    }
  }
  return events;
}

/** A start that was not told of yet. */
const isAnew = (container: RuntimeContainer, before: Told | undefined): boolean =>
  before?.requestedAtMs !== container.requestedAtMs || before.restarts !== container.restarts;

/** That the image has come, when it had to. */
function pulled(input: EventsInput, container: RuntimeContainer, atMs: number): PodEvent[] {
  if (input.present(container)) return [];
  const tookMs = Math.max(1, Math.round(atMs - container.requestedAtMs));
  const message = `Successfully pulled image "${container.image}" in ${tookMs}ms (${tookMs}ms including waiting).`;
  return [{ type: 'Normal', reason: 'Pulled', message }];
}

function runEvents(input: EventsInput, container: RuntimeContainer, before: Told | undefined): PodEvent[] {
  const events: PodEvent[] = [];
  if (container.state === 'create-failed' && (isAnew(container, before) || !before?.createFailed)) {
    events.push(...pulled(input, container, input.nowMs), {
      type: 'Warning',
      reason: 'Failed',
      message: `Error: ${container.createError}`,
    });
  }
  if (container.id && before?.id !== container.id) {
    events.push(
      ...pulled(input, container, container.startedAtMs),
      { type: 'Normal', reason: 'Created', message: 'Container created' },
      { type: 'Normal', reason: 'Started', message: 'Container started' },
    );
  }
  const crashTold = before?.crashTold && before.id === container.id;
  if (container.state === 'exited' && input.waits(container) && !crashTold && container.crashBackOffMs > 0) {
    const { name, namespace, uid } = input.runtime;
    events.push({
      type: 'Warning',
      reason: 'BackOff',
      message: `Back-off restarting failed container ${container.name} in pod ${name}_${namespace}(${uid})`,
    });
  }
  return events;
}
