/**
 * Addresses, families and node ports of a service. Mirrors kubernetes `pkg/registry/core/service/storage/alloc.go`, for a cluster with one IPv4 range.
 * Dry runs choose values that are free but take none.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { internalError, invalid } from '../../../machinery/api/status.ts';
import type { Service } from '../../../machinery/api/types/core.v1.ts';
import type { IpRange, PortRange } from '../allocators/ranges.ts';
import { ipClaim, portClaim, type ServiceClaims } from '../allocators/service-claims.ts';
import { storageKey } from '../resource.ts';
import { ipFamily } from '../validation/ip.ts';
import { needsClusterIp, needsHealthCheck, needsNodePort } from './service-fields.ts';
import { clusterIpFieldErrors } from './service-validation.ts';

export interface ServiceAllocators {
  readonly claims: ServiceClaims;
  readonly ips: IpRange;
  readonly ports: PortRange;
}

const refuse = (service: Service, errors: readonly FieldError[]): Error =>
  invalid({ group: '', kind: 'Service' }, service.metadata.name ?? '', errors);

/** Fills what is left open and reserves it. Returns how to give it back. */
export function allocateService(
  { claims, ips, ports }: ServiceAllocators,
  service: Service,
  old: Service | undefined,
  dryRun: boolean,
): (() => void) | undefined {
  if (!service.spec) return undefined;
  const key = storageKey('', 'services', service.metadata.namespace ?? '', service.metadata.name ?? '');
  const taken: string[] = [];
  const undo = (): void => claims.giveBack(taken, key);
  const take: Take = (claim) => {
    if (dryRun) return true;
    if (!claims.reserve(claim, key)) return false;
    taken.push(claim);
    return true;
  };
  try {
    fillFamilies(service, old);
    allocateIps(service, old, { ips, claims, take, dryRun });
    allocatePorts(service, old, { ports: dryRun ? { ...ports, refusal: () => undefined } : ports, claims, take });
  } catch (error) {
    undo();
    throw error;
  }
  return undo;
}

type Take = (claim: string) => boolean;

