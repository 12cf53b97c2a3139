/** Nodes on which cpu and memory would be used in like measure are better. Mirrors upstream `noderesources/balanced_allocation.go`. */
import type { NodeInfo } from '../framework/node-info.ts';
import { MAX_SCORE, type Plugin } from '../framework/plugin.ts';
import type { PodInfo } from '../framework/pod-info.ts';

const SCORED = ['cpu', 'memory'] as const;

export const balancedAllocation: Plugin = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  // A pod that asks for nothing cannot unbalance anything.
  prescore: (pod) => (SCORED.some((name) => (pod.requests.get(name) ?? 0) > 0) ? { score: (node) => balance(pod, node) } : undefined),
};

function balance(pod: PodInfo, node: NodeInfo): number {
  const fractions: number[] = [];
  for (const name of SCORED) {
    const allocatable = node.allocatable.get(name) ?? 0;
    if (allocatable === 0) continue;
    fractions.push(Math.min(1, ((node.requested.get(name) ?? 0) + (pod.requests.get(name) ?? 0)) / allocatable));
  }
  let deviation = 0;
  if (fractions.length === 2) deviation = Math.abs(((fractions[0] as number) - (fractions[1] as number)) / 2);
  return Math.floor((1 - deviation) * MAX_SCORE);
}
