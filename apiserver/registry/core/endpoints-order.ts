/**
 * The canonical form of endpoint subsets: addresses with the same ports together, everything sorted. Mirrors kubernetes `pkg/api/v1/endpoints`
 * RepackSubsets. Two writers of the same endpoints store the same bytes.
 */
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from '../../../machinery/api/types/core.v1.ts';

interface Addressed {
  readonly address: EndpointAddress;
  readonly ready: boolean;
  readonly ports: EndpointPort[];
}

const addressKey = (a: EndpointAddress): string => `${a.ip}\n${a.targetRef?.uid ?? ''}`;
const portKey = (p: EndpointPort): string => JSON.stringify([p.name ?? '', p.protocol ?? '', p.port ?? 0, p.appProtocol ?? '']);

export function repackSubsets(endpoints: Endpoints): void {
  if (endpoints.subsets === undefined) return;
  const subsets = repack(endpoints.subsets);
  // What validation will refuse is left as it came, so that its paths are the client's.
  if (subsets !== undefined) endpoints.subsets = subsets;
}

function repack(subsets: readonly EndpointSubset[]): EndpointSubset[] | undefined {
  const byAddress = new Map<string, Addressed>();
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    if (addresses.length + notReadyAddresses.length === 0) return undefined;
    for (const [list, ready] of [
      [addresses, true],
      [notReadyAddresses, false],
    ] as const) {
      for (const address of list) {
        const key = `${ready ? 1 : 0}${addressKey(address)}`;
        const entry = byAddress.get(key) ?? { address, ready, ports: [] };
        byAddress.set(key, entry);
        for (const port of ports) if (!entry.ports.some((p) => portKey(p) === portKey(port))) entry.ports.push(port);
      }
    }
  }
  const byPorts = new Map<string, { ports: EndpointPort[]; entries: Addressed[] }>();
  for (const entry of byAddress.values()) {
    const ports = [...entry.ports].sort((a, b) => compare(portKey(a), portKey(b)));
    const key = ports.map(portKey).join('\n');
    const group = byPorts.get(key) ?? { ports, entries: [] };
    byPorts.set(key, group);
    group.entries.push(entry);
  }
  return [...byPorts.values()].map(toSubset).sort((a, b) => compare(subsetKey(a), subsetKey(b)));
}

function toSubset({ ports, entries }: { ports: EndpointPort[]; entries: Addressed[] }): EndpointSubset {
  const pick = (ready: boolean): EndpointAddress[] =>
    entries
      .filter((e) => e.ready === ready)
      .map((e) => e.address)
      .sort((a, b) => compare(addressKey(a), addressKey(b)));
  const addresses = pick(true);
  const notReady = pick(false);
  return {
    ...(addresses.length > 0 && { addresses }),
    ...(notReady.length > 0 && { notReadyAddresses: notReady }),
    ...(ports.length > 0 && { ports }),
  };
}

const subsetKey = (s: EndpointSubset): string =>
  JSON.stringify([(s.addresses ?? []).map(addressKey), (s.notReadyAddresses ?? []).map(addressKey), (s.ports ?? []).map(portKey)]);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
