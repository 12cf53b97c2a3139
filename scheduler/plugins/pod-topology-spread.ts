/**
 * Keeps replicas even over zones, hosts or whatever a constraint names. Hard constraints bound the skew; soft ones, and the built-in defaults for
 * replicas of one thing, weigh. Mirrors upstream `plugins/podtopologyspread`.
 */

import { matches, type Selector, selectorOf } from '../../machinery/api/selector.ts';
import { untolerated } from '../../machinery/api/toleration.ts';
import type { TopologySpreadConstraint } from '../../machinery/api/types/core.v1.ts';
import { HOSTNAME, ZONE } from '../../machinery/api/well-known-labels.ts';
import { defaultSelector } from '../framework/default-selector.ts';
import { matchesRequiredAffinity } from '../framework/node-affinity.ts';
import type { NodeInfo } from '../framework/node-info.ts';
import { MAX_SCORE, type NodeScorer, type Plugin, type Prefiltered, unresolvable, unschedulable } from '../framework/plugin.ts';
import type { PodInfo } from '../framework/pod-info.ts';
import type { Snapshot } from '../framework/snapshot.ts';

const skewed = unschedulable("node(s) didn't match pod topology spread constraints");
const unlabelled = unresolvable("node(s) didn't match pod topology spread constraints (missing required label)");

interface Constraint {
  readonly source: TopologySpreadConstraint;
  readonly selector: Selector;
}

/** What upstream applies to pods without constraints of their own. */
const DEFAULTS: readonly TopologySpreadConstraint[] = [
  { topologyKey: HOSTNAME, whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 3 },
  { topologyKey: ZONE, whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 5 },
];

export const podTopologySpread: Plugin = {
  name: 'PodTopologySpread',
  weight: 2,
  prefilter: (pod, snapshot) => {
    const constraints = constraintsOf(pod, 'DoNotSchedule');
    return constraints.length > 0 ? hardSpread(pod, constraints, snapshot) : {};
  },
  prescore: (pod, nodes, snapshot) => {
    const own = (pod.pod.spec.topologySpreadConstraints ?? []).length > 0;
    const constraints = own ? constraintsOf(pod, 'ScheduleAnyway') : defaultConstraints(pod, snapshot);
    return constraints.length > 0 ? softSpread({ pod, constraints, requireAll: own }, nodes, snapshot) : undefined;
  },
  mayHelp: (pod, event) => {
    if (event.kind === 'pod-added' || event.kind === 'pod-labels' || event.kind === 'pod-removed')
      return event.pod.metadata.namespace === pod.namespace;
    return ['node-added', 'node-labels', 'node-taints', 'own-update'].includes(event.kind);
  },
};

function constraintsOf({ pod }: PodInfo, action: string): Constraint[] {
  return (pod.spec.topologySpreadConstraints ?? [])
    .filter((source) => source.whenUnsatisfiable === action)
    .map((source) => ({ source, selector: selectorOf(source.labelSelector) }));
}

function defaultConstraints(pod: PodInfo, snapshot: Snapshot): Constraint[] {
  const selector = defaultSelector(pod, snapshot.lookup);
  return selector ? DEFAULTS.map((source) => ({ source, selector })) : [];
}

/** Whether a node's pods count for a constraint: by default only nodes that the pod's own node affinity allows. */
function included(pod: PodInfo, { source }: Constraint, { node }: NodeInfo): boolean {
  if (!node) return false;
  if ((source.nodeAffinityPolicy ?? 'Honor') === 'Honor' && !matchesRequiredAffinity(pod.pod, node)) return false;
  return (
    source.nodeTaintsPolicy !== 'Honor' ||
    !untolerated(node.spec?.taints ?? [], pod.pod.spec.tolerations ?? [], ['NoSchedule', 'NoExecute'])
  );
}

/** Every node is included, whatever it is like; most pods ask for nothing. */
const takesAnyNode = ({ pod: { spec } }: PodInfo, { source }: Constraint): boolean =>
  spec.nodeSelector === undefined && spec.affinity?.nodeAffinity === undefined && source.nodeTaintsPolicy !== 'Honor';

const labelOf = (node: NodeInfo, key: string): string | undefined => (Object.hasOwn(node.labels, key) ? node.labels[key] : undefined);

interface Domains {
  /** Matching pods by value of the topology key. */
  readonly counts: Map<string, number>;
}

