/**
 * The Node object of a simulated node: what it registers with and what it reports. Pure. Mirrors upstream `kubelet_node_status.go` and `nodestatus/setters.go`.
 *
 * Invariant: times of transitions move only with the status of their condition, and conditions, labels and annotations of others are kept.
 */

import { createHash } from 'node:crypto';
import { formatTime } from '../../machinery/api/time.ts';
import type { Node, NodeAddress, NodeCondition, NodeStatus, Taint } from '../../machinery/api/types/core.v1.ts';
import { ARCH, HOSTNAME, OLD_ARCH, OLD_OS, OS } from '../../machinery/api/well-known-labels.ts';

export interface NodeFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly unschedulable: boolean;
  readonly ip: string;
  readonly port: number;
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly architecture: string;
  readonly version: string;
  readonly providerId: string;
  /** Whose simulation the node is, when it was not made by this process; see `adoption.ts`. */
  readonly adoptedBy?: string;
}

export const KUBELET_VERSION = 'v1.36.3';

export function newNode(facts: NodeFacts, now: Date): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: facts.name,
      labels: nodeLabels(facts),
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: {
      ...(facts.providerId && { providerID: facts.providerId }),
      ...(facts.unschedulable && { unschedulable: true }),
      ...(facts.taints.length > 0 && { taints: [...facts.taints] }),
    },
    status: nodeStatus(facts, undefined, now),
  };
}

export function nodeLabels(facts: NodeFacts): Record<string, string> {
  return {
    [OLD_ARCH]: facts.architecture,
    [OLD_OS]: 'linux',
    [ARCH]: facts.architecture,
    [HOSTNAME]: facts.name,
    [OS]: 'linux',
    ...facts.labels,
  };
}

/** Type, status, reason, message, and the reason of the event that tells of it. */
const HEALTHY = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available', 'NodeHasSufficientMemory'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure', 'NodeHasNoDiskPressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available', 'NodeHasSufficientPID'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status', 'NodeReady'],
] as const;

/** What a healthy status says that the one before did not, as reasons of events. */
export const newlyHealthy = (before: NodeStatus | undefined): string[] =>
  HEALTHY.filter(([type, status]) => before?.conditions?.find((condition) => condition.type === type)?.status !== status).map(
    ([, , , , event]) => event,
  );

export function nodeStatus(facts: NodeFacts, current: NodeStatus | undefined, now: Date): NodeStatus {
  const addresses: NodeAddress[] = [
    { type: 'InternalIP', address: facts.ip },
    { type: 'Hostname', address: facts.name },
  ];
  const capacity = { ...current?.capacity, ...facts.capacity };
  return {
    capacity,
    allocatable: { ...capacity, ...facts.allocatable },
    conditions: conditions(current, now),
    addresses,
    daemonEndpoints: { kubeletEndpoint: { Port: facts.port } },
    nodeInfo: {
      machineID: facts.adoptedBy === undefined ? digest(facts.name, 'machine') : adopterId(facts.adoptedBy),
      systemUUID: uuidOf(digest(facts.name, 'system')),
      bootID: uuidOf(digest(facts.name, 'boot')),
      kernelVersion: 'simulated',
      osImage: 'Flyball simulated node',
      containerRuntimeVersion: 'flyball://0.1.0',
      kubeletVersion: facts.version,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: facts.architecture,
    },
  };
}

function conditions(current: NodeStatus | undefined, now: Date): NodeCondition[] {
  return HEALTHY.map(([type, status, reason, message]) => {
    const old = current?.conditions?.find((condition) => condition.type === type);
    const lastTransitionTime = old?.status === status && old.lastTransitionTime ? old.lastTransitionTime : formatTime(now);
    return { type, status, lastHeartbeatTime: formatTime(now), lastTransitionTime, reason, message };
  });
}

/** Whether anything but the time of the heartbeat differs. */
export function nodeStatusDiffers(current: NodeStatus | undefined, wanted: NodeStatus): boolean {
  const bare = (status: NodeStatus | undefined): string =>
    JSON.stringify([
      sorted(status?.capacity),
      sorted(status?.allocatable),
      HEALTHY.map(([type]) => {
        const condition = status?.conditions?.find((other) => other.type === type);
        return [condition?.status, condition?.reason, condition?.message];
      }),
      status?.addresses,
      status?.daemonEndpoints,
      sorted(status?.nodeInfo),
    ]);
  return bare(current) !== bare(wanted);
}

const sorted = (record: object | undefined): [string, unknown][] => Object.entries(record ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));

/** The machine id of the nodes that a process has adopted: by it the process knows them again after a restart. */
export const adopterId = (adopter: string): string => digest(adopter, 'adopter');

const digest = (name: string, salt: string): string => createHash('sha256').update(`${salt}/${name}`).digest('hex').slice(0, 32);
const uuidOf = (hex: string): string => [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