function fillFamilies(service: Service, old: Service | undefined): void {
  const spec = service.spec!;
  if (spec.type === 'ExternalName') return;
  const selectorless = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= old?.spec?.ipFamilyPolicy ?? (selectorless ? 'RequireDualStack' : 'SingleStack');
  const errors: FieldError[] = [];
  clusterIpFieldErrors(spec, errors);
  if (errors.length > 0) throw refuse(service, errors);
  const single = spec.ipFamilyPolicy === 'SingleStack';
  const why = (what: string): string => `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`;
  if (single && spec.clusterIPs?.length === 2) errors.push(invalidValue('spec.ipFamilyPolicy', spec.ipFamilyPolicy, why('cluster IPs')));
  if (single && spec.ipFamilies?.length === 2) errors.push(invalidValue('spec.ipFamilyPolicy', spec.ipFamilyPolicy, why('IP families')));
  spec.clusterIPs?.forEach((ip, i) => {
    if (ip === 'None' || i < (spec.ipFamilies?.length ?? 0)) return;
    const family = ipFamily(ip)!;
    if (family !== 'IPv4')
      errors.push(invalidValue(`spec.clusterIPs[${i}]`, spec.clusterIPs, `${family} is not configured on this cluster`));
    else spec.ipFamilies = [...(spec.ipFamilies ?? []), family];
  });
  if (errors.length > 0) throw refuse(service, errors);
  if (selectorless) {
    const [first = 'IPv4'] = spec.ipFamilies ?? [];
    if ((spec.ipFamilies?.length ?? 0) < 2) spec.ipFamilies = single ? [first] : [first, first === 'IPv4' ? 'IPv6' : 'IPv4'];
    return;
  }
  if (spec.ipFamilyPolicy === 'RequireDualStack') {
    errors.push(invalidValue('spec.ipFamilyPolicy', spec.ipFamilyPolicy, 'this cluster is not configured for dual-stack services'));
  }
  spec.ipFamilies?.forEach((family, i) => {
    if (family !== 'IPv4') errors.push(invalidValue(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster'));
  });
  if (errors.length > 0) throw refuse(service, errors);
  if ((spec.ipFamilies?.length ?? 0) === 0) spec.ipFamilies = ['IPv4'];
}

interface IpSource {
  readonly ips: IpRange;
  readonly claims: ServiceClaims;
  readonly take: Take;
  readonly dryRun: boolean;
}

function allocateIps(service: Service, old: Service | undefined, { ips, claims, take, dryRun }: IpSource): void {
  const spec = service.spec!;
  if (!needsClusterIp(spec) || spec.clusterIPs?.[0] === 'None') return;
  // The address of a service does not change; validation refuses the attempt.
  if (old?.spec !== undefined && needsClusterIp(old.spec) && old.spec.clusterIPs?.[0] !== undefined) return;
  const asked = spec.clusterIPs?.[0] ?? '';
  if (asked === '') {
    const ip = ips.next(claims);
    if (ip === undefined || !take(ipClaim(ip))) throw internalError('failed to allocate a serviceIP: range is full');
    spec.clusterIP = ip;
    spec.clusterIPs = [ip];
    return;
  }
  const outside = ips.refusal(asked);
  const asDryRun = `the provided IP (${asked}) is not in the valid range. The range of valid IPs is ${ips.cidr}`;
  const why =
    outside !== undefined && dryRun ? asDryRun : (outside ?? (take(ipClaim(asked)) ? undefined : 'provided IP is already allocated'));
  if (why !== undefined)
    throw refuse(service, [invalidValue('spec.clusterIPs', spec.clusterIPs, `failed to allocate IP ${asked}: ${why}`)]);
  spec.clusterIP = asked;
}

interface PortSource {
  readonly ports: PortRange;
  readonly claims: ServiceClaims;
  readonly take: Take;
}

function allocatePorts(service: Service, old: Service | undefined, source: PortSource): void {
  const spec = service.spec!;
  if (needsNodePort(spec)) allocateNodePorts(service, old, source);
  if (!needsHealthCheck(spec)) return;
  const path = 'spec.healthCheckNodePort';
  const kept = old?.spec !== undefined && needsHealthCheck(old.spec);
  if (kept) return;
  const asked = spec.healthCheckNodePort ?? 0;
  if (asked === 0) spec.healthCheckNodePort = nextPort(source);
  else {
    const why = source.ports.refusal(asked) ?? (source.take(portClaim(asked)) ? undefined : 'provided port is already allocated');
    if (why !== undefined) throw internalError(`failed to allocate requested HealthCheck NodePort ${asked}: ${why}`);
  }
  if (!spec.healthCheckNodePort) throw refuse(service, [required(path)]);
}

function allocateNodePorts(service: Service, old: Service | undefined, source: PortSource): void {
  const spec = service.spec!;
  const own = new Set((old?.spec !== undefined && needsNodePort(old.spec) ? (old.spec.ports ?? []) : []).map((p) => p.nodePort ?? 0));
  /** Protocols by number within this service: a number may serve several protocols. */
  const here = new Map<number, Set<string>>();
  const optional = spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === false;
  (spec.ports ?? []).forEach((port, i) => {
    const asked = port.nodePort ?? 0;
    if (asked === 0) return;
    const protocols = here.get(asked) ?? new Set();
    const again = protocols.has(port.protocol ?? 'TCP');
    protocols.add(port.protocol ?? 'TCP');
    const fresh = !here.has(asked);
    here.set(asked, protocols);
    if (!again && (!fresh || own.has(asked))) return;
    const why = source.ports.refusal(asked) ?? (!again && source.take(portClaim(asked)) ? undefined : 'provided port is already allocated');
    if (why !== undefined) throw refuse(service, [invalidValue(`spec.ports[${i}].nodePort`, asked, why)]);
  });
  if (optional) return;
  for (const port of spec.ports ?? []) {
    if (port.nodePort) continue;
    port.nodePort = sharedPort(spec.ports ?? [], port, here) ?? nextPort(source);
    const protocols = here.get(port.nodePort) ?? new Set();
    protocols.add(port.protocol ?? 'TCP');
    here.set(port.nodePort, protocols);
  }
}

/** Ports of the same number and different protocol get one node port between them. */
function sharedPort(
  ports: readonly { port: number; protocol?: string; nodePort?: number }[],
  port: { port: number; protocol?: string },
  here: ReadonlyMap<number, ReadonlySet<string>>,
): number | undefined {
  const twin = ports.find((p) => p !== port && p.port === port.port && p.protocol !== port.protocol && p.nodePort);
  if (twin?.nodePort === undefined) return undefined;
  return here.get(twin.nodePort)?.has(port.protocol ?? 'TCP') === true ? undefined : twin.nodePort;
}

function nextPort({ ports, claims, take }: PortSource): number {
  for (;;) {
    const port = ports.next(claims);
    if (port === undefined) throw internalError('failed to allocate a nodePort: range is full');
    if (take(portClaim(port))) return port;
  }
}
