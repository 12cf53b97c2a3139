/**
 * How many pods that match a selector run on each node, kept up to date as pods come and go. Spread rules ask this for every pod they place; counting
 * anew each time would look at every pod of the cluster.
 *
 * Invariant: for each remembered selector the counts equal those of counting all pods now; pods that are being deleted do not count.
 */
import { formatSelector, matches, type Selector } from '../../machinery/api/selector.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';

interface Tracked {
  readonly namespace: string;
  readonly selector: Selector;
  /** By node name; nodes without such pods are absent. */
  readonly counts: Map<string, number>;
}

/** Selectors remembered; the one asked for longest ago is forgotten first. */
const MAX_TRACKED = 256;

export class PodCounts {
  readonly #tracked = new Map<string, Tracked>();

  /** The counts of pods in `namespace` that match; `nodes` is looked at only for a selector not asked for before. */
  of(namespace: string, selector: Selector, nodes: Iterable<NodeInfo>): ReadonlyMap<string, number> {
    const key = `${namespace}/${selector.nothing ? '-' : '+'}${formatSelector(selector)}`;
    let tracked = this.#tracked.get(key);
    if (tracked) this.#tracked.delete(key);
    else {
      tracked = { namespace, selector, counts: new Map() };
      for (const node of nodes) for (const pod of node.pods.values()) count(tracked, pod, node.name, 1);
      const oldest = this.#tracked.keys().next();
      if (this.#tracked.size >= MAX_TRACKED && !oldest.done) this.#tracked.delete(oldest.value);
    }
    this.#tracked.set(key, tracked);
    return tracked.counts;
  }

  changed(pod: PodInfo, nodeName: string, sign: 1 | -1): void {
    for (const tracked of this.#tracked.values()) count(tracked, pod, nodeName, sign);
  }
}

function count(tracked: Tracked, pod: PodInfo, nodeName: string, sign: 1 | -1): void {
  if (pod.namespace !== tracked.namespace || pod.pod.metadata.deletionTimestamp || !matches(tracked.selector, pod.labels)) return;
  const next = (tracked.counts.get(nodeName) ?? 0) + sign;
  if (next > 0) tracked.counts.set(nodeName, next);
  else tracked.counts.delete(nodeName);
}
