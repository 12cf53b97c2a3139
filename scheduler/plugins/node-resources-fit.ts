/**
 * The sum of requests on a node stays within what it can give. Of the nodes that fit, the one with most left is best (LeastAllocated on cpu and memory).
 */
import type { NodeInfo } from '../framework/node-info.ts';
import { MAX_SCORE, type Plugin, type Rejection } from '../framework/plugin.ts';
import type { PodInfo } from '../framework/pod-info.ts';

const SCORED = ['cpu', 'memory'] as const;

export const nodeResourcesFit: Plugin = {
  name: 'NodeResourcesFit',
  weight: 1,
  prefilter: (pod) => ({ filter: (node) => insufficient(pod, node) }),
  prescore: (pod) => ({ score: (node) => leastAllocated(pod, node) }),
  mayHelp: (pod, event) => {
    switch (event.kind) {
      case 'node-added':
      case 'node-allocatable':
      case 'pod-removed':
      case 'pod-scaled-down':
      case 'own-update':
        return true;
      default:
        return pod.requests.size === 0 && event.kind === 'node-taints';
    }
  },
};

function insufficient(pod: PodInfo, node: NodeInfo): Rejection | undefined {
  const reasons: string[] = [];
  let resolvable = true;
  if (node.pods.size + 1 > node.allowedPods) reasons.push('Too many pods');
  for (const [name, wanted] of pod.requests) {
    if (wanted <= 0) continue;
    const allocatable = node.allocatable.get(name) ?? 0;
    if (wanted <= allocatable - (node.requested.get(name) ?? 0)) continue;
    reasons.push(`Insufficient ${name}`);
    if (wanted > allocatable) resolvable = false;
  }
  return reasons.length > 0 ? { reasons, resolvable } : undefined;
}

function leastAllocated(pod: PodInfo, node: NodeInfo): number {
  let sum = 0;
  let weights = 0;
  for (const name of SCORED) {
    const allocatable = node.allocatable.get(name) ?? 0;
    if (allocatable === 0) continue;
    const wanted = (node.assumedRequested.get(name) ?? 0) + (pod.assumedRequests.get(name) ?? 0);
    sum += wanted > allocatable ? 0 : Math.floor(((allocatable - wanted) * MAX_SCORE) / allocatable);
    weights++;
  }
  return weights === 0 ? 0 : Math.floor(sum / weights);
}
