/**
 * EndpointSlice: the addresses behind each service, in slices of at most a hundred. Mirrors upstream `pkg/controller/endpointslice`.
 *
 * Invariant: it touches only slices that carry its own managed-by label; a service without a selector is nobody's business here.
 */

import { deepEqual } from '../machinery/api/equality.ts';
import { splitKey } from '../machinery/api/object.ts';
import { matches, selectorOf } from '../machinery/api/selector.ts';
import type { Node, Pod, Service } from '../machinery/api/types/core.v1.ts';
import type { Endpoint, EndpointPort, EndpointSlice } from '../machinery/api/types/discovery.k8s.io.v1.ts';
import { SERVICE_NAME, ZONE } from '../machinery/api/well-known-labels.ts';
import { endpointslices, nodes, pods, services } from '../machinery/client/resource-type.ts';
import type { PlannedController, View, Watch } from '../machinery/loop/controller.ts';
import type { Action, Plan } from '../machinery/loop/plan.ts';
import { watchFor } from '../machinery/loop/watches.ts';
import {
  addressesOf,
  type Family,
  familiesOf,
  HEADLESS,
  hostnameIn,
  isHeadless,
  isListed,
  isSelecting,
  lastTrigger,
  portsOf,
  SLICE_MANAGER,
  sortText,
  TRIGGER_TIME,
} from './endpointslice/addresses.ts';
import { type PortGroup, pack } from './endpointslice/packing.ts';
import { controllerReference } from './ownership.ts';
import { isReady } from './pods.ts';

const MANAGER = 'endpointslice-controller.k8s.io';
const RESERVED = new Set([SERVICE_NAME, SLICE_MANAGER, HEADLESS]);

export interface ObservedService {
  readonly service: Service;
  readonly pods: readonly Pod[];
  readonly nodes: ReadonlyMap<string, Node>;
  readonly slices: readonly EndpointSlice[];
}

export function endpointsliceController(workers?: number): PlannedController<ObservedService> {
  return {
    name: 'endpointslice',
    component: 'endpoint-slice-controller',
    ...(workers !== undefined && { workers }),
    watches: [watchFor(services), servicesOfPods, servicesOfSlices(MANAGER)],
    reads: [nodes],
    observe: observeService,
    compare: compareSlices,
  };
}

/** A pod concerns every service that selects it now or did before. */
export const servicesOfPods: Watch<Pod> = {
  type: pods,
  *keysOf({ object, old }, view) {
    for (const service of view.of(services).list((object ?? old)?.metadata.namespace)) {
      const { selector } = service.spec;
      if (selector === undefined) continue;
      const asSelector = selectorOf({ matchLabels: selector });
      if ([object, old].some((pod) => pod !== undefined && matches(asSelector, pod.metadata.labels ?? {}))) {
        yield `${service.metadata.namespace}/${service.metadata.name}`;
      }
    }
  },
};

/** A slice kept by `manager` concerns the service named on it. */
export function servicesOfSlices(manager: string): Watch<EndpointSlice> {
  return {
    type: endpointslices,
    *keysOf({ object, old }) {
      for (const slice of [object, old]) {
        const { [SERVICE_NAME]: name, [SLICE_MANAGER]: keeper } = slice?.metadata.labels ?? {};
        if (name !== undefined && keeper === manager) yield `${slice?.metadata.namespace}/${name}`;
      }
    },
  };
}

function observeService(key: string, view: View): ObservedService | undefined {
  const service = view.of(services).get(key);
  if (service === undefined || !isSelecting(service) || service.metadata.deletionTimestamp !== undefined) return undefined;
  const { namespace, name } = splitKey(key);
  const found = view.of(pods).byLabels(namespace, service.spec.selector ?? {});
  const known = new Map<string, Node>();
  for (const nodeName of new Set(found.map((pod) => pod.spec.nodeName ?? ''))) {
    const node = view.of(nodes).get(nodeName);
    if (node !== undefined) known.set(nodeName, node);
  }
  return {
    service,
    pods: found,
    nodes: known,
    slices: view.of(endpointslices).byLabels(namespace, { [SERVICE_NAME]: name, [SLICE_MANAGER]: MANAGER }),
  };
}

