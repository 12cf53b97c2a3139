/**
 * Where cluster IPs come from and where they are, as objects: the ServiceCIDR of the server's own range, and an IPAddress for each cluster IP of a Service.
 * Mirrors kubernetes `pkg/controlplane/controller/defaultservicecidr` and `pkg/registry/core/service/ipallocator`.
 *
 * Services are given their addresses by the allocator before they are stored; these objects follow. One that a Service has left is removed; those
 * that others have made are theirs.
 */

import { isReason } from '../../machinery/api/status.ts';
import { formatTime } from '../../machinery/api/time.ts';
import type { Service } from '../../machinery/api/types/core.v1.ts';
import type { IPAddress, ServiceCIDR } from '../../machinery/api/types/networking.k8s.io.v1.ts';
import type { Api } from '../handlers/api.ts';
import { createDecoded } from '../handlers/create.ts';
import { deleteNamed } from '../handlers/delete.ts';
import { internalContext } from '../http/internal-context.ts';
import { storagePrefix } from '../registry/resource.ts';
import { applyStatus, runLevelLoop } from './level-triggered.ts';

const GROUP = 'networking.k8s.io';
const RANGES = 'servicecidrs';
const ADDRESSES = 'ipaddresses';
const RANGE_NAME = 'kubernetes';
const MANAGED_BY = 'ipaddress.kubernetes.io/managed-by';
const ALLOCATOR = 'ipallocator.k8s.io';
const FAMILY = 'ipaddress.kubernetes.io/ip-family';
const CONTROLLER = 'kubernetes-service-cidr-controller';
const INTERVAL_MS = 60_000;

/** Makes the range's object when it is missing, and says that it is ready. */
export async function ensureServiceRange(api: Api, cidr: string): Promise<void> {
  const live = api.reader.get<ServiceCIDR>(GROUP, RANGES, '', RANGE_NAME);
  const object: ServiceCIDR = { apiVersion: `${GROUP}/v1`, kind: 'ServiceCIDR', metadata: { name: RANGE_NAME }, spec: { cidrs: [cidr] } };
  if (live === undefined) await create(api, RANGES, object);
  if (live?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) return;
  const message = 'Kubernetes default Service CIDR is ready';
  const ready = { type: 'Ready', status: 'True', reason: '', message, lastTransitionTime: formatTime(api.clock.now()) };
  const status = { conditions: [ready] };
  await applyStatus(api, { group: GROUP, resource: RANGES, kind: 'ServiceCIDR', name: RANGE_NAME, manager: CONTROLLER, status });
}

async function create(api: Api, resource: string, object: IPAddress | ServiceCIDR): Promise<void> {
  const served = api.catalog.known(GROUP, 'v1', resource)!;
  const options = { dryRun: false, fieldManager: 'kube-apiserver', fieldValidation: 'Ignore' as const, force: false };
  try {
    await createDecoded(api, internalContext('create', ''), served, { object: structuredClone(object), options });
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
}

export interface AddressPlan {
  readonly made: readonly IPAddress[];
  readonly removed: readonly IPAddress[];
}

/** What follows from the Services that there are. An address that passed to another Service is removed first and made again at the next look. */
export function planAddresses(services: readonly Service[], live: readonly IPAddress[]): AddressPlan {
  const wanted = new Map(services.flatMap((service) => clusterIps(service).map((ip) => [ip, addressOf(ip, service)] as const)));
  const known = new Set(live.map(({ metadata }) => metadata.name));
  const isStale = ({ metadata, spec }: IPAddress): boolean => {
    const parent = wanted.get(metadata.name ?? '')?.spec?.parentRef;
    return (
      metadata.labels?.[MANAGED_BY] === ALLOCATOR &&
      (parent?.namespace !== spec?.parentRef?.namespace || parent?.name !== spec?.parentRef?.name)
    );
  };
  return { made: [...wanted.values()].filter(({ metadata }) => !known.has(metadata.name)), removed: live.filter(isStale) };
}

const clusterIps = ({ spec }: Service): readonly string[] => (spec?.clusterIPs ?? []).filter((ip) => ip !== 'None' && ip !== '');

function addressOf(ip: string, { metadata }: Service): IPAddress {
  const { namespace = '', name = '' } = metadata;
  return {
    apiVersion: `${GROUP}/v1`,
    kind: 'IPAddress',
    metadata: { name: ip, labels: { [FAMILY]: ip.includes(':') ? 'IPv6' : 'IPv4', [MANAGED_BY]: ALLOCATOR } },
    spec: { parentRef: { group: '', resource: 'services', namespace, name } },
  };
}

/** One pass over all Services. */
export async function followServices(api: Api): Promise<void> {
  const plan = planAddresses(api.reader.list<Service>('', 'services'), api.reader.list<IPAddress>(GROUP, ADDRESSES));
  await Promise.all([
    ...plan.made.map((address) => create(api, ADDRESSES, address)),
    ...plan.removed.map((address) => remove(api, address)),
  ]);
}

async function remove(api: Api, { metadata }: IPAddress): Promise<void> {
  const { name = '', uid } = metadata;
  const served = api.catalog.known(GROUP, 'v1', ADDRESSES)!;
  const options = { dryRun: false, preconditions: { ...(uid !== undefined && { uid }) } };
  try {
    await deleteNamed(api, internalContext('delete', '', name), served, { namespace: '', name, options });
  } catch (error) {
    if (!isReason(error, 'NotFound') && !isReason(error, 'Conflict')) throw error;
  }
}

/** Runs until the signal aborts. */
export function runServiceAddresses(api: Api, cidr: string, signal: AbortSignal): Promise<void> {
  const pass = async (isDue: boolean): Promise<void> => {
    if (isDue) await ensureServiceRange(api, cidr);
    await followServices(api);
  };
  const prefixes = [storagePrefix('', 'services'), storagePrefix(GROUP, ADDRESSES)];
  return runLevelLoop(api, { prefixes, intervalMs: INTERVAL_MS, complaint: 'the addresses of Services could not be told', pass }, signal);
}
