/**
 * Gives every node a range of pod addresses out of the cluster's. Mirrors upstream `pkg/controller/nodeipam/ipam` (range allocator).
 *
 * Invariant: no two nodes get the same range. All nodes are one key, so that a range is chosen only when all earlier choices are visible; which ranges are taken
 * is read from the nodes, nothing is remembered.
 */
import type { Node } from '../machinery/api/types/core.v1.ts';
import { nodes } from '../machinery/client/resource-type.ts';
import type { PlannedController } from '../machinery/loop/controller.ts';
import type { Action, Plan, PlannedEvent } from '../machinery/loop/plan.ts';
import { watchMapped } from '../machinery/loop/watches.ts';

const ALL_NODES = 'nodes';

export interface Ranges {
  /** `10.244.0.0/16`. */
  readonly clusterCidr: string;
  readonly nodeCidrMaskSize: number;
}

export function nodeIpamController(ranges: Ranges): PlannedController<readonly Node[]> {
  return {
    name: 'node-ipam',
    component: 'cidrAllocator',
    workers: 1,
    watches: [watchMapped(nodes, () => [ALL_NODES])],
    observe: (_, view) => view.of(nodes).list(),
    compare: (all) => compareRanges(all, ranges),
  };
}

export function compareRanges(all: readonly Node[], { clusterCidr, nodeCidrMaskSize }: Ranges): Plan {
  const [base = '', bits = '0'] = clusterCidr.split('/');
  const size = 2 ** (32 - nodeCidrMaskSize);
  const count = 2 ** Math.max(0, nodeCidrMaskSize - Number(bits));
  const first = addressNumber(base);
  const taken = new Set(all.flatMap((node) => node.spec.podCIDRs ?? (node.spec.podCIDR ? [node.spec.podCIDR] : [])));
  const actions: Action[] = [];
  const events: PlannedEvent[] = [];
  let index = 0;
  for (const node of all) {
    if (node.spec.podCIDR || node.metadata.deletionTimestamp !== undefined) continue;
    while (index < count && taken.has(rangeText(first + index * size, nodeCidrMaskSize))) index++;
    if (index >= count) {
      events.push({
        about: node,
        type: 'Normal',
        reason: 'CIDRNotAvailable',
        message: `Node ${node.metadata.name} status is now: CIDRNotAvailable`,
      });
      continue;
    }
    const range = rangeText(first + index++ * size, nodeCidrMaskSize);
    const { name = '', uid } = node.metadata;
    const patch = { metadata: { uid }, spec: { podCIDR: range, podCIDRs: [range] } };
    actions.push({
      do: 'patch',
      type: nodes,
      name: { name },
      patchType: 'application/strategic-merge-patch+json',
      patch,
      tolerate: ['NotFound', 'Invalid'],
    });
  }
  return { actions, events };
}

const addressNumber = (address: string): number => address.split('.').reduce((number, part) => number * 256 + Number(part), 0);

const rangeText = (number: number, bits: number): string =>
  `${[24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')}/${bits}`;
