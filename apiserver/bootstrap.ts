/**
 * What a fresh API server holds before anybody writes: the system namespaces, the system priority classes, the
 * objects of flow control, the API services served here.
 * Mirrors kubernetes `pkg/controlplane/controller/systemnamespaces` and `scheduling/storage`. Run at every start;
 * what exists is left alone.
 */
import type { KubeObject } from '../machinery/api/object.ts';
import { isReason } from '../machinery/api/status.ts';
import type { Api } from './handlers/api.ts';
import { createDecoded } from './handlers/create.ts';
import { internalContext } from './http/internal-context.ts';
import { ensureFlowObjects, tellDangling } from './loops/flow-objects.ts';

const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const NAMESPACES_INTERVAL_MS = 60_000;

interface Wanted {
  readonly group: string;
  readonly resource: string;
  readonly object: KubeObject;
}

export async function bootstrap(api: Api): Promise<void> {
  await ensureNamespaces(api);
  // Together, so that they share a group commit.
  await Promise.all([ensureFlowObjects(api), ...[...priorityClasses(), ...localApiServices(api)].map((wanted) => ensure(api, wanted))]);
  await tellDangling(api);
}

/** Brings back system namespaces that were deleted, until the signal aborts. */
export async function runSystemNamespaces(api: Api, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await api.clock.sleep(NAMESPACES_INTERVAL_MS, signal).catch(() => {});
    if (!signal.aborted) await ensureNamespaces(api).catch((err) => api.logger.warn({ err }, 'a system namespace could not be made'));
  }
}

async function ensureNamespaces(api: Api): Promise<void> {
  for (const name of NAMESPACES) await ensure(api, { group: '', resource: 'namespaces', object: make('v1', 'Namespace', { name }) });
}

function make(apiVersion: string, kind: string, metadata: KubeObject['metadata'], more: object = {}): KubeObject {
  return { apiVersion, kind, metadata, ...more };
}

function priorityClasses(): Wanted[] {
  const critical = (name: string, value: number, what: string): Wanted => ({
    group: 'scheduling.k8s.io',
    resource: 'priorityclasses',
    object: make(
      'scheduling.k8s.io/v1',
      'PriorityClass',
      { name },
      { value, description: `Used for system critical pods that must ${what}` },
    ),
  });
  return [
    critical('system-node-critical', 2000001000, 'not be moved from their current node.'),
    critical('system-cluster-critical', 2000000000, 'run in the cluster, but can be moved to another node if necessary.'),
  ];
}

/** How groups rank in discovery, as upstream's aggregator has it. */
const GROUP_PRIORITIES: Readonly<Record<string, number>> = {
  '': 18000,
  'admissionregistration.k8s.io': 16700,
  'apiextensions.k8s.io': 16700,
  apps: 17800,
  'authentication.k8s.io': 17700,
  'authorization.k8s.io': 17600,
  autoscaling: 17500,
  batch: 17400,
  'certificates.k8s.io': 17300,
  'coordination.k8s.io': 16500,
  'discovery.k8s.io': 16200,
  'events.k8s.io': 17750,
  'flowcontrol.apiserver.k8s.io': 16100,
  'networking.k8s.io': 17200,
  'node.k8s.io': 16300,
  policy: 17100,
  'rbac.authorization.k8s.io': 17000,
  'resource.k8s.io': 15900,
  'scheduling.k8s.io': 16600,
  'storage.k8s.io': 16800,
};
/** By the maturity of the version; autoscaling/v2 is the one that comes before v1. */
const VERSION_PRIORITIES: readonly (readonly [RegExp, number])[] = [
  [/alpha/, 1],
  [/beta/, 9],
  [/^v1$/, 15],
  [/^/, 30],
];

/** An object for each group version served here; the group of these objects itself has none. */
function localApiServices(api: Api): Wanted[] {
  return api.catalog.groups().flatMap(({ group, versions }) => {
    const groupPriorityMinimum = Object.hasOwn(GROUP_PRIORITIES, group) ? GROUP_PRIORITIES[group] : undefined;
    if (groupPriorityMinimum === undefined) return [];
    return versions.map((version): Wanted => {
      const versionPriority = group === '' ? 1 : VERSION_PRIORITIES.find(([pattern]) => pattern.test(version))![1];
      const spec = { ...(group !== '' && { group }), version, groupPriorityMinimum, versionPriority };
      const labels = { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' };
      const object = make('apiregistration.k8s.io/v1', 'APIService', { name: `${version}.${group}`, labels }, { spec });
      return { group: 'apiregistration.k8s.io', resource: 'apiservices', object };
    });
  });
}

async function ensure(api: Api, wanted: Wanted): Promise<void> {
  const served = api.catalog.known(wanted.group, 'v1', wanted.resource)!;
  const { namespace = '', name = '' } = wanted.object.metadata;
  if (api.reader.get(wanted.group, wanted.resource, namespace, name) !== undefined) return;
  try {
    const options = { dryRun: false, fieldManager: 'kube-apiserver', fieldValidation: 'Ignore' as const, force: false };
    await createDecoded(api, internalContext('create', namespace), served, { object: structuredClone(wanted.object), options });
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
}
