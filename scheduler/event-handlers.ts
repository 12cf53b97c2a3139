/**
 * What changes of pods and nodes mean for the cache and the queue: who holds room, who waits for some, and which of those that wait may have
 * a chance now. Mirrors upstream `eventhandlers.go`.
 */
import { deepEqual } from '../machinery/api/equality.ts';
import type { Node, Pod } from '../machinery/api/types/core.v1.ts';
import type { SchedulerCache } from './cache.ts';
import { podInfo } from './framework/pod-info.ts';
import { defaultProfile } from './framework/profile.ts';
import { type ClusterEvent, nodeEvents } from './queue/cluster-event.ts';
import type { SchedulingQueue } from './queue/scheduling-queue.ts';

export interface Handled {
  readonly cache: SchedulerCache;
  readonly queue: SchedulingQueue;
  /** Pods that name another scheduler are not ours to place. */
  readonly schedulerName: string;
}

export function nodeChanged({ cache, queue }: Handled, node: Node | undefined, old: Node | undefined): void {
  if (!node) {
    cache.removeNode(old?.metadata.name as string);
    return;
  }
  cache.setNode(node);
  for (const event of nodeEvents(node, old)) queue.wake(event);
}

export function podChanged(handled: Handled, pod: Pod | undefined, old: Pod | undefined): void {
  const { cache, queue, schedulerName } = handled;
  if (old && old.metadata.uid !== pod?.metadata.uid) podGone(handled, old);
  if (!pod) return;
  const uid = pod.metadata.uid as string;
  if (pod.spec.nodeName) {
    queue.remove(uid);
    cache.setPod(pod);
    if (!old?.spec.nodeName) queue.wake({ kind: 'pod-added', pod });
    else if (!deepEqual(old.metadata.labels, pod.metadata.labels)) queue.wake({ kind: 'pod-labels', pod });
    else if (old.metadata.generation !== pod.metadata.generation) queue.wake({ kind: 'pod-scaled-down', pod });
    return;
  }
  if ((pod.spec.schedulerName ?? 'default-scheduler') !== schedulerName || pod.metadata.deletionTimestamp) {
    queue.remove(uid);
    return;
  }
  if (pod.status?.nominatedNodeName) cache.nominate(podInfo(pod), pod.status.nominatedNodeName);
  if (!cache.isAssumed(uid)) queue.put(pod);
}

function podGone({ cache, queue }: Handled, pod: Pod): void {
  const uid = pod.metadata.uid as string;
  queue.remove(uid);
  const placed = pod.spec.nodeName || cache.isAssumed(uid);
  cache.removePod(uid);
  if (placed) queue.wake({ kind: 'pod-removed', pod });
}

/** May the change help a pod that these plugins have refused? */
export function mayHelp(pod: Pod, rejectedBy: ReadonlySet<string>, event: ClusterEvent): boolean {
  if (rejectedBy.size === 0) return true;
  const info = podInfo(pod);
  return defaultProfile.some((plugin) => rejectedBy.has(plugin.name) && (plugin.mayHelp?.(info, event) ?? true));
}