function hardSpread(pod: PodInfo, constraints: readonly Constraint[], snapshot: Snapshot): Prefiltered {
  const domains: Domains[] = constraints.map(() => ({ counts: new Map() }));
  const onNodes = constraints.map(({ selector }) => snapshot.podCounts(pod.namespace, selector));
  for (const node of snapshot.nodes) {
    if (constraints.some(({ source }) => labelOf(node, source.topologyKey) === undefined)) continue;
    for (const [i, constraint] of constraints.entries()) {
      if (!included(pod, constraint, node)) continue;
      add(domains[i] as Domains, labelOf(node, constraint.source.topologyKey) as string, onNodes[i]?.get(node.name) ?? 0);
    }
  }
  const move = (other: PodInfo, node: NodeInfo, sign: 1 | -1): void => {
    for (const [i, constraint] of constraints.entries()) {
      const value = labelOf(node, constraint.source.topologyKey);
      if (value === undefined || other.namespace !== pod.namespace || other.pod.metadata.deletionTimestamp) continue;
      if (matches(constraint.selector, other.labels) && included(pod, constraint, node)) add(domains[i] as Domains, value, sign);
    }
  };
  return {
    filter: (node) => {
      for (const [i, { source, selector }] of constraints.entries()) {
        const value = labelOf(node, source.topologyKey);
        if (value === undefined) return unlabelled;
        const { counts } = domains[i] as Domains;
        const least = counts.size < (source.minDomains ?? 1) ? 0 : Math.min(...counts.values());
        const self = matches(selector, pod.labels) ? 1 : 0;
        if ((counts.get(value) ?? 0) + self - (Number.isFinite(least) ? least : 0) > source.maxSkew) return skewed;
      }
      return undefined;
    },
    addPod: (other, node) => move(other, node, 1),
    removePod: (other, node) => move(other, node, -1),
  };
}

function add({ counts }: Domains, value: string, count: number): void {
  counts.set(value, (counts.get(value) ?? 0) + count);
}

interface SoftSpread {
  readonly pod: PodInfo;
  readonly constraints: readonly Constraint[];
  /** A pod's own constraints look only at nodes with all their labels. */
  readonly requireAll: boolean;
}

function softSpread({ pod, constraints, requireAll }: SoftSpread, nodes: readonly NodeInfo[], snapshot: Snapshot): NodeScorer {
  const lacksLabel = (node: NodeInfo): boolean =>
    requireAll && constraints.some(({ source }) => labelOf(node, source.topologyKey) === undefined);
  const ignored = new Set(nodes.filter(lacksLabel));
  const onNodes = constraints.map(({ selector }) => snapshot.podCounts(pod.namespace, selector));
  const domains = constraints.map(({ source }) => {
    const counts = new Map<string, number>();
    if (source.topologyKey === HOSTNAME) return counts;
    for (const node of nodes) {
      const value = ignored.has(node) ? undefined : labelOf(node, source.topologyKey);
      if (value !== undefined) counts.set(value, 0);
    }
    return counts;
  });
  for (const [i, constraint] of constraints.entries()) {
    const counts = domains[i] as Map<string, number>;
    if (counts.size === 0) continue;
    const anyNode = takesAnyNode(pod, constraint);
    for (const node of snapshot.nodes) {
      const here = onNodes[i]?.get(node.name);
      if (here === undefined) continue;
      const value = labelOf(node, constraint.source.topologyKey);
      const before = value === undefined ? undefined : counts.get(value);
      if (value === undefined || before === undefined || lacksLabel(node) || !(anyNode || included(pod, constraint, node))) continue;
      counts.set(value, before + here);
    }
  }
  const weights = constraints.map(({ source }, i) =>
    Math.log((source.topologyKey === HOSTNAME ? nodes.length - ignored.size : (domains[i] as Map<string, number>).size) + 2),
  );
  return {
    score: (node) => {
      if (ignored.has(node)) return 0;
      let score = 0;
      for (const [i, { source }] of constraints.entries()) {
        const value = labelOf(node, source.topologyKey);
        if (value === undefined) continue;
        const count =
          source.topologyKey === HOSTNAME ? (onNodes[i]?.get(node.name) ?? 0) : ((domains[i] as Map<string, number>).get(value) ?? 0);
        score += count * (weights[i] as number) + (source.maxSkew - 1);
      }
      return Math.round(score);
    },
    normalize: (scores, scored) => normalize(scores, scored, ignored),
  };
}

/** The fewer matching pods the better; nodes without the labels get nothing. */
function normalize(scores: number[], nodes: readonly NodeInfo[], ignored: ReadonlySet<NodeInfo>): void {
  const counted = scores.filter((_, i) => !ignored.has(nodes[i] as NodeInfo));
  const most = Math.max(0, ...counted);
  const least = Math.min(...counted);
  for (const [i, score] of scores.entries()) {
    if (ignored.has(nodes[i] as NodeInfo)) scores[i] = 0;
    else scores[i] = most === 0 ? MAX_SCORE : Math.floor((MAX_SCORE * (most + least - score)) / most);
  }
}
