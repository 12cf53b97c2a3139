/**
 * Which fields a service of a type uses, and what follows for the others in an update. Mirrors kubernetes `pkg/registry/core/service/strategy.go`
 * and `storage.go`: patchAllocatedValues, normalizeClusterIPs, dropTypeDependentFields.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import type { Service, ServiceSpec } from '../../../machinery/api/types/core.v1.ts';

export const isHeadless = (spec: ServiceSpec): boolean => spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === 'None';
export const needsClusterIp = (spec: ServiceSpec): boolean => spec.type !== 'ExternalName';
/** Of the types whose traffic is proxied. */
export const isProxied = (spec: ServiceSpec): boolean =>
  spec.type === 'ClusterIP' || spec.type === 'NodePort' || spec.type === 'LoadBalancer';
export const needsNodePort = (spec: ServiceSpec): boolean => spec.type === 'NodePort' || spec.type === 'LoadBalancer';
export const needsHealthCheck = (spec: ServiceSpec): boolean => spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
export const isExternal = (spec: ServiceSpec): boolean =>
  needsNodePort(spec) || (spec.type === 'ClusterIP' && (spec.externalIPs?.length ?? 0) > 0);

export function defaultService(service: Service): void {
  service.spec ??= {};
  const { spec, status } = service;
  if (!spec.sessionAffinity) spec.sessionAffinity = 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: 10800 } };
  }
  if (!spec.type) spec.type = 'ClusterIP';
  for (const port of spec.ports ?? []) {
    if (!port.protocol) port.protocol = 'TCP';
    if (port.targetPort === undefined || port.targetPort === null || port.targetPort === 0 || port.targetPort === '')
      port.targetPort = port.port;
  }
  if (isExternal(spec) && !spec.externalTrafficPolicy) spec.externalTrafficPolicy = 'Cluster';
  if (isProxied(spec)) spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') {
    spec.allocateLoadBalancerNodePorts ??= true;
    for (const ingress of status?.loadBalancer?.ingress ?? []) if (ingress.ip) ingress.ipMode ??= 'VIP';
  }
}

/** clusterIP is the singular of clusterIPs. */
export function pairClusterIps(spec: ServiceSpec): void {
  if (spec.clusterIP && (spec.clusterIPs?.length ?? 0) === 0) spec.clusterIPs = [spec.clusterIP];
}

/** Values that were allocated and that the client left out stay; then what the new type has no use for goes. */
export function carryOver(next: ServiceSpec, old: ServiceSpec): void {
  carryAllocated(next, old);
  followClusterIp(next, old);
  dropUnused(next, old);
}

function carryAllocated(next: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIp(old) && needsClusterIp(next)) {
    if (!next.clusterIP && old.clusterIP) next.clusterIP = old.clusterIP;
    if ((next.clusterIPs?.length ?? 0) === 0 && next.clusterIP === old.clusterIP && old.clusterIPs) next.clusterIPs = [...old.clusterIPs];
  }
  if (needsNodePort(old) && needsNodePort(next)) carryNodePorts(next, old);
  if (needsHealthCheck(old) && needsHealthCheck(next) && !next.healthCheckNodePort && old.healthCheckNodePort) {
    next.healthCheckNodePort = old.healthCheckNodePort;
  }
}

/** By port name, unless the number is already in use by another port. */
function carryNodePorts(next: ServiceSpec, old: ServiceSpec): void {
  const nextPorts = new Set((next.ports ?? []).map((p) => p.nodePort ?? 0));
  const used = new Set((old.ports ?? []).map((p) => p.nodePort ?? 0).filter((port) => port > 0 && nextPorts.has(port)));
  const byName = new Map((old.ports ?? []).map((p) => [p.name ?? '', p.nodePort ?? 0]));
  for (const port of next.ports ?? []) {
    if (port.nodePort) continue;
    const known = byName.get(port.name ?? '') ?? 0;
    if (known === 0 || used.has(known)) continue;
    port.nodePort = known;
    used.add(known);
  }
}

function followClusterIp(next: ServiceSpec, old: ServiceSpec): void {
  const same = (next.clusterIPs?.length ?? 0) === 0 || deepEqual(next.clusterIPs, old.clusterIPs);
  if ((old.clusterIP ?? '') === (next.clusterIP ?? '')) {
    pairClusterIps(next);
    return;
  }
  if (!same) return;
  if (next.clusterIP) next.clusterIPs = [next.clusterIP];
  else delete next.clusterIPs;
}

/** Only values that did not change in the same request; others are for validation to refuse. */
function dropUnused(next: ServiceSpec, old: ServiceSpec): void {
  const drop = (used: (spec: ServiceSpec) => boolean, ...members: (keyof ServiceSpec)[]): void => {
    if (!used(old) || used(next)) return;
    for (const member of members) if (deepEqual(next[member], old[member])) delete next[member];
  };
  if (needsClusterIp(old) && !needsClusterIp(next) && deepEqual(next.clusterIPs, old.clusterIPs)) {
    delete next.clusterIP;
    delete next.clusterIPs;
  }
  drop(needsClusterIp, 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy');
  if (needsNodePort(old) && !needsNodePort(next)) {
    const known = new Set((old.ports ?? []).map((p) => p.nodePort ?? 0));
    if ((next.ports ?? []).every((p) => !p.nodePort || known.has(p.nodePort))) for (const port of next.ports ?? []) delete port.nodePort;
  }
  drop(needsHealthCheck, 'healthCheckNodePort');
  drop((spec) => spec.type === 'LoadBalancer', 'allocateLoadBalancerNodePorts', 'loadBalancerClass');
  drop(isExternal, 'externalTrafficPolicy');
}
