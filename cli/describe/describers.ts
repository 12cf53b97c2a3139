/** Which describer serves which kind; the rest get the generic one. */
import type { Describer } from './describer.ts';

type Load = () => Promise<Describer>;

const workloads =
  (name: 'describeDeployment' | 'describeReplicaSet' | 'describeDaemonSet' | 'describeStatefulSet'): Load =>
  async () =>
    (await import('./workloads.ts'))[name];
const plain =
  (
    name:
      | 'describeNamespace'
      | 'describeConfigMap'
      | 'describeSecret'
      | 'describeServiceAccount'
      | 'describePriorityClass'
      | 'describeDisruptionBudget',
  ): Load =>
  async () =>
    (await import('./plain-kinds.ts'))[name];

/** By kind, and group where it has one: `Deployment.apps`. */
const DESCRIBERS: Readonly<Record<string, Load>> = {
  Pod: async () => (await import('./pod.ts')).describePod,
  Node: async () => (await import('./node.ts')).describeNode,
  Service: async () => (await import('./service.ts')).describeService,
  Endpoints: async () => (await import('./service.ts')).describeEndpoints,
  'EndpointSlice.discovery.k8s.io': async () => (await import('./service.ts')).describeEndpointSlice,
  Namespace: plain('describeNamespace'),
  ConfigMap: plain('describeConfigMap'),
  Secret: plain('describeSecret'),
  ServiceAccount: plain('describeServiceAccount'),
  'PriorityClass.scheduling.k8s.io': plain('describePriorityClass'),
  'PodDisruptionBudget.policy': plain('describeDisruptionBudget'),
  'Deployment.apps': workloads('describeDeployment'),
  'ReplicaSet.apps': workloads('describeReplicaSet'),
  ReplicationController: workloads('describeReplicaSet'),
  'DaemonSet.apps': workloads('describeDaemonSet'),
  'StatefulSet.apps': workloads('describeStatefulSet'),
};

export async function describerOf(kind: string, group: string): Promise<Describer> {
  const key = group === '' ? kind : `${kind}.${group}`;
  const load = Object.hasOwn(DESCRIBERS, key) ? DESCRIBERS[key] : undefined;
  return load ? load() : (await import('./generic.ts')).describeGeneric;
}
