/** Typed handles of the resources that components work with: `pods`, `deployments` … One handle carries the names and the TypeScript type. */
import type { KubeObject } from '../api/object.ts';
import type * as apps from '../api/types/apps.v1.ts';
import type * as coordination from '../api/types/coordination.k8s.io.v1.ts';
import type * as core from '../api/types/core.v1.ts';
import type * as discovery from '../api/types/discovery.k8s.io.v1.ts';
import type * as newevents from '../api/types/events.k8s.io.v1.ts';
import type * as policy from '../api/types/policy.v1.ts';

export interface ResourceType<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  /** Plural, lower case. */
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Carries T for the compiler; never set. */
  readonly _object?: T;
}

function handle<T extends KubeObject>(group: string, version: string, resource: string, kind: string, namespaced = true): ResourceType<T> {
  return { group, version, resource, kind, namespaced };
}

export const pods = handle<core.Pod>('', 'v1', 'pods', 'Pod');
export const nodes = handle<core.Node>('', 'v1', 'nodes', 'Node', false);
export const namespaces = handle<core.Namespace>('', 'v1', 'namespaces', 'Namespace', false);
export const services = handle<core.Service>('', 'v1', 'services', 'Service');
export const endpoints = handle<core.Endpoints>('', 'v1', 'endpoints', 'Endpoints');
export const configmaps = handle<core.ConfigMap>('', 'v1', 'configmaps', 'ConfigMap');
export const secrets = handle<core.Secret>('', 'v1', 'secrets', 'Secret');
export const serviceaccounts = handle<core.ServiceAccount>('', 'v1', 'serviceaccounts', 'ServiceAccount');
export const events = handle<core.Event>('', 'v1', 'events', 'Event');
/** The same events through their newer API. */
export const newEvents = handle<newevents.Event>('events.k8s.io', 'v1', 'events', 'Event');
export const persistentvolumeclaims = handle<core.PersistentVolumeClaim>('', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim');
export const persistentvolumes = handle<core.PersistentVolume>('', 'v1', 'persistentvolumes', 'PersistentVolume', false);
export const endpointslices = handle<discovery.EndpointSlice>('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice');
export const leases = handle<coordination.Lease>('coordination.k8s.io', 'v1', 'leases', 'Lease');
export const deployments = handle<apps.Deployment>('apps', 'v1', 'deployments', 'Deployment');
export const replicasets = handle<apps.ReplicaSet>('apps', 'v1', 'replicasets', 'ReplicaSet');
export const poddisruptionbudgets = handle<policy.PodDisruptionBudget>('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget');
