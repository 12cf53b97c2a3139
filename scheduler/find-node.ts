/**
 * The comparison of the scheduler: which node is best for a pod, given a snapshot. Pure but for the draw between equals. Mirrors upstream
 * `schedule_one.go` (findNodesThatFitPod, prioritizeNodes, selectHost).
 */
import type { Random } from '../machinery/process/random.ts';
import type { Diagnosis } from './fit-error.ts';
import type { NodeInfo } from './framework/node-info.ts';
import type { NodeScorer, Plugin, Prefiltered, Rejection } from './framework/plugin.ts';
import type { PodInfo } from './framework/pod-info.ts';
import type { Snapshot } from './framework/snapshot.ts';

export interface FindOptions {
  /** 0: adaptive. */
  readonly percentageOfNodesToScore: number;
  /** Where the look at nodes begins; moves on so that all nodes get their turn. */
  readonly startIndex: number;
}

export interface Found {
  /** Undefined when no node fits. */
  readonly node: NodeInfo | undefined;
  readonly diagnosis: Diagnosis;
  readonly nextStartIndex: number;
  readonly prefiltered: ReadonlyMap<string, Prefiltered>;
}

const MIN_NODES = 100;
const MIN_PERCENTAGE = 5;

/** How many fitting nodes are enough (numFeasibleNodesToFind). */
export function nodesToFind(total: number, percentage: number): number {
  if (total < MIN_NODES) return total;
  const adaptive = percentage > 0 ? percentage : Math.max(MIN_PERCENTAGE, 50 - Math.floor(total / 125));
  return Math.max(MIN_NODES, Math.floor((total * Math.min(adaptive, 100)) / 100));
}

export function findNode(
  pod: PodInfo,
  snapshot: Snapshot,
  profile: readonly Plugin[],
  options: FindOptions & { readonly random: Random },
): Found {
  const prefiltered = new Map<string, Prefiltered>();
  const rejectedBy = new Set<string>();
  let nodeNames: ReadonlySet<string> | undefined;
  const narrowedBy: string[] = [];
  const nodeCount = snapshot.nodes.length;
  for (const plugin of profile) {
    const result = plugin.prefilter?.(pod, snapshot);
    if (!result) continue;
    if (result.rejection) {
      rejectedBy.add(plugin.name);
      const diagnosis: Diagnosis = { nodeCount, rejections: new Map(), prefilterMessage: result.rejection.reasons.join(', '), rejectedBy };
      return { node: undefined, diagnosis, nextStartIndex: options.startIndex, prefiltered };
    }
    prefiltered.set(plugin.name, result);
    if (result.nodeNames) {
      const names = result.nodeNames;
      nodeNames = nodeNames ? new Set([...nodeNames].filter((name) => names.has(name))) : names;
      narrowedBy.push(plugin.name);
    }
  }
  const look = nodeLook(pod, snapshot, prefiltered);
  const nominated = pod.pod.status?.nominatedNodeName ? snapshot.node(pod.pod.status.nominatedNodeName) : undefined;
  if (nominated?.node && (nodeNames?.has(nominated.name) ?? true) && !look(nominated)) {
    return {
      node: nominated,
      diagnosis: { nodeCount, rejections: new Map(), rejectedBy },
      nextStartIndex: options.startIndex,
      prefiltered,
    };
  }
  const { feasible, rejections, looked } = fittingNodes(snapshot, look, { ...options, nodeNames, narrowedBy, rejectedBy });
  const nextStartIndex = nodeCount === 0 ? 0 : (options.startIndex + looked) % nodeCount;
  const diagnosis: Diagnosis = { nodeCount, rejections, rejectedBy };
  const node = feasible.length > 1 ? bestOf(pod, feasible, snapshot, { profile, random: options.random }) : feasible[0];
  return { node, diagnosis, nextStartIndex, prefiltered };
}

