/**
 * The Service `kubernetes` in the namespace default, through which programs in the cluster find the API server, and its Endpoints and EndpointSlice:
 * made at start, put right every ten seconds, emptied when this server stops. Mirrors kubernetes `pkg/controlplane/controller/kubernetesservice` and
 * `pkg/controlplane/reconcilers`.
 *
 * A store serves one API server, so under `lease` that server is known to be the only one alive and no lease has to be renewed.
 */
import { networkInterfaces } from 'node:os';
import { deepEqual } from '../../machinery/api/equality.ts';
import type { KubeObject } from '../../machinery/api/object.ts';
import type { Endpoints, Service } from '../../machinery/api/types/core.v1.ts';
import { SERVICE_NAME } from '../../machinery/api/well-known-labels.ts';
import type { Api } from '../handlers/api.ts';
import { change } from '../handlers/update.ts';
import { internalContext } from '../http/internal-context.ts';

const NAME = 'kubernetes';
const NAMESPACE = 'default';
const INTERVAL_MS = 10_000;
const SKIP_MIRROR = 'endpointslice.kubernetes.io/skip-mirror';

export type EndpointReconcilerType = 'lease' | 'master-count' | 'none';

export interface KubernetesServiceOptions {
  /** First address of the service range. */
  readonly serviceIp: string;
  readonly securePort: number;
  /** Where others reach this server; undefined: nowhere, and nothing is published. */
  readonly address: string | undefined;
  readonly reconciler: EndpointReconcilerType;
  /** How many servers there should be, for `master-count`. */
  readonly count: number;
}

/** What is advertised: as said, else the address it listens on, unless that leads nowhere from outside; then one of this host's. */
export function advertisedAddress(advertise: string | undefined, bind: string): string | undefined {
  if (advertise !== undefined && advertise !== '') return advertise;
  if (!/^(0\.0\.0\.0|127\.|::1?$|localhost$)/.test(bind)) return bind;
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find((address) => address.family === 'IPv4' && !address.internal)?.address;
}

/** Runs until the signal aborts; then takes this server's address out. A pass that fails is told and done again. */
export async function runKubernetesService(api: Api, options: KubernetesServiceOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await api.clock.sleep(INTERVAL_MS, signal).catch(() => {});
    if (!signal.aborted) await attempt(api, () => reconcileKubernetesService(api, options));
  }
  await attempt(api, () => publish(api, options, (current) => withoutOwn(options, current)));
}

async function attempt(api: Api, pass: () => Promise<void>): Promise<void> {
  try {
    await pass();
  } catch (err) {
    api.logger.warn({ err }, 'the kubernetes Service could not be put right');
  }
}

/** One pass. What others made of the Service is put right by the first one only, as upstream does. */
export async function reconcileKubernetesService(api: Api, options: KubernetesServiceOptions, isFirst = false): Promise<void> {
  await write<Service>(api, { group: '', resource: 'services' }, (live) => (isFirst ? undefined : live) ?? wantedService(options, live));
  await attempt(api, () => publish(api, options, (current) => withOwn(options, current)));
}

function wantedService({ serviceIp, securePort }: KubernetesServiceOptions, live: Service | undefined): Service {
  const ports = [{ name: 'https', protocol: 'TCP' as const, port: 443, targetPort: securePort }];
  if (live !== undefined) return { ...live, spec: { ...live.spec, type: 'ClusterIP', ports } };
  const spec = {
    type: 'ClusterIP' as const,
    clusterIP: serviceIp,
    clusterIPs: [serviceIp],
    ipFamilyPolicy: 'SingleStack' as const,
    ipFamilies: ['IPv4' as const],
    sessionAffinity: 'None' as const,
    ports,
  };
  return make('v1', 'Service', { labels: { provider: NAME, component: 'apiserver' } }, { spec });
}

function make<T extends KubeObject>(apiVersion: string, kind: string, metadata: KubeObject['metadata'], more: object): T {
  return { apiVersion, kind, metadata: { name: NAME, namespace: NAMESPACE, ...metadata }, ...more } as unknown as T;
}

async function publish(
  api: Api,
  options: KubernetesServiceOptions,
  wanted: (current: readonly string[]) => readonly string[],
): Promise<void> {
  if (options.reconciler === 'none' || options.address === undefined) return;
  const live = api.reader.get<Endpoints>('', 'endpoints', NAMESPACE, NAME);
  const addresses = wanted(addressesIn(live));
  const ports = [{ name: 'https', port: options.securePort, protocol: 'TCP' }];
  const subsets = addresses.length === 0 ? [] : [{ addresses: addresses.map((ip) => ({ ip })), ports }];
  await write(api, { group: '', resource: 'endpoints' }, (old) => ({
    ...(old ?? make<Endpoints>('v1', 'Endpoints', {}, {})),
    metadata: { ...(old ?? make('v1', 'Endpoints', {}, {})).metadata, labels: { ...old?.metadata.labels, [SKIP_MIRROR]: 'true' } },
    subsets,
  }));
  const slice = {
    addressType: options.address.includes(':') ? 'IPv6' : 'IPv4',
    endpoints: addresses.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
    ports: addresses.length === 0 ? [] : ports,
  };
  await write(api, { group: 'discovery.k8s.io', resource: 'endpointslices' }, (old) => {
    const base = old ?? make('discovery.k8s.io/v1', 'EndpointSlice', {}, {});
    return { ...base, metadata: { ...base.metadata, labels: { [SERVICE_NAME]: NAME } }, ...slice };
  });
}

function addressesIn(endpoints: Endpoints | undefined): string[] {
  const { subsets = [] } = endpoints ?? {};
  return subsets.length === 1 ? (subsets[0]!.addresses ?? []).map(({ ip }) => ip) : [];
}

/** Under `master-count` other servers' addresses stay, as many as there should be; the ones after our own go first. */
export function withOwn({ reconciler, address, count }: KubernetesServiceOptions, current: readonly string[]): readonly string[] {
  const own = address!;
  if (reconciler === 'lease') return [own];
  const all = [...new Set([...current, own])].sort();
  while (all.length > count) all.splice((all.indexOf(own) + 1) % all.length, 1);
  return all;
}

function withoutOwn({ reconciler, address }: KubernetesServiceOptions, current: readonly string[]): readonly string[] {
  return reconciler === 'lease' ? [] : current.filter((ip) => ip !== address);
}

/** Creates or updates; writes nothing when it is as it should be. */
async function write<T extends KubeObject>(
  api: Api,
  { group, resource }: { group: string; resource: string },
  wanted: (live: T | undefined) => KubeObject,
): Promise<void> {
  const live = api.reader.get<T>(group, resource, NAMESPACE, NAME);
  if (live !== undefined && deepEqual(wanted(live), live)) return;
  const served = api.catalog.known(group, 'v1', resource)!;
  const options = { dryRun: false, fieldManager: 'kube-apiserver', fieldValidation: 'Ignore' as const, force: false };
  await change(api, internalContext('update', NAMESPACE, NAME), {
    served,
    options,
    subresource: '',
    create: true,
    put: true,
    next: (old) => structuredClone(wanted(old as T | undefined)),
  });
}
