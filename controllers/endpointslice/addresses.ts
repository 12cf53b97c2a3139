/**
 * What a pod offers to a service: its addresses and its ports. Mirrors upstream `endpointslice/utils.go` and `endpoints/endpoints_controller.go`.
 * Shared by EndpointSlices and Endpoints, which show the same facts in two forms.
 */
import { isIPv6 } from 'node:net';
import type { Pod, Service, ServicePort } from '../../machinery/api/types/core.v1.ts';
import type { EndpointPort } from '../../machinery/api/types/discovery.k8s.io.v1.ts';
import { isFinished } from '../pods.ts';

export const SLICE_MANAGER = 'endpointslice.kubernetes.io/managed-by';
export const HEADLESS = 'service.kubernetes.io/headless';
export const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';

export type Family = 'IPv4' | 'IPv6';

/** Services whose endpoints we keep: those with a selector that are more than a name. */
export const isSelecting = (service: Service): boolean => service.spec.type !== 'ExternalName' && service.spec.selector !== undefined;

/** Without an address of its own: a client gets the addresses of the pods. */
export const isHeadless = (service: Service): boolean => !service.spec.clusterIP || service.spec.clusterIP === 'None';

/** An address is needed, and a finished pod serves nobody; a terminating one is listed where `includeTerminating` says so. */
export function isListed(pod: Pod, includeTerminating: boolean): boolean {
  if (isFinished(pod) || addressesOf(pod).length === 0) return false;
  return includeTerminating || pod.metadata.deletionTimestamp === undefined;
}

export function addressesOf(pod: Pod, family?: Family): string[] {
  const all = pod.status?.podIPs?.map((entry) => entry.ip) ?? (pod.status?.podIP ? [pod.status.podIP] : []);
  return family === undefined ? all : all.filter((ip) => isIPv6(ip) === (family === 'IPv6'));
}

export function familiesOf(service: Service): readonly Family[] {
  const families = (service.spec.ipFamilies ?? []) as Family[];
  return families.length > 0 ? families : [isIPv6(service.spec.clusterIP ?? '') ? 'IPv6' : 'IPv4'];
}

/** A pod's hostname shows only under the service that its subdomain names. */
export function hostnameIn(pod: Pod, service: Service): string | undefined {
  return pod.spec.hostname && pod.spec.subdomain === service.metadata.name ? pod.spec.hostname : undefined;
}

/** The ports of the service as this pod serves them; a named target that the pod lacks is left out. */
export function portsOf(service: Service, pod: Pod): EndpointPort[] {
  const ports: EndpointPort[] = [];
  for (const wanted of service.spec.ports ?? []) {
    const port = targetPort(pod, wanted);
    if (port === undefined) continue;
    const { appProtocol } = wanted;
    ports.push({ name: wanted.name ?? '', protocol: wanted.protocol ?? 'TCP', port, ...(appProtocol !== undefined && { appProtocol }) });
  }
  return ports;
}

function targetPort(pod: Pod, wanted: ServicePort): number | undefined {
  const target = wanted.targetPort ?? wanted.port;
  if (typeof target === 'number') return target === 0 ? wanted.port : target;
  const sidecars = (pod.spec.initContainers ?? []).filter((container) => container.restartPolicy === 'Always');
  for (const container of [...pod.spec.containers, ...sidecars]) {
    const found = container.ports?.find((port) => port.name === target && (port.protocol ?? 'TCP') === (wanted.protocol ?? 'TCP'));
    if (found !== undefined) return found.containerPort;
  }
  return undefined;
}

export const sortText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The newest moment that a service or one of its pods changed in what is listed; for latency measurements of others. */
export function lastTrigger(service: Service, pods: readonly Pod[]): string | undefined {
  const times = pods.map((pod) => pod.status?.conditions?.find((condition) => condition.type === 'Ready')?.lastTransitionTime);
  return [service.metadata.creationTimestamp, ...times]
    .filter((time) => time !== undefined)
    .sort(sortText)
    .at(-1);
}