interface FitOptions extends FindOptions {
  readonly nodeNames: ReadonlySet<string> | undefined;
  readonly narrowedBy: readonly string[];
  readonly rejectedBy: Set<string>;
}

function fittingNodes(
  snapshot: Snapshot,
  look: Look,
  options: FitOptions,
): { feasible: NodeInfo[]; rejections: Map<string, Rejection>; looked: number } {
  const { nodes } = snapshot;
  const { nodeNames, rejectedBy } = options;
  const feasible: NodeInfo[] = [];
  const rejections = new Map<string, Rejection>();
  const outside: Rejection = {
    reasons: [`node(s) didn't satisfy plugin(s) [${[...options.narrowedBy].sort().join(' ')}]`],
    resolvable: false,
  };
  const enough = nodesToFind(
    nodeNames ? nodes.filter((node) => nodeNames.has(node.name)).length : nodes.length,
    options.percentageOfNodesToScore,
  );
  let looked = 0;
  for (; looked < nodes.length && feasible.length < Math.max(1, enough); looked++) {
    const node = nodes[(options.startIndex + looked) % nodes.length] as NodeInfo;
    if (nodeNames && !nodeNames.has(node.name)) {
      rejections.set(node.name, outside);
      for (const name of options.narrowedBy) rejectedBy.add(name);
      continue;
    }
    const failed = look(node);
    if (!failed) feasible.push(node);
    else {
      rejections.set(node.name, failed.rejection);
      rejectedBy.add(failed.name);
    }
  }
  return { feasible, rejections, looked };
}

interface Failed {
  readonly name: string;
  readonly rejection: Rejection;
}
type Look = (node: NodeInfo) => Failed | undefined;

/** Asks every filter about a node, with and without the pods for which room is kept there. */
function nodeLook(pod: PodInfo, snapshot: Snapshot, prefiltered: ReadonlyMap<string, Prefiltered>): Look {
  const filters = [...prefiltered].flatMap(([name, { filter }]) => (filter ? [{ name, filter }] : []));
  const ask = (node: NodeInfo): Failed | undefined => {
    for (const { name, filter } of filters) {
      const rejection = filter(node);
      if (rejection) return { name, rejection };
    }
    return undefined;
  };
  return (node) => {
    const guests = snapshot
      .nominatedOn(node.name)
      .filter((guest) => guest.uid !== pod.uid && guest.priority >= pod.priority && !node.pods.has(guest.uid));
    if (guests.length === 0) return ask(node);
    for (const guest of guests) {
      node.addPod(guest);
      for (const { addPod } of prefiltered.values()) addPod?.(guest, node);
    }
    const crowded = ask(node);
    for (const guest of guests) {
      node.removePod(guest.uid);
      for (const { removePod } of prefiltered.values()) removePod?.(guest, node);
    }
    return crowded ?? ask(node);
  };
}

/** The node with the highest sum of weighted scores; a draw between equals. */
function bestOf(
  pod: PodInfo,
  nodes: readonly NodeInfo[],
  snapshot: Snapshot,
  { profile, random }: { profile: readonly Plugin[]; random: Random },
): NodeInfo {
  const totals = new Float64Array(nodes.length);
  for (const plugin of profile) {
    const scorer: NodeScorer | undefined = plugin.prescore?.(pod, nodes, snapshot);
    if (!scorer) continue;
    const scores = nodes.map(scorer.score);
    scorer.normalize?.(scores, nodes);
    const weight = plugin.weight ?? 1;
    for (let i = 0; i < scores.length; i++) totals[i] = (totals[i] as number) + weight * (scores[i] as number);
  }
  let best = 0;
  let equals = 1;
  for (let i = 1; i < totals.length; i++) {
    if ((totals[i] as number) > (totals[best] as number)) {
      best = i;
      equals = 1;
    } else if (totals[i] === totals[best] && random.integer(++equals) === 0) best = i;
  }
  return nodes[best] as NodeInfo;
}
