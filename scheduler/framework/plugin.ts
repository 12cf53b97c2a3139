/**
 * What a scheduling rule is. Mirrors the extension points of upstream's scheduling framework, in the shape of functions:
 * a plugin looks at the pod once (`prefilter`, `prescore`) and hands out the function that then looks at each node.
 *
 * Invariant: plugins read the snapshot and change nothing, so a decision can be repeated and tested without a cluster.
 */
import type { ClusterEvent } from '../queue/cluster-event.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';
import type { Snapshot } from './snapshot.ts';

/** Why a node, or the cluster, cannot take the pod. */
export interface Rejection {
  readonly reasons: readonly string[];
  /** False: taking other pods away would not help (upstream's UnschedulableAndUnresolvable). */
  readonly resolvable: boolean;
}

export const unschedulable = (...reasons: string[]): Rejection => ({ reasons, resolvable: true });
export const unresolvable = (...reasons: string[]): Rejection => ({ reasons, resolvable: false });

export type NodeFilter = (node: NodeInfo) => Rejection | undefined;

/** What a plugin makes of a pod before it sees nodes. All absent: it has nothing to say about this pod. */
export interface Prefiltered {
  readonly filter?: NodeFilter;
  /** The pod fits nowhere. */
  readonly rejection?: Rejection;
  /** Only these nodes need a look. */
  readonly nodeNames?: ReadonlySet<string>;
  /** Tells the filter that a pod is thought away from, or onto, a node; for preemption. */
  readonly removePod?: (pod: PodInfo, node: NodeInfo) => void;
  readonly addPod?: (pod: PodInfo, node: NodeInfo) => void;
}

export interface NodeScorer {
  /** Any number when `normalize` is there, else 0 to 100. */
  readonly score: (node: NodeInfo) => number;
  /** Brings the scores to 0…100, in place; `nodes` in the same order. */
  readonly normalize?: (scores: number[], nodes: readonly NodeInfo[]) => void;
}

export interface Plugin {
  readonly name: string;
  /** The weight of its score. */
  readonly weight?: number;
  prefilter?(pod: PodInfo, snapshot: Snapshot): Prefiltered;
  prescore?(pod: PodInfo, nodes: readonly NodeInfo[], snapshot: Snapshot): NodeScorer | undefined;
  /** Whether what happened may let a pod in that this plugin rejected. Without it every event may. */
  mayHelp?(pod: PodInfo, event: ClusterEvent): boolean;
}

export const MAX_SCORE = 100;

/** Upstream's DefaultNormalizeScore: the highest score becomes 100; with `reverse` the lowest is best. */
export function normalizeByMaximum(scores: number[], reverse = false): void {
  const highest = Math.max(0, ...scores);
  for (let i = 0; i < scores.length; i++) {
    const scaled = highest === 0 ? 0 : Math.floor((MAX_SCORE * (scores[i] as number)) / highest);
    scores[i] = reverse ? MAX_SCORE - scaled : scaled;
  }
}
