/**
 * A pod that asks for other resources than it has: decided upon, told of and shown in its conditions. Mirrors upstream `kubelet/allocation` (handlePodResourcesResize)
 * and `kubelet/events`.
 *
 * Invariant: what a pod is given fits the node beside what all others were given; until then the pod keeps what it has.
 */
import type { Container, Pod, PodCondition, ResourceRequirements } from '../../machinery/api/types/core.v1.ts';
import type { Runtime, RuntimePod } from '../runtime/interface.ts';
import { asksForResize, isResizing, resourcesOf } from './allocation.ts';
import type { PodEvent } from './pod-events.ts';

export const RESIZE_CONDITIONS = ['PodResizePending', 'PodResizeInProgress'] as const;

/** Why the node does not give a pod what it asks for: `Deferred` (not now) or `Infeasible` (never). */
export interface ResizeRefusal {
  readonly reason: string;
  readonly message: string;
}

/** What is known of a pod's wish; kept from one pass to the next. */
export interface ResizeProgress {
  pending?: ResizeRefusal & { readonly generation: number };
  underWay?: boolean;
}

export interface ResizeDeps {
  readonly runtime: Runtime;
  readonly tell: (event: PodEvent) => void;
  readonly judge: () => ResizeRefusal | undefined;
}

/** Grants or refuses what the pod asks for, and tells of it and of what has come about. */
export function followResize(pod: Pod, progress: ResizeProgress, { runtime, tell, judge }: ResizeDeps): void {
  const uid = pod.metadata.uid as string;
  const known = runtime.pod(uid);
  if (!known?.allocation || known.containers.size === 0) return;
  progress.underWay ??= pod.status?.conditions?.some(({ type }) => type === 'PodResizeInProgress') ?? false;
  if (asksForResize(pod, known)) decide(pod, progress, { runtime, tell, judge });
  else delete progress.pending;
  if (!progress.underWay || isResizing(pod, runtime.pod(uid))) return;
  progress.underWay = false;
  tell({ type: 'Normal', reason: 'ResizeCompleted', message: `Pod resize completed: ${summary(pod, known)}` });
}

function decide(pod: Pod, progress: ResizeProgress, { runtime, tell, judge }: ResizeDeps): void {
  const generation = pod.metadata.generation ?? 0;
  const refusal = judge();
  if (!refusal) {
    const allocation = { generation, resources: resourcesOf(pod) };
    runtime.allocate(pod.metadata.uid as string, allocation);
    delete progress.pending;
    progress.underWay = true;
    tell({ type: 'Normal', reason: 'ResizeStarted', message: `Pod resize started: ${summary(pod, { allocation })}` });
    return;
  }
  const before = progress.pending;
  progress.pending = { ...refusal, generation };
  if (before?.reason === refusal.reason && before.generation === generation) return;
  tell({
    type: 'Warning',
    reason: `Resize${refusal.reason}`,
    message: `Pod resize ${refusal.reason}: ${summary(pod, { allocation: { generation, resources: resourcesOf(pod) } }, refusal.message)}`,
  });
}

/** In one line of JSON what the containers are given. */
function summary(pod: Pod, { allocation }: Pick<RuntimePod, 'allocation'>, error?: string): string {
  const of = (containers: readonly Container[]): { name: string; resources: ResourceRequirements }[] =>
    containers.map(({ name }) => ({ name, resources: inOrder(allocation?.resources[name] ?? {}) }));
  const { initContainers = [], containers } = pod.spec;
  return JSON.stringify({
    ...(initContainers.length > 0 && { initContainers: of(initContainers) }),
    containers: of(containers),
    generation: allocation?.generation,
    ...(error !== undefined && { error }),
  });
}

/** As the API prints it: limits first, names sorted. */
function inOrder({ limits, requests, claims }: ResourceRequirements): ResourceRequirements {
  const sorted = (list: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(list).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { ...(limits && { limits: sorted(limits) }), ...(requests && { requests: sorted(requests) }), ...(claims && { claims }) };
}

export type ResizeCondition = Pick<PodCondition, 'type' | 'status' | 'reason' | 'message' | 'observedGeneration'>;

/** The conditions of a pod whose resize is not done; none when it is. */
export function resizeConditions(pod: Pod, runtime: RuntimePod | undefined, pending: ResizeProgress['pending']): ResizeCondition[] {
  const [waits, goesOn] = RESIZE_CONDITIONS;
  const conditions: ResizeCondition[] = [];
  if (pending) {
    const { reason, message, generation } = pending;
    conditions.push({ type: waits, status: 'True', reason, message, observedGeneration: generation });
  }
  if (runtime?.allocation && isResizing(pod, runtime))
    conditions.push({ type: goesOn, status: 'True', observedGeneration: runtime.allocation.generation });
  return conditions;
}
