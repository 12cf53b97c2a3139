/**
 * The conditions of a pod that the kubelet owns. Mirrors upstream `kubelet/status/generate.go`.
 *
 * Invariant: `lastTransitionTime` moves only when the status of a condition changes; conditions of others are left alone.
 */
import { formatTime } from '../machinery/api/time.ts';
import type { ContainerStatus, Pod, PodCondition, PodStatus } from '../machinery/api/types/core.v1.ts';
import { RESIZE_CONDITIONS, type ResizeCondition } from './pod/resize.ts';

/** In upstream's order. PodScheduled belongs to the binding. */
export const OWNED_CONDITIONS = [...RESIZE_CONDITIONS, 'PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady'] as const;

type Wanted = ResizeCondition;

export interface ConditionFacts {
  readonly hasSandbox: boolean;
  readonly resize: readonly ResizeCondition[];
  readonly now: Date;
}

export function podConditions(pod: Pod, status: PodStatus, { hasSandbox, resize, now }: ConditionFacts): PodCondition[] {
  const initialized = initializedCondition(pod, status);
  const containersReady = containersReadyCondition(pod, status);
  const wanted: Wanted[] = [
    ...resize,
    {
      type: 'PodReadyToStartContainers',
      status: hasSandbox && status.phase !== 'Succeeded' && status.phase !== 'Failed' ? 'True' : 'False',
    },
    initialized,
    readyCondition(pod, containersReady),
    containersReady,
  ];
  return wanted.map((condition) => {
    const old = pod.status?.conditions?.find((other) => other.type === condition.type);
    const lastTransitionTime = old?.status === condition.status && old.lastTransitionTime ? old.lastTransitionTime : formatTime(now);
    return {
      ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
      ...condition,
      lastTransitionTime,
    };
  });
}

function initializedCondition(pod: Pod, status: PodStatus): Wanted {
  const inits = pod.spec.initContainers ?? [];
  if (status.phase === 'Succeeded') return { type: 'Initialized', status: 'True', reason: 'PodCompleted' };
  const incomplete = inits.filter((spec) => {
    const found = status.initContainerStatuses?.find((other) => other.name === spec.name);
    return spec.restartPolicy === 'Always' ? found?.started !== true : found?.state?.terminated?.exitCode !== 0;
  });
  if (incomplete.length === 0) return { type: 'Initialized', status: 'True' };
  return {
    type: 'Initialized',
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: ${list(incomplete)}`,
  };
}

function containersReadyCondition(pod: Pod, status: PodStatus): Wanted {
  const type = 'ContainersReady';
  if (status.phase === 'Succeeded') return { type, status: 'False', reason: 'PodCompleted' };
  if (status.phase === 'Failed') return { type, status: 'False', reason: 'PodFailed' };
  const sidecars = (pod.spec.initContainers ?? []).filter((spec) => spec.restartPolicy === 'Always');
  const statuses: ContainerStatus[] = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const unready = [...sidecars, ...pod.spec.containers].filter((spec) => !statuses.find((other) => other.name === spec.name)?.ready);
  if (unready.length === 0) return { type, status: 'True' };
  return { type, status: 'False', reason: 'ContainersNotReady', message: `containers with unready status: ${list(unready)}` };
}

function readyCondition(pod: Pod, containersReady: Wanted): Wanted {
  if (containersReady.status !== 'True') return { ...containersReady, type: 'Ready' };
  const problems: string[] = [];
  for (const { conditionType } of pod.spec.readinessGates ?? []) {
    const condition = pod.status?.conditions?.find((other) => other.type === conditionType);
    if (!condition) problems.push(`corresponding condition of pod readiness gate "${conditionType}" does not exist.`);
    else if (condition.status !== 'True')
      problems.push(`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`);
  }
  if (problems.length === 0) return { type: 'Ready', status: 'True' };
  return {
    type: 'Ready',
    status: 'False',
    reason: 'ReadinessGatesNotReady',
    message: problems.length > 1 ? `[${problems.join(', ')}]` : (problems[0] as string),
  };
}

const list = (containers: readonly { name: string }[]): string => `[${containers.map((container) => container.name).join(' ')}]`;
