/**
 * How fast nodes of a zone may have their pods evicted. Mirrors upstream `node_lifecycle_controller.go` ComputeZoneState and the rate limited taint queues.
 *
 * Invariant: when every node of every zone seems gone it is us who are cut off, and nothing is evicted at all.
 */

import type { Node } from '../../machinery/api/types/core.v1.ts';
import { REGION, ZONE } from '../../machinery/api/well-known-labels.ts';
import type { Informer } from '../../machinery/client/informer.ts';
import { readyStatus } from './taints.ts';

export interface EvictionRates {
  readonly nodeEvictionRate: number;
  readonly secondaryNodeEvictionRate: number;
  readonly unhealthyZoneThreshold: number;
  readonly largeClusterSizeThreshold: number;
}

export type ZoneState = 'normal' | 'partial-disruption' | 'full-disruption';

export function zoneOf(node: Node): string {
  const { labels } = node.metadata;
  return `${labels?.[REGION] ?? ''}/${labels?.[ZONE] ?? ''}`;
}

/** A node that never reported a Ready condition counts as not ready. */
export function zoneStates(nodes: readonly Node[], threshold: number): ReadonlyMap<string, ZoneState> {
  const counts = new Map<string, { ready: number; notReady: number }>();
  for (const node of nodes) {
    const count = counts.get(zoneOf(node)) ?? { ready: 0, notReady: 0 };
    if (readyStatus(node) === 'True') count.ready++;
    else count.notReady++;
    counts.set(zoneOf(node), count);
  }
  return new Map([...counts].map(([zone, count]) => [zone, stateOf(count, threshold)]));
}

export interface CountedZones {
  readonly clusterSize: number;
  readonly states: ReadonlyMap<string, ZoneState>;
}

/**
 * Counts a local copy once for each revision of it. Every node is asked about every few seconds, and changes only every few minutes: counting all of them
 * each time would cost the square of their number.
 */
export function zoneCounter(threshold: number): (copy: Pick<Informer<Node>, 'revision' | 'list'>) => CountedZones {
  let countedAt = -1;
  let counted: CountedZones = { clusterSize: 0, states: new Map() };
  return (copy) => {
    if (copy.revision !== countedAt) {
      const nodes = copy.list();
      counted = { clusterSize: nodes.length, states: zoneStates(nodes, threshold) };
      countedAt = copy.revision;
    }
    return counted;
  };
}

function stateOf({ ready, notReady }: { ready: number; notReady: number }, threshold: number): ZoneState {
  if (ready === 0 && notReady > 0) return 'full-disruption';
  return notReady > 2 && notReady / (notReady + ready) >= threshold ? 'partial-disruption' : 'normal';
}

/** Nodes per second that may be tainted NoExecute in a zone of this state; `all` are the states of all zones. */
export function evictionRate(state: ZoneState, all: Iterable<ZoneState>, clusterSize: number, rates: EvictionRates): number {
  if ([...all].every((other) => other === 'full-disruption')) return 0;
  if (state !== 'partial-disruption') return rates.nodeEvictionRate;
  return clusterSize > rates.largeClusterSizeThreshold ? rates.secondaryNodeEvictionRate : 0;
}
