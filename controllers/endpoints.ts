/**
 * Endpoints: the older form of what EndpointSlices show, one object per service. Mirrors upstream `pkg/controller/endpoint`.
 *
 * Invariant: an Endpoints object made by hand (without our managed-by label, and without a selecting service of its name) is never touched.
 */
import { deepEqual } from '../machinery/api/equality.ts';
import { splitKey } from '../machinery/api/object.ts';
import type { EndpointPort, EndpointSubset, Endpoints, Pod, Service } from '../machinery/api/types/core.v1.ts';
import { endpoints, pods, services } from '../machinery/client/resource-type.ts';
import type { PlannedController, View } from '../machinery/loop/controller.ts';
import { NOTHING, type Plan } from '../machinery/loop/plan.ts';
import { watchFor } from '../machinery/loop/watches.ts';
import {
  addressesOf,
  familiesOf,
  HEADLESS,
  hostnameIn,
  isHeadless,
  isListed,
  isSelecting,
  lastTrigger,
  portsOf,
  TRIGGER_TIME,
} from './endpointslice/addresses.ts';
import { type AddressFact, repackSubsets } from './endpointslice/subsets.ts';
import { servicesOfPods } from './endpointslice.ts';
import { isReady } from './pods.ts';

const MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
const MANAGER = 'endpoint-controller';
const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity';
/** An object this large would trouble every reader; slices have no such limit. */
const MAX_ADDRESSES = 1000;

export interface ObservedEndpoints {
  readonly service: Service | undefined;
  readonly pods: readonly Pod[];
  readonly endpoints: Endpoints | undefined;
}

export function endpointsController(workers?: number): PlannedController<ObservedEndpoints> {
  return {
    name: 'endpoints',
    component: 'endpoint-controller',
    ...(workers !== undefined && { workers }),
    watches: [watchFor(services), watchFor(endpoints), servicesOfPods],
    observe: observeEndpoints,
    compare: compareEndpoints,
  };
}

function observeEndpoints(key: string, view: View): ObservedEndpoints | undefined {
  const service = view.of(services).get(key);
  const current = view.of(endpoints).get(key);
  if (service === undefined && current === undefined) return undefined;
  if (service !== undefined && !isSelecting(service)) return undefined;
  const selected = service === undefined ? [] : view.of(pods).byLabels(splitKey(key).namespace, service.spec.selector ?? {});
  return { service, pods: selected, endpoints: current };
}

export function compareEndpoints({ service, pods: selected, endpoints: current }: ObservedEndpoints): Plan {
  if (service === undefined) {
    if (current === undefined || current.metadata.labels?.[MANAGED_BY] !== MANAGER) return NOTHING;
    const name = { namespace: current.metadata.namespace ?? '', name: current.metadata.name ?? '' };
    return { actions: [{ do: 'delete', type: endpoints, name, uid: current.metadata.uid ?? '' }] };
  }
  const { facts, truncated } = capped(factsOf(service, selected));
  const subsets = repackSubsets(facts);
  const labels = { ...service.metadata.labels, ...(isHeadless(service) && { [HEADLESS]: '' }), [MANAGED_BY]: MANAGER };
  if (!isHeadless(service)) delete (labels as Record<string, string>)[HEADLESS];
  const wasTruncated = current?.metadata.annotations?.[OVER_CAPACITY] !== undefined;
  if (
    current !== undefined &&
    deepEqual(current.metadata.labels ?? {}, labels) &&
    sameSubsets(current, subsets) &&
    wasTruncated === truncated
  )
    return NOTHING;
  const annotations: Record<string, string> = { ...current?.metadata.annotations };
  const trigger = lastTrigger(service, selected);
  if (trigger !== undefined) annotations[TRIGGER_TIME] = trigger;
  if (truncated) annotations[OVER_CAPACITY] = 'truncated';
  else delete annotations[OVER_CAPACITY];
  const { name, namespace } = service.metadata;
  const base = current ?? { apiVersion: 'v1', kind: 'Endpoints', metadata: { ...(name && { name }), ...(namespace && { namespace }) } };
  const object: Endpoints = { ...base, metadata: { ...base.metadata, labels, annotations }, subsets };
  return {
    actions: [
      current === undefined
        ? { do: 'create', type: endpoints, object, tolerate: ['NamespaceTerminating'] }
        : { do: 'update', type: endpoints, object },
    ],
  };
}

function factsOf(service: Service, selected: readonly Pod[]): AddressFact[] {
  const [family] = familiesOf(service);
  const always = service.spec.publishNotReadyAddresses === true;
  const facts: AddressFact[] = [];
  for (const pod of selected) {
    const [ip] = addressesOf(pod, family);
    if (ip === undefined || !isListed(pod, always)) continue;
    const ports = portsOf(service, pod).map(({ name, ...port }) => ({ ...(name && { name }), ...port }) as EndpointPort);
    if (ports.length === 0 && (service.spec.ports ?? []).length > 0) continue;
    const hostname = hostnameIn(pod, service);
    const { namespace, name, uid } = pod.metadata;
    const targetRef = { kind: 'Pod', ...(namespace && { namespace }), ...(name && { name }), ...(uid && { uid }) };
    const address = {
      ip,
      ...(hostname !== undefined && { hostname }),
      ...(pod.spec.nodeName && { nodeName: pod.spec.nodeName }),
      targetRef,
    };
    facts.push({ address, ready: always || isReady(pod), ports });
  }
  return facts;
}

/** Ready addresses have precedence when there are too many. */
function capped(facts: AddressFact[]): { facts: AddressFact[]; truncated: boolean } {
  if (facts.length <= MAX_ADDRESSES) return { facts, truncated: false };
  const ordered = [...facts.filter((fact) => fact.ready), ...facts.filter((fact) => !fact.ready)];
  return { facts: ordered.slice(0, MAX_ADDRESSES), truncated: true };
}

function sameSubsets(current: Endpoints, subsets: readonly EndpointSubset[]): boolean {
  const facts = (current.subsets ?? []).flatMap(({ addresses, notReadyAddresses, ports }) => [
    ...(addresses ?? []).map((address) => ({ address, ready: true, ports: ports ?? [] })),
    ...(notReadyAddresses ?? []).map((address) => ({ address, ready: false, ports: ports ?? [] })),
  ]);
  return deepEqual(repackSubsets(facts), subsets);
}
