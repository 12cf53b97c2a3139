/**
 * What a scheduling decision sees. As decisions are made without a pause, this is the cache itself, read-only, not a copy.
 */

import type { Selector } from '../../machinery/api/selector.ts';
import type { ReplicaSet, StatefulSet } from '../../machinery/api/types/apps.v1.ts';
import type { PersistentVolume, PersistentVolumeClaim, ReplicationController, Service } from '../../machinery/api/types/core.v1.ts';
import type { ResourceClaim } from '../../machinery/api/types/resource.k8s.io.v1.ts';
import type { StorageClass } from '../../machinery/api/types/storage.k8s.io.v1.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';

export interface Snapshot {
  /** Nodes that exist, zone by zone in turn, so that a partial look sees all zones. */
  readonly nodes: readonly NodeInfo[];
  node(name: string): NodeInfo | undefined;
  /** Nodes on which pods with affinity or anti-affinity run. */
  readonly nodesWithAffinity: Iterable<NodeInfo>;
  readonly nodesWithRequiredAntiAffinity: Iterable<NodeInfo>;
  /** How many pods of a namespace that match a selector, and are not being deleted, run on each node. */
  podCounts(namespace: string, selector: Selector): ReadonlyMap<string, number>;
  /** How many placed pods use a claim. */
  claimUsers(namespace: string, name: string): number;
  /** Pods for which room has been made on a node and that are not there yet. */
  nominatedOn(nodeName: string): readonly PodInfo[];
  /** On how many nodes an image is. */
  imageNodes(image: string): number;
  readonly lookup: Lookup;
}

/** Other objects that rules read. */
export interface Lookup {
  namespaceLabels(namespace: string): Readonly<Record<string, string>> | undefined;
  services(namespace: string): readonly Service[];
  replicaSet(namespace: string, name: string): ReplicaSet | undefined;
  statefulSet(namespace: string, name: string): StatefulSet | undefined;
  replicationController(namespace: string, name: string): ReplicationController | undefined;
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  volumes(): readonly PersistentVolume[];
  resourceClaim(namespace: string, name: string): ResourceClaim | undefined;
  storageClass(name: string): StorageClass | undefined;
}
