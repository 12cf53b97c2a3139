/**
 * How fast nodes of a zone may have their pods evicted. Mirrors upstream `node_lifecycle_controller.go` ComputeZoneState and the rate limited taint queues.
 *
 * Invariant: when every node of every zone seems gone it is us who are cut off, and nothing is evicted at all.
 */

import type { Node } from '../../machinery/api/types/core.v1.ts';
import { REGION, ZONE } from '../../machinery/api/well-known-labels.ts';
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

/**
 * How many nodes of each zone are ready, kept by the changes: every node is asked about every few seconds, and counting all of them each time would cost the
 * square of their number. A node that never reported a Ready condition counts as not ready.
 */
export class ZoneCounts {
  /** By name of the node: what it was counted as. */
  readonly #counted = new Map<string, { readonly count: { ready: number; notReady: number }; readonly as: 'ready' | 'notReady' }>();
  readonly #zones = new Map<string, { ready: number; notReady: number }>();

  get clusterSize(): number {
    return this.#counted.size;
  }

  change(object: Node | undefined, old: Node | undefined): void {
    const name = (object ?? old)?.metadata.name ?? '';
    const before = this.#counted.get(name);
    if (before) before.count[before.as]--;
    this.#counted.delete(name);
    if (object === undefined) return;
    const zone = zoneOf(object);
    const count = this.#zones.get(zone) ?? { ready: 0, notReady: 0 };
    this.#zones.set(zone, count);
    const as = readyStatus(object) === 'True' ? 'ready' : 'notReady';
    count[as]++;
    this.#counted.set(name, { count, as });
  }

  states(threshold: number): ReadonlyMap<string, ZoneState> {
    const used = [...this.#zones].filter(([, { ready, notReady }]) => ready + notReady > 0);
    return new Map(used.map(([zone, count]) => [zone, stateOf(count, threshold)]));
  }
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
