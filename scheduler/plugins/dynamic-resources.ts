/**
 * Resource claims. A pod that names a claim which does not exist is not even considered; no driver makes devices here, so a claim that is not allocated
 * elsewhere keeps its pod waiting.
 */
import { type Plugin, unresolvable } from '../framework/plugin.ts';
import type { PodInfo } from '../framework/pod-info.ts';
import type { Lookup } from '../framework/snapshot.ts';

const cannotAllocate = unresolvable('cannot allocate all claims');

export const dynamicResources: Plugin = {
  name: 'DynamicResources',
  prefilter: (pod, { lookup }) => {
    const names = claimNames(pod);
    const open = names.some((name) => name !== undefined && !lookup.resourceClaim(pod.namespace, name)?.status?.allocation);
    return open ? { filter: () => cannotAllocate } : {};
  },
  mayHelp: (_pod, event) => event.kind === 'resource-claim' || event.kind === 'own-update',
};

/** Undefined for a claim that its controller has yet to make. */
function claimNames({ pod }: PodInfo): (string | undefined)[] {
  return (pod.spec.resourceClaims ?? []).map(
    (entry) => entry.resourceClaimName ?? pod.status?.resourceClaimStatuses?.find((made) => made.name === entry.name)?.resourceClaimName,
  );
}

/** Whether a pod may be considered at all: every claim it names exists. */
export function hasItsClaims(pod: PodInfo, lookup: Lookup): boolean {
  return claimNames(pod).every((name) => name !== undefined && lookup.resourceClaim(pod.namespace, name) !== undefined);
}
