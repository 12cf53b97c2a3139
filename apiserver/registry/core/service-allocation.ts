/**
 * Addresses and families of a service. Mirrors kubernetes `pkg/registry/core/service/storage/alloc.go`, for a cluster with one IPv4 range; ports are
 * in `service-ports.ts`.
 * Dry runs choose values that are free but take none.
 */
import { type FieldError, invalidValue } from '../../../machinery/api/field-error.ts';
import { internalError, invalid } from '../../../machinery/api/status.ts';
import type { Service, ServiceSpec } from '../../../machinery/api/types/core.v1.ts';
import type { IpRange, PortRange } from '../allocators/ranges.ts';
import { ipClaim, type ServiceClaims } from '../allocators/service-claims.ts';
import { storageKey } from '../resource.ts';
import { ipFamily } from '../validation/ip.ts';
import { isProxied, needsClusterIp } from './service-fields.ts';
import { allocatePorts, dryPortOperation, portOperation } from './service-ports.ts';
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
    const operation = dryRun ? dryPortOperation(claims) : portOperation(ports, claims, take);
    allocatePorts(service, old, operation, (errors) => refuse(service, errors));
  } catch (error) {
    undo();
    throw error;
  }
  return undo;
}

type Take = (claim: string) => boolean;

function fillFamilies(service: Service, old: Service | undefined): void {
  const spec = service.spec!;
  if (spec.type === 'ExternalName' || keepsPreference(spec, old?.spec)) return;
  const selectorless = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= old?.spec?.ipFamilyPolicy ?? (selectorless ? 'RequireDualStack' : 'SingleStack');
  const errors: FieldError[] = [];
  const check = (): void => {
    if (errors.length > 0) throw refuse(service, errors);
  };
  clusterIpFieldErrors(spec, errors);
  check();
  const single = spec.ipFamilyPolicy === 'SingleStack';
  if (old?.spec) releaseSecond(spec, old.spec, errors);
  const why = (what: string): string => `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`;
  if (single && spec.clusterIPs?.length === 2) errors.push(invalidValue('spec.ipFamilyPolicy', spec.ipFamilyPolicy, why('cluster IPs')));
  if (single && spec.ipFamilies?.length === 2) errors.push(invalidValue('spec.ipFamilyPolicy', spec.ipFamilyPolicy, why('IP families')));
  inferFamilies(spec, errors);
  check();
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
  check();
  if ((spec.ipFamilies?.length ?? 0) === 0) spec.ipFamilies = ['IPv4'];
}

const same = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((item, i) => item === b[i]);

/** A service that prefers two families keeps what it has while nobody touches it. */
function keepsPreference(spec: ServiceSpec, old: ServiceSpec | undefined): boolean {
  if (old === undefined || spec.ipFamilyPolicy !== 'PreferDualStack' || old.type !== spec.type || !isProxied(spec)) return false;
  if (old.ipFamilyPolicy !== undefined && old.ipFamilyPolicy !== 'PreferDualStack') return false;
  return same(spec.clusterIPs, old.clusterIPs) && same(spec.ipFamilies, old.ipFamilies);
}

/** The second address or family goes when the policy says so, and only then. */
function releaseSecond(spec: ServiceSpec, old: ServiceSpec, errors: FieldError[]): void {
  const pairs = [
    ['clusterIPs', 'cluster IP'],
    ['ipFamilies', 'IP family'],
  ] as const;
  for (const [member, what] of pairs) {
    const now: string[] = spec[member] ?? [];
    const before: readonly string[] = old[member] ?? [];
    if (spec.ipFamilyPolicy === 'SingleStack') {
      if (same(now, before) && now.length > 1) spec[member]!.length = 1;
    } else if (now.length > 0 && now.length < before.length) {
      errors.push(invalidValue('spec.ipFamilyPolicy', spec.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`));
    }
  }
}

/** Addresses tell their families. */
function inferFamilies(spec: ServiceSpec, errors: FieldError[]): void {
  spec.clusterIPs?.forEach((ip, i) => {
    if (ip === 'None' || i < (spec.ipFamilies?.length ?? 0)) return;
    const family = ipFamily(ip)!;
    if (family !== 'IPv4')
      errors.push(invalidValue(`spec.clusterIPs[${i}]`, spec.clusterIPs, `${family} is not configured on this cluster`));
    else spec.ipFamilies = [...(spec.ipFamilies ?? []), family];
  });
}

interface IpSource {
  readonly ips: IpRange;
  readonly claims: ServiceClaims;
  readonly take: Take;
  readonly dryRun: boolean;
}

/** Upstream claims the address by an IPAddress object that names its owner: a service without a name fails there, before its own validation. */
const namelessOwner = (ip: string): FieldError =>
  invalidValue(
    'spec.clusterIPs',
    [''],
    `failed to allocate IP: IPAddress.networking.k8s.io "${ip}" is invalid: spec.parentRef.name: Required value`,
  );

function allocateIps(service: Service, old: Service | undefined, { ips, claims, take, dryRun }: IpSource): void {
  const spec = service.spec!;
  if (!needsClusterIp(spec) || spec.clusterIPs?.[0] === 'None') return;
  // The address of a service does not change; validation refuses the attempt.
  if (old?.spec !== undefined && needsClusterIp(old.spec) && old.spec.clusterIPs?.[0] !== undefined) return;
  const asked = spec.clusterIPs?.[0] ?? '';
  if (asked === '') {
    const ip = ips.next(claims);
    if (ip === undefined || !take(ipClaim(ip))) throw internalError('failed to allocate a serviceIP: range is full');
    if (!service.metadata.name && !dryRun) throw refuse(service, [namelessOwner(ip)]);
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
