/**
 * Pods that want to be near, or far from, other pods. Required terms decide, preferred ones weigh; the terms of pods already there count too. Mirrors
 * upstream `plugins/interpodaffinity`.
 */
import type { NodeInfo } from '../framework/node-info.ts';
import { MAX_SCORE, type NodeScorer, type Plugin, type Prefiltered, unresolvable, unschedulable } from '../framework/plugin.ts';
import { type AffinityTerm, type PodInfo, termMatches } from '../framework/pod-info.ts';
import type { Snapshot } from '../framework/snapshot.ts';

const noAffinity = unresolvable("node(s) didn't match pod affinity rules");
const ownAnti = unschedulable("node(s) didn't match pod anti-affinity rules");
const othersAnti = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules");
/** What a required affinity of a pod already there is worth in scoring. */
const HARD_WEIGHT = 1;

export const interPodAffinity: Plugin = {
  name: 'InterPodAffinity',
  weight: 2,
  prefilter: (pod, snapshot) => {
    const state = new AffinityState(pod, snapshot);
    return state.idle ? {} : state.prefiltered();
  },
  prescore: (pod, nodes, snapshot) => preferences(pod, nodes, snapshot),
  mayHelp: (_pod, event) =>
    ['node-added', 'node-labels', 'pod-added', 'pod-removed', 'pod-labels', 'namespace', 'own-update'].includes(event.kind),
};

/** Counts by topology: `key=value` of a node's label. */
type Topology = Map<string, number>;

class AffinityState {
  readonly #pod: PodInfo;
  readonly #snapshot: Snapshot;
  /** Pods that match all required affinity terms of ours. */
  readonly #affinity: Topology = new Map();
  readonly #anti: Topology = new Map();
  readonly #others: Topology = new Map();

  constructor(pod: PodInfo, snapshot: Snapshot) {
    this.#pod = pod;
    this.#snapshot = snapshot;
    for (const node of snapshot.nodesWithRequiredAntiAffinity) {
      for (const other of node.podsWithRequiredAntiAffinity.values()) this.#countOthers(other, node, 1);
    }
    if (pod.requiredAffinity.length + pod.requiredAntiAffinity.length === 0) return;
    for (const node of snapshot.nodes) for (const other of node.pods.values()) this.#countOwn(other, node, 1);
  }

  /** Nothing to say about any node. */
  get idle(): boolean {
    return this.#pod.requiredAffinity.length + this.#pod.requiredAntiAffinity.length + this.#others.size === 0;
  }

  prefiltered(): Prefiltered {
    const move = (other: PodInfo, node: NodeInfo, sign: 1 | -1): void => {
      this.#countOthers(other, node, sign);
      this.#countOwn(other, node, sign);
    };
    return {
      filter: (node) => {
        if (!this.#affinityHolds(node)) return noAffinity;
        if (this.#pod.requiredAntiAffinity.some((term) => has(this.#anti, node, term.topologyKey))) return ownAnti;
        for (const [key, value] of Object.entries(node.labels)) if ((this.#others.get(`${key}=${value}`) ?? 0) > 0) return othersAnti;
        return undefined;
      },
      addPod: (other, node) => move(other, node, 1),
      removePod: (other, node) => move(other, node, -1),
    };
  }

  #affinityHolds(node: NodeInfo): boolean {
    const terms = this.#pod.requiredAffinity;
    if (terms.some((term) => !Object.hasOwn(node.labels, term.topologyKey))) return false;
    if (terms.every((term) => has(this.#affinity, node, term.topologyKey))) return true;
    // The first of a group that wants to be together may go anywhere.
    return this.#affinity.size === 0 && terms.every((term) => this.#matches(term, this.#pod));
  }

  #countOthers(other: PodInfo, node: NodeInfo, sign: 1 | -1): void {
    for (const term of other.requiredAntiAffinity) if (this.#matches(term, this.#pod)) count(this.#others, node, term.topologyKey, sign);
  }

  #countOwn(other: PodInfo, node: NodeInfo, sign: 1 | -1): void {
    const { requiredAffinity, requiredAntiAffinity } = this.#pod;
    if (requiredAffinity.length > 0 && requiredAffinity.every((term) => this.#matches(term, other))) {
      for (const term of requiredAffinity) count(this.#affinity, node, term.topologyKey, sign);
    }
    for (const term of requiredAntiAffinity) if (this.#matches(term, other)) count(this.#anti, node, term.topologyKey, sign);
  }

  #matches(term: AffinityTerm, pod: PodInfo): boolean {
    return termMatches(term, pod, (namespace) => this.#snapshot.lookup.namespaceLabels(namespace));
  }
}

function count(topology: Topology, node: NodeInfo, key: string, by: number): void {
  if (!Object.hasOwn(node.labels, key)) return;
  const pair = `${key}=${node.labels[key]}`;
  const next = (topology.get(pair) ?? 0) + by;
  if (next === 0) topology.delete(pair);
  else topology.set(pair, next);
}

const has = (topology: Topology, node: NodeInfo, key: string): boolean =>
  Object.hasOwn(node.labels, key) && (topology.get(`${key}=${node.labels[key]}`) ?? 0) > 0;

function preferences(pod: PodInfo, nodes: readonly NodeInfo[], snapshot: Snapshot): NodeScorer | undefined {
  const own = pod.preferredAffinity.length + pod.preferredAntiAffinity.length > 0;
  const weights: Topology = new Map();
  const matches = (term: AffinityTerm, other: PodInfo): boolean =>
    termMatches(term, other, (namespace) => snapshot.lookup.namespaceLabels(namespace));
  for (const node of own ? snapshot.nodes : snapshot.nodesWithAffinity) {
    for (const other of (own ? node.pods : node.podsWithAffinity).values()) {
      for (const term of pod.preferredAffinity) if (matches(term, other)) count(weights, node, term.topologyKey, term.weight);
      for (const term of pod.preferredAntiAffinity) if (matches(term, other)) count(weights, node, term.topologyKey, -term.weight);
      for (const term of other.requiredAffinity) if (matches(term, pod)) count(weights, node, term.topologyKey, HARD_WEIGHT);
      for (const term of other.preferredAffinity) if (matches(term, pod)) count(weights, node, term.topologyKey, term.weight);
      for (const term of other.preferredAntiAffinity) if (matches(term, pod)) count(weights, node, term.topologyKey, -term.weight);
    }
  }
  if (weights.size === 0 || nodes.length === 0) return undefined;
  const keys = new Set([...weights.keys()].map((pair) => pair.slice(0, pair.indexOf('='))));
  return {
    score: (node) =>
      [...keys].reduce((sum, key) => sum + (Object.hasOwn(node.labels, key) ? (weights.get(`${key}=${node.labels[key]}`) ?? 0) : 0), 0),
    normalize: (scores) => {
      const least = Math.min(...scores);
      const span = Math.max(...scores) - least;
      for (const [i, score] of scores.entries()) scores[i] = span === 0 ? 0 : Math.floor((MAX_SCORE * (score - least)) / span);
    },
  };
}
