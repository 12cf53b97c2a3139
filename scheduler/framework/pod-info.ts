/** A pod with what scheduling needs of it computed once. Mirrors upstream `framework.PodInfo`. */

import { everything, matches, nothing, type Selector, selectorOf } from '../../machinery/api/selector.ts';
import type { Pod, PodAffinityTerm } from '../../machinery/api/types/core.v1.ts';
import { type Amounts, podRequests } from './resources.ts';

export interface AffinityTerm {
  readonly selector: Selector;
  readonly topologyKey: string;
  readonly namespaces: ReadonlySet<string>;
  /** `nothing` when the term has none. */
  readonly namespaceSelector: Selector;
  readonly weight: number;
}

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

export interface PodInfo {
  readonly pod: Pod;
  readonly uid: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly requests: Amounts;
  /** With assumed amounts for containers that ask for nothing. */
  readonly assumedRequests: Amounts;
  readonly hostPorts: readonly HostPort[];
  readonly requiredAffinity: readonly AffinityTerm[];
  readonly requiredAntiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly AffinityTerm[];
  readonly preferredAntiAffinity: readonly AffinityTerm[];
  /** Claims of its volumes, by name. */
  readonly claims: readonly string[];
}

const known = new WeakMap<Pod, PodInfo>();

/** Computed once for each version of a pod. */
export function podInfo(pod: Pod): PodInfo {
  let info = known.get(pod);
  if (!info) {
    info = makePodInfo(pod);
    known.set(pod, info);
  }
  return info;
}

function makePodInfo(pod: Pod): PodInfo {
  const affinity = pod.spec.affinity?.podAffinity;
  const anti = pod.spec.affinity?.podAntiAffinity;
  const term = (source: PodAffinityTerm, weight = 1): AffinityTerm => affinityTerm(pod, source, weight);
  return {
    pod,
    uid: pod.metadata.uid ?? '',
    namespace: pod.metadata.namespace ?? '',
    labels: pod.metadata.labels ?? {},
    priority: pod.spec.priority ?? 0,
    requests: podRequests(pod),
    assumedRequests: podRequests(pod, true),
    hostPorts: hostPorts(pod),
    requiredAffinity: (affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((source) => term(source)),
    requiredAntiAffinity: (anti?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((source) => term(source)),
    preferredAffinity: (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((preferred) =>
      term(preferred.podAffinityTerm, preferred.weight),
    ),
    preferredAntiAffinity: (anti?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((preferred) =>
      term(preferred.podAffinityTerm, preferred.weight),
    ),
    claims: claimsOf(pod),
  };
}

function affinityTerm(pod: Pod, source: PodAffinityTerm, weight: number): AffinityTerm {
  const own = (source.namespaces?.length ?? 0) === 0 && source.namespaceSelector === undefined;
  const namespaces = own ? [pod.metadata.namespace ?? ''] : (source.namespaces ?? []);
  return {
    selector: selectorOf(source.labelSelector),
    topologyKey: source.topologyKey,
    namespaces: new Set(namespaces),
    namespaceSelector:
      source.namespaceSelector === undefined
        ? nothing
        : isEmpty(source.namespaceSelector)
          ? everything
          : selectorOf(source.namespaceSelector),
    weight,
  };
}

const isEmpty = (selector: { matchLabels?: object; matchExpressions?: readonly unknown[] }): boolean =>
  Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions?.length ?? 0) === 0;

/** Whether a term speaks of this pod. `namespaceLabels` are those of the pod's namespace. */
export function termMatches(
  term: AffinityTerm,
  pod: PodInfo,
  namespaceLabels: (namespace: string) => Readonly<Record<string, string>> | undefined,
): boolean {
  if (!term.namespaces.has(pod.namespace)) {
    if (term.namespaceSelector.nothing || !matches(term.namespaceSelector, namespaceLabels(pod.namespace))) return false;
  }
  return matches(term.selector, pod.labels);
}

function hostPorts(pod: Pod): HostPort[] {
  const sidecars = (pod.spec.initContainers ?? []).filter((container) => container.restartPolicy === 'Always');
  return [...pod.spec.containers, ...sidecars].flatMap((container) =>
    (container.ports ?? [])
      .filter((port) => (port.hostPort ?? 0) > 0)
      .map((port) => ({ ip: port.hostIP || '0.0.0.0', protocol: port.protocol ?? 'TCP', port: port.hostPort as number })),
  );
}

function claimsOf(pod: Pod): string[] {
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    if (volume.persistentVolumeClaim) return [volume.persistentVolumeClaim.claimName];
    if (volume.ephemeral) return [`${pod.metadata.name}-${volume.name}`];
    return [];
  });
}
