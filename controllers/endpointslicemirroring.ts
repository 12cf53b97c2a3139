/**
 * Shows Endpoints made by hand, for a service without a selector, as EndpointSlices. Mirrors upstream `pkg/controller/endpointslicemirroring`.
 *
 * Invariant: only slices that carry its own managed-by label are touched.
 */

import { isIPv6 } from 'node:net';
import { deepEqual } from '../machinery/api/equality.ts';
import { splitKey } from '../machinery/api/object.ts';
import type { EndpointAddress, EndpointSubset, Endpoints, Service } from '../machinery/api/types/core.v1.ts';
import type { Endpoint, EndpointSlice } from '../machinery/api/types/discovery.k8s.io.v1.ts';
import { LAST_APPLIED, SERVICE_NAME } from '../machinery/api/well-known-labels.ts';
import { endpointslices, endpoints as endpointsType, services } from '../machinery/client/resource-type.ts';
import type { PlannedController, View } from '../machinery/loop/controller.ts';
import type { Action, Plan } from '../machinery/loop/plan.ts';
import { watchFor } from '../machinery/loop/watches.ts';
import { type Family, SLICE_MANAGER, TRIGGER_TIME } from './endpointslice/addresses.ts';
import { type Packing, type PortGroup, pack } from './endpointslice/packing.ts';
import { servicesOfSlices } from './endpointslice.ts';
import { controllerReference } from './ownership.ts';

const MANAGER = 'endpointslicemirroring-controller.k8s.io';
const SKIP = 'endpointslice.kubernetes.io/skip-mirror';
const ELECTION = 'control-plane.alpha.kubernetes.io/leader';
const NOT_COPIED = new Set([TRIGGER_TIME, LAST_APPLIED]);

export interface ObservedMirror {
  readonly service: Service | undefined;
  readonly endpoints: Endpoints | undefined;
  readonly slices: readonly EndpointSlice[];
}

export function endpointslicemirroringController(workers?: number): PlannedController<ObservedMirror> {
  return {
    name: 'endpointslicemirroring',
    component: 'endpoint-slice-mirroring-controller',
    ...(workers !== undefined && { workers }),
    watches: [watchFor(endpointsType), watchFor(services), servicesOfSlices(MANAGER)],
    observe(key: string, view: View) {
      const { namespace, name } = splitKey(key);
      const slices = view.of(endpointslices).byLabels(namespace, { [SERVICE_NAME]: name, [SLICE_MANAGER]: MANAGER });
      return { service: view.of(services).get(key), endpoints: view.of(endpointsType).get(key), slices };
    },
    compare: compareMirror,
  };
}

/** Mirrored are the Endpoints of a service without a selector, unless a label or a leader election says otherwise. */
function isMirrored(service: Service | undefined, endpoints: Endpoints | undefined): endpoints is Endpoints {
  if (endpoints === undefined || service === undefined || service.spec.selector !== undefined) return false;
  if (endpoints.metadata.deletionTimestamp !== undefined) return false;
  return endpoints.metadata.labels?.[SKIP] !== 'true' && endpoints.metadata.annotations?.[ELECTION] === undefined;
}

export function compareMirror({ service, endpoints, slices }: ObservedMirror): Plan {
  if (!isMirrored(service, endpoints)) return { actions: slices.map(removal) };
  const actions: Action[] = [];
  for (const family of ['IPv4', 'IPv6'] as const) {
    const own = slices.filter((slice) => slice.addressType === family);
    const groups = groupsOf(endpoints.subsets ?? [], family);
    const packing: Packing = groups.length === 0 ? { write: [], remove: own } : pack(groups, own);
    for (const { was, ports, endpoints: content } of packing.write)
      actions.push(writing(endpoints, was, { addressType: family, endpoints: [...content], ports: [...ports] }));
    const written = packing.write.map(({ was }) => was);
    for (const slice of own) {
      if (written.includes(slice) || packing.remove.includes(slice) || deepEqual(slice.metadata.labels ?? {}, labelsOf(endpoints)))
        continue;
      actions.push(writing(endpoints, slice, { addressType: family, endpoints: slice.endpoints ?? [], ports: slice.ports ?? [] }));
    }
    actions.push(...packing.remove.map(removal));
  }
  return { actions };
}

function groupsOf(subsets: readonly EndpointSubset[], family: Family): PortGroup[] {
  const groups: PortGroup[] = [];
  for (const { addresses, notReadyAddresses, ports } of subsets) {
    const endpointsIn = (list: readonly EndpointAddress[] | undefined, ready: boolean): Endpoint[] =>
      (list ?? []).filter((address) => isIPv6(address.ip) === (family === 'IPv6')).map((address) => mirrored(address, ready));
    const found = [...endpointsIn(addresses, true), ...endpointsIn(notReadyAddresses, false)];
    if (found.length > 0) groups.push({ ports: (ports ?? []).map((port) => ({ ...port, name: port.name ?? '' })), endpoints: found });
  }
  return groups;
}

function mirrored({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname && { hostname }),
    ...(targetRef && { targetRef }),
    ...(nodeName && { nodeName }),
  };
}

const labelsOf = (endpoints: Endpoints): Record<string, string> => ({
  ...endpoints.metadata.labels,
  [SLICE_MANAGER]: MANAGER,
  [SERVICE_NAME]: endpoints.metadata.name ?? '',
});

function writing(
  endpoints: Endpoints,
  was: EndpointSlice | undefined,
  content: Pick<EndpointSlice, 'addressType' | 'endpoints' | 'ports'>,
): Action {
  const annotations = Object.fromEntries(Object.entries(endpoints.metadata.annotations ?? {}).filter(([name]) => !NOT_COPIED.has(name)));
  const labels = labelsOf(endpoints);
  if (was !== undefined)
    return {
      do: 'update',
      type: endpointslices,
      object: { ...was, metadata: { ...was.metadata, labels, annotations }, ...content } as EndpointSlice,
    };
  const { name, namespace } = endpoints.metadata;
  const ownerReferences = [controllerReference(endpointsType, endpoints)];
  const metadata = { generateName: `${name}-`, ...(namespace && { namespace }), labels, annotations, ownerReferences };
  const object: EndpointSlice = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, ...content };
  return { do: 'create', type: endpointslices, object };
}

const removal = (slice: EndpointSlice): Action => ({
  do: 'delete',
  type: endpointslices,
  name: { namespace: slice.metadata.namespace ?? '', name: slice.metadata.name ?? '' },
  uid: slice.metadata.uid ?? '',
});
