/**
 * The `subsets` form of a service's endpoints: addresses that share their ports. Mirrors upstream `pkg/api/v1/endpoints/util.go` RepackSubsets.
 *
 * Invariant: the result depends on the set of (address, ready, port) facts only, not on their order.
 * Example: a and b serve 80, b also 443: {a, b: 80}, {b: 443}.
 */
import type { EndpointAddress, EndpointPort, EndpointSubset } from '../../machinery/api/types/core.v1.ts';
import { sortText } from './addresses.ts';

export interface AddressFact {
  readonly address: EndpointAddress;
  readonly ready: boolean;
  /** Empty: the service has no ports, the address counts all the same. */
  readonly ports: readonly EndpointPort[];
}

interface Gathered {
  readonly port: EndpointPort | undefined;
  readonly at: Map<string, AddressFact>;
}

export function repackSubsets(facts: readonly AddressFact[]): EndpointSubset[] {
  const byPort = new Map<string, Gathered>();
  for (const fact of facts) {
    for (const port of fact.ports.length > 0 ? fact.ports : [undefined]) {
      const key = portText(port);
      const gathered = byPort.get(key) ?? { port, at: new Map() };
      gathered.at.set(addressText(fact), fact);
      byPort.set(key, gathered);
    }
  }
  const bySet = new Map<string, { ports: EndpointPort[]; facts: AddressFact[] }>();
  for (const { port, at } of byPort.values()) {
    const keys = [...at.keys()].sort(sortText);
    const key = JSON.stringify(keys);
    const group = bySet.get(key) ?? { ports: [], facts: keys.map((k) => at.get(k)!) };
    if (port !== undefined) group.ports.push(port);
    bySet.set(key, group);
  }
  return [...bySet.entries()].sort(([a], [b]) => sortText(a, b)).map(([, group]) => subsetOf(group));
}

function subsetOf({ ports, facts }: { ports: EndpointPort[]; facts: AddressFact[] }): EndpointSubset {
  const addresses = facts.filter((fact) => fact.ready).map((fact) => fact.address);
  const notReadyAddresses = facts.filter((fact) => !fact.ready).map((fact) => fact.address);
  return {
    ...(addresses.length > 0 && { addresses }),
    ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
    ...(ports.length > 0 && { ports: ports.sort((a, b) => sortText(portText(a), portText(b))) }),
  };
}

const portText = (port: EndpointPort | undefined): string =>
  port ? JSON.stringify([port.name ?? '', port.protocol ?? '', port.port, port.appProtocol ?? '']) : '';
const addressText = ({ address, ready }: AddressFact): string =>
  JSON.stringify([address.ip, address.targetRef?.uid ?? '', address.hostname ?? '', ready]);