export function compareSlices(observed: ObservedService): Plan {
  const { service, slices } = observed;
  const actions: Action[] = [];
  const families = familiesOf(service);
  for (const family of families) {
    const own = slices.filter((slice) => slice.addressType === family && slice.metadata.deletionTimestamp === undefined);
    const { write, remove } = pack(portGroups(observed, family), own);
    const written = new Set(write.map(({ was }) => was));
    for (const { was, ports, endpoints } of write) actions.push(writeSlice(observed, was, { family, ports, endpoints }));
    for (const slice of own) {
      if (written.has(slice) || remove.includes(slice) || deepEqual(slice.metadata.labels, labelsFor(service))) continue;
      actions.push({
        do: 'update',
        type: endpointslices,
        object: { ...slice, metadata: { ...slice.metadata, labels: labelsFor(service) } },
      });
    }
    actions.push(...remove.map(deleteSlice));
  }
  actions.push(...slices.filter((slice) => !families.includes(slice.addressType as Family)).map(deleteSlice));
  return { actions };
}

const deleteSlice = (slice: EndpointSlice): Action => ({
  do: 'delete',
  type: endpointslices,
  name: { namespace: slice.metadata.namespace ?? '', name: slice.metadata.name ?? '' },
  uid: slice.metadata.uid ?? '',
});

/** Pods of one address family, grouped by the ports they serve; in order of name so that every pass packs alike. */
function portGroups({ service, pods: found, nodes: known }: ObservedService, family: Family): PortGroup[] {
  const groups = new Map<string, { ports: EndpointPort[]; endpoints: Endpoint[] }>();
  for (const pod of [...found].sort((a, b) => sortText(a.metadata.name ?? '', b.metadata.name ?? ''))) {
    const addresses = addressesOf(pod, family).slice(0, 1);
    const node = pod.spec.nodeName ? known.get(pod.spec.nodeName) : undefined;
    const homeless = pod.spec.nodeName && node === undefined && !service.spec.publishNotReadyAddresses;
    if (!isListed(pod, true) || addresses.length === 0 || homeless) continue;
    const ports = portsOf(service, pod);
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    group.endpoints.push(endpointOf(service, pod, addresses, node));
    groups.set(key, group);
  }
  return [...groups.values()];
}

function endpointOf(service: Service, pod: Pod, addresses: string[], node: Node | undefined): Endpoint {
  const serving = isReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const hostname = hostnameIn(pod, service);
  const zone = node?.metadata.labels?.[ZONE];
  const { namespace, name, uid } = pod.metadata;
  return {
    addresses,
    conditions: { ready: service.spec.publishNotReadyAddresses === true || (serving && !terminating), serving, terminating },
    ...(hostname !== undefined && { hostname }),
    targetRef: { kind: 'Pod', ...(namespace && { namespace }), ...(name && { name }), ...(uid && { uid }) },
    ...(pod.spec.nodeName && { nodeName: pod.spec.nodeName }),
    ...(zone && { zone }),
  };
}

/** The labels of the service, and our own. */
function labelsFor(service: Service): Record<string, string> {
  const copied = Object.entries(service.metadata.labels ?? {}).filter(([name]) => !RESERVED.has(name));
  return {
    ...Object.fromEntries(copied),
    ...(isHeadless(service) && { [HEADLESS]: '' }),
    [SLICE_MANAGER]: MANAGER,
    [SERVICE_NAME]: service.metadata.name ?? '',
  };
}

interface Content {
  readonly family: Family;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

function writeSlice(
  { service, pods: found }: ObservedService,
  was: EndpointSlice | undefined,
  { family, ports, endpoints }: Content,
): Action {
  const trigger = lastTrigger(service, found);
  const annotations = { ...was?.metadata.annotations, ...(trigger !== undefined && { [TRIGGER_TIME]: trigger }) };
  const content = { addressType: family, endpoints: [...endpoints], ports: [...ports] };
  if (was !== undefined) {
    return {
      do: 'update',
      type: endpointslices,
      object: { ...was, metadata: { ...was.metadata, annotations, labels: labelsFor(service) }, ...content } as EndpointSlice,
    };
  }
  const metadata = {
    generateName: `${service.metadata.name}-`,
    ...(service.metadata.namespace && { namespace: service.metadata.namespace }),
    annotations,
    labels: labelsFor(service),
    ownerReferences: [controllerReference(services, service)],
  };
  const object: EndpointSlice = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, ...content };
  return { do: 'create', type: endpointslices, object, tolerate: ['NamespaceTerminating'] };
}
