/** Fixtures of the scheduler's tests: pods and nodes with defaults, and a cache filled with them. */
import type { Node, Pod } from '../../machinery/api/types/core.v1.ts';
import { seededRandom } from '../../machinery/process/random.ts';
import { SchedulerCache } from '../cache.ts';
import { type Found, findNode } from '../find-node.ts';
import { fitMessage } from '../fit-error.ts';
import type { Plugin } from '../framework/plugin.ts';
import { podInfo } from '../framework/pod-info.ts';
import { defaultProfile } from '../framework/profile.ts';
import type { Lookup } from '../framework/snapshot.ts';
import { preempt } from '../preemption.ts';

export interface PodOptions {
  readonly labels?: Record<string, string>;
  readonly namespace?: string;
  readonly requests?: Record<string, string>;
  readonly node?: string;
  readonly priority?: number;
  readonly spec?: Partial<Pod['spec']>;
  readonly owner?: { kind: string; name: string };
}

export function makePod(name: string, { labels, namespace = 'default', requests, node, priority, spec, owner }: PodOptions = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      uid: `${namespace}-${name}`,
      ...(labels && { labels }),
      ...(owner && { ownerReferences: [{ apiVersion: 'apps/v1', uid: 'o', controller: true, ...owner }] }),
    },
    spec: {
      containers: [{ name: 'c', image: 'web:1', ...(requests && { resources: { requests } }) }],
      ...(node && { nodeName: node }),
      ...(priority !== undefined && { priority }),
      ...spec,
    },
  };
}

export interface NodeOptions {
  readonly labels?: Record<string, string>;
  readonly allocatable?: Record<string, string>;
  readonly spec?: Node['spec'];
  readonly images?: { names: string[]; sizeBytes: number }[];
}

export function makeNode(name: string, { labels, allocatable, spec, images }: NodeOptions = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec: spec ?? {},
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '20', ...allocatable }, ...(images && { images }) },
  };
}

export const emptyLookup: Lookup = {
  namespaceLabels: () => ({}),
  services: () => [],
  replicaSet: () => undefined,
  statefulSet: () => undefined,
  replicationController: () => undefined,
  claim: () => undefined,
  volume: () => undefined,
  volumes: () => [],
  resourceClaim: () => undefined,
  storageClass: () => undefined,
};

export function makeCache(nodes: readonly Node[], pods: readonly Pod[] = [], lookup: Partial<Lookup> = {}): SchedulerCache {
  const cache = new SchedulerCache({ ...emptyLookup, ...lookup });
  for (const node of nodes) cache.setNode(node);
  for (const pod of pods) cache.setPod(pod);
  return cache;
}

export function find(pod: Pod, cache: SchedulerCache, profile: readonly Plugin[] = defaultProfile, seed = 1): Found {
  return findNode(podInfo(pod), cache, profile, { percentageOfNodesToScore: 0, startIndex: 0, random: seededRandom(seed) });
}

/** The name of the node, or the message of why there is none. */
export function place(pod: Pod, cache: SchedulerCache, profile?: readonly Plugin[]): string {
  const found = find(pod, cache, profile);
  if (found.node) return found.node.name;
  return fitMessage(found.diagnosis, preempt({ pod: podInfo(pod), found, snapshot: cache, budgets: [] }).message);
}
