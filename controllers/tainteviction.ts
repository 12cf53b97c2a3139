/**
 * Evicts pods from nodes with NoExecute taints that they do not tolerate, or not for ever. Mirrors upstream `pkg/controller/tainteviction`.
 *
 * Invariant: a pod is deleted only while our copy of its node carries the taint, and not before it could stay `tolerationSeconds` since this process first saw both together (nor since
 * the taint was added, if that is later). So neither a loop started again nor a whole cluster started again evicts at once.
 */
import { tolerates } from '../machinery/api/toleration.ts';
import type { Node, Pod, Taint } from '../machinery/api/types/core.v1.ts';
import { BY_NODE } from '../machinery/client/informer.ts';
import { nodes, pods } from '../machinery/client/resource-type.ts';
import type { PlannedController } from '../machinery/loop/controller.ts';
import { NOTHING, type Plan } from '../machinery/loop/plan.ts';
import { watchFor, watchMapped } from '../machinery/loop/watches.ts';
import type { Clock } from '../machinery/process/clock.ts';
import { patchCondition, podCondition } from './pods.ts';

const COMPONENT = 'taint-eviction-controller';

export interface ObservedTaintedPod {
  readonly pod: Pod;
  readonly taints: readonly Taint[];
  /** How long this process has seen the pod beside these taints. */
  readonly seenMs: number;
  /** An eviction was due before, and is not any more. */
  readonly reprieved: boolean;
}

export function taintEvictionController(clock: Pick<Clock, 'monotonicMs'>): PlannedController<ObservedTaintedPod> {
  /** Since when the eviction of a pod has been due. */
  const since = new Map<string, { readonly uid: string; readonly atMs: number }>();
  return {
    name: 'tainteviction',
    component: COMPONENT,
    watches: [
      watchFor(pods),
      watchMapped<Node>(nodes, function* ({ object, old }, view) {
        if (JSON.stringify(noExecute(object)) === JSON.stringify(noExecute(old))) return;
        for (const pod of view.of(pods).byIndex(BY_NODE, (object ?? old)?.metadata.name ?? ''))
          yield `${pod.metadata.namespace}/${pod.metadata.name}`;
      }),
    ],
    observe(key, view) {
      const pod = view.of(pods).get(key);
      const known = since.get(key);
      const before = known?.uid === pod?.metadata.uid ? known : undefined;
      if (before === undefined) since.delete(key);
      if (pod === undefined) return undefined;
      const taints = pod.spec.nodeName ? noExecute(view.of(nodes).get(pod.spec.nodeName)) : [];
      const leaving = pod.metadata.deletionTimestamp !== undefined;
      const due = !leaving && staysMs(pod, taints) !== undefined;
      if (!due) since.delete(key);
      else if (before === undefined) since.set(key, { uid: pod.metadata.uid ?? '', atMs: clock.monotonicMs() });
      const reprieved = before !== undefined && !due && !leaving;
      return due || reprieved
        ? { pod, taints, seenMs: before === undefined ? 0 : clock.monotonicMs() - before.atMs, reprieved }
        : undefined;
    },
    compare: compareTaintedPod,
  };
}

const noExecute = (node: Node | undefined): readonly Taint[] => (node?.spec.taints ?? []).filter((taint) => taint.effect === 'NoExecute');

/** How long the pod may stay beside the taints; undefined: as long as it likes. */
export function staysMs(pod: Pod, taints: readonly Taint[]): number | undefined {
  let stays: number | undefined;
  for (const taint of taints) {
    const tolerations = (pod.spec.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
    if (tolerations.length === 0) return 0;
    for (const { tolerationSeconds } of tolerations) {
      if (tolerationSeconds !== undefined) stays = Math.min(stays ?? Number.POSITIVE_INFINITY, Math.max(0, tolerationSeconds) * 1000);
    }
  }
  return stays;
}

export function compareTaintedPod({ pod, taints, seenMs, reprieved }: ObservedTaintedPod, now: Date): Plan {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  const event = (message: string) => ({ about: pod, type: 'Normal', reason: 'TaintManagerEviction', message }) as const;
  if (reprieved) return { actions: [], events: [event(`Cancelling deletion of Pod ${namespace}/${name}`)] };
  const stays = staysMs(pod, taints);
  if (stays === undefined || pod.metadata.deletionTimestamp !== undefined) return NOTHING;
  if (seenMs < stays) return { actions: [], requeueAfterMs: stays - seenMs };
  const told = podCondition(pod, 'DisruptionTarget')?.reason === 'DeletionByTaintManager';
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
  };
  return {
    actions: [...(told ? [] : [patchCondition(pod, condition, now)]), { do: 'delete', type: pods, name: { namespace, name }, uid }],
    events: [event(`Marking for deletion Pod ${namespace}/${name}`)],
  };
}
