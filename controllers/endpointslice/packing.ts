/**
 * Spreads the endpoints of a service over slices of at most a hundred, with the fewest writes. Mirrors upstream `endpointslice/reconciler.go`
 * (reconcileByPortMapping, finalize).
 *
 * Invariant: an endpoint that stays wanted stays in the slice it is in; a slice is written only when it differs; there is always at least one slice.
 */
import { deepEqual } from '../../machinery/api/equality.ts';
import type { Endpoint, EndpointPort, EndpointSlice } from '../../machinery/api/types/discovery.k8s.io.v1.ts';

export const MAX_ENDPOINTS = 100;

/** Endpoints that share address family and ports. */
export interface PortGroup {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

export interface Packing {
  /** Slices as they should be; those that were right already are not listed. `was` undefined: to be made. */
  readonly write: readonly {
    readonly was: EndpointSlice | undefined;
    readonly ports: readonly EndpointPort[];
    readonly endpoints: readonly Endpoint[];
  }[];
  readonly remove: readonly EndpointSlice[];
}

interface Draft {
  readonly was: EndpointSlice | undefined;
  readonly ports: readonly EndpointPort[];
  endpoints: Endpoint[];
  changed: boolean;
}

const identityOf = (endpoint: Endpoint): string =>
  `${endpoint.targetRef?.uid ?? ''} ${endpoint.addresses.join(',')} ${endpoint.hostname ?? ''}`;
const portsKey = (ports: readonly EndpointPort[] | null | undefined): string =>
  JSON.stringify([...(ports ?? [])].map((p) => [p.name ?? '', p.protocol ?? '', p.port ?? 0, p.appProtocol ?? '']).sort());

/** `existing` are the slices of one service and one address family. */
export function pack(groups: readonly PortGroup[], existing: readonly EndpointSlice[]): Packing {
  const drafts: Draft[] = [];
  const empty: EndpointSlice[] = [];
  const byPorts = new Map<string, EndpointSlice[]>();
  for (const slice of existing) byPorts.set(portsKey(slice.ports), [...(byPorts.get(portsKey(slice.ports)) ?? []), slice]);
  for (const group of groups) {
    const key = portsKey(group.ports);
    const { kept, dropped } = fit(group, byPorts.get(key) ?? []);
    byPorts.delete(key);
    drafts.push(...kept);
    empty.push(...dropped);
  }
  empty.push(...[...byPorts.values()].flat());
  if (drafts.length === 0) drafts.push({ was: undefined, ports: [], endpoints: [], changed: true });
  const spare = [...empty];
  const write = drafts
    .filter((draft) => draft.changed)
    .map(({ was, ports, endpoints }) => ({ was: was ?? spare.shift(), ports, endpoints })); // a slice to be made takes the place of one to be removed
  return { write, remove: spare };
}

function fit(group: PortGroup, slices: readonly EndpointSlice[]): { kept: Draft[]; dropped: EndpointSlice[] } {
  const wanted = new Map(group.endpoints.map((endpoint) => [identityOf(endpoint), endpoint]));
  const drafts: Draft[] = slices.map((was) => {
    const endpoints: Endpoint[] = [];
    let changed = false;
    for (const endpoint of was.endpoints ?? []) {
      const next = wanted.get(identityOf(endpoint));
      wanted.delete(identityOf(endpoint));
      if (next !== undefined) endpoints.push(next);
      if (next === undefined || !deepEqual(next, endpoint)) changed = true;
    }
    return { was, ports: group.ports, endpoints, changed };
  });
  const rest = [...wanted.values()];
  const dropped = drafts.filter((draft) => draft.endpoints.length === 0).map((draft) => draft.was!);
  const kept = drafts.filter((draft) => draft.endpoints.length > 0);
  for (const draft of kept.filter((d) => d.changed).sort((a, b) => b.endpoints.length - a.endpoints.length)) fill(draft, rest);
  const last = rest.length % MAX_ENDPOINTS;
  const roomy = kept
    .filter((d) => !d.changed && d.endpoints.length + last <= MAX_ENDPOINTS)
    .sort((a, b) => b.endpoints.length - a.endpoints.length)[0];
  if (last > 0 && roomy !== undefined) fill(roomy, rest, last);
  while (rest.length > 0) {
    const made: Draft = { was: undefined, ports: group.ports, endpoints: [], changed: true };
    fill(made, rest);
    kept.push(made);
  }
  return { kept, dropped };
}

function fill(draft: Draft, rest: Endpoint[], most = MAX_ENDPOINTS): void {
  const taken = rest.splice(0, Math.min(most, MAX_ENDPOINTS - draft.endpoints.length));
  if (taken.length === 0) return;
  draft.endpoints = [...draft.endpoints, ...taken];
  draft.changed = true;
}
