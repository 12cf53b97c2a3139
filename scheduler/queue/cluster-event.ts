/** What happened in the cluster, as far as it may let a waiting pod in. Mirrors upstream `framework.ClusterEvent`. */
import { deepEqual } from '../../machinery/api/equality.ts';
import type { Node, Pod } from '../../machinery/api/types/core.v1.ts';

export type ClusterEvent =
  | {
      readonly kind: 'node-added' | 'node-labels' | 'node-taints' | 'node-allocatable' | 'node-schedulable' | 'node-other';
      readonly node: Node;
    }
  /** A pod was placed or its labels changed. */
  | { readonly kind: 'pod-added' | 'pod-labels'; readonly pod: Pod }
  /** A placed pod went, or asks for less. */
  | { readonly kind: 'pod-removed' | 'pod-scaled-down'; readonly pod: Pod }
  /** The waiting pod itself changed. */
  | { readonly kind: 'own-update'; readonly pod: Pod }
  | { readonly kind: 'volume' | 'claim' | 'storage-class' | 'namespace' | 'resource-claim' }
  /** Anything may have happened: after a failed binding, or a long wait. */
  | { readonly kind: 'any' };

/** What of a node changed, in the words of the events above. */
export function nodeEvents(node: Node, old: Node | undefined): ClusterEvent[] {
  if (!old) return [{ kind: 'node-added', node }];
  const events: ClusterEvent[] = [];
  const differs = (a: unknown, b: unknown): boolean => !deepEqual(a, b);
  if (differs(node.status?.allocatable, old.status?.allocatable)) events.push({ kind: 'node-allocatable', node });
  if (differs(node.metadata.labels, old.metadata.labels)) events.push({ kind: 'node-labels', node });
  if (differs(node.spec?.taints, old.spec?.taints)) events.push({ kind: 'node-taints', node });
  if ((node.spec?.unschedulable ?? false) !== (old.spec?.unschedulable ?? false)) events.push({ kind: 'node-schedulable', node });
  return events;
}
