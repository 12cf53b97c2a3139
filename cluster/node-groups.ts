/**
 * Which simulated nodes share a kubelet process. A few nodes have a process each, so that one node can be killed or frozen for real; hundreds of processes
 * would be what is measured, so many nodes share processes: each process watches all pods once, whatever the number of its nodes.
 *
 * Worked example: 3 nodes are `kubelet-node-1`, `kubelet-node-2`, `kubelet-node-3`; 1,000 nodes are `kubelet-nodes-1-to-1000`, with 400 for each process
 * `kubelet-nodes-1-to-400`, `kubelet-nodes-401-to-800` and `kubelet-nodes-801-to-1000`.
 */

export interface NodeGroup {
  /** Of the process after `kubelet-`, and of its credentials and files: `node-1`, `nodes-1-to-1000`. */
  readonly name: string;
  /** Name of the node, or of many nodes the part before their number: `node` for node-401, node-402 … */
  readonly base: string;
  readonly first: number;
  readonly count: number;
}

/** Up to so many nodes each have a process of their own. */
export const MOST_ALONE = 10;
/** More nodes share processes of at most so many. */
const MOST_TOGETHER = 5000;

/** Nodes given by name have a process each. */
export function groupNodes(nodes: number | readonly string[], nodesPerKubelet?: number): NodeGroup[] {
  if (typeof nodes !== 'number') return nodes.map((name) => ({ name, base: name, first: 1, count: 1 }));
  const most = nodesPerKubelet ?? (nodes <= MOST_ALONE ? 1 : MOST_TOGETHER);
  if (!(most >= 1)) throw new Error(`nodesPerKubelet must be at least 1, not ${most}`);
  return Array.from({ length: Math.ceil(nodes / most) }, (_, index) => {
    const first = index * most + 1;
    const last = Math.min(nodes, first + most - 1);
    if (first === last) return { name: `node-${first}`, base: `node-${first}`, first, count: 1 };
    return { name: `nodes-${first}-to-${last}`, base: 'node', first, count: last - first + 1 };
  });
}

/** The process `kubelet-nodes-401-to-800` for `node-500`. */
export function sharedProcessOf<T extends { readonly name: string }>(processes: readonly T[], node: string): T | undefined {
  const number = Number(/^node-(\d+)$/.exec(node)?.[1]);
  return processes.find(({ name }) => {
    const [, first, last] = /^kubelet-nodes-(\d+)-to-(\d+)$/.exec(name) ?? [];
    return number >= Number(first) && number <= Number(last);
  });
}
