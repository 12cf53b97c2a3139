/**
 * What the scheduler believes of the cluster: nodes, the pods on them, and the pods it has decided on but not yet seen there. Mirrors upstream
 * `backend/cache/cache.go`.
 *
 * Invariant: a decided pod counts on its node from the decision on until the API confirms it, refuses it, or it is gone; so no decision is made
 * on room that was given away.
 */

import type { Selector } from '../machinery/api/selector.ts';
import type { Node, Pod } from '../machinery/api/types/core.v1.ts';
import { REGION, ZONE } from '../machinery/api/well-known-labels.ts';
import { NodeInfo } from './framework/node-info.ts';
import { PodCounts } from './framework/pod-counts.ts';
import { type PodInfo, podInfo } from './framework/pod-info.ts';
import type { Lookup, Snapshot } from './framework/snapshot.ts';

export class SchedulerCache implements Snapshot {
  readonly lookup: Lookup;
  readonly #nodes = new Map<string, NodeInfo>();
  /** Where each counted pod counts, by uid. */
  readonly #places = new Map<string, string>();
  readonly #assumed = new Set<string>();
  readonly #withAffinity = new Set<NodeInfo>();
  readonly #withAntiAffinity = new Set<NodeInfo>();
  readonly #podCounts = new PodCounts();
  readonly #nominations = new Map<string, { readonly pod: PodInfo; readonly nodeName: string }>();
  readonly #claimUsers = new Map<string, number>();
  readonly #imageNodes = new Map<string, number>();
  #ordered: readonly NodeInfo[] | undefined;

  constructor(lookup: Lookup) {
    this.lookup = lookup;
  }

  get nodes(): readonly NodeInfo[] {
    this.#ordered ??= interleaveZones([...this.#nodes.values()].filter((info) => info.node !== undefined));
    return this.#ordered;
  }

  node(name: string): NodeInfo | undefined {
    return this.#nodes.get(name);
  }

  get nodesWithAffinity(): Iterable<NodeInfo> {
    return this.#withAffinity;
  }

  get nodesWithRequiredAntiAffinity(): Iterable<NodeInfo> {
    return this.#withAntiAffinity;
  }

  podCounts(namespace: string, selector: Selector): ReadonlyMap<string, number> {
    return this.#podCounts.of(namespace, selector, this.#nodes.values());
  }

  claimUsers(namespace: string, name: string): number {
    return this.#claimUsers.get(`${namespace}/${name}`) ?? 0;
  }

  nominatedOn(nodeName: string): readonly PodInfo[] {
    return this.#nominations.size === 0
      ? []
      : [...this.#nominations.values()].filter((nomination) => nomination.nodeName === nodeName).map(({ pod }) => pod);
  }

  /** Room is kept for the pod until it is placed or gone. */
  nominate(pod: PodInfo, nodeName: string): void {
    this.#nominations.set(pod.uid, { pod, nodeName });
  }

  imageNodes(image: string): number {
    return this.#imageNodes.get(image) ?? 0;
  }

  setNode(node: Node): void {
    const info = this.#info(node.metadata.name as string);
    if (!info.node || zoneOf(info.node) !== zoneOf(node)) this.#ordered = undefined;
    this.#countImages(info, -1);
    info.setNode(node);
    this.#countImages(info, 1);
  }

  /** Its pods stay known until they go themselves. */
  removeNode(name: string): void {
    const info = this.#nodes.get(name);
    if (!info) return;
    this.#ordered = undefined;
    this.#countImages(info, -1);
    info.setNode(undefined);
    if (info.pods.size === 0) this.#nodes.delete(name);
  }

  /** A pod that the API shows on a node; confirms an assumed one. */
  setPod(pod: Pod): void {
    const info = podInfo(pod);
    this.#assumed.delete(info.uid);
    this.#place(info, pod.spec.nodeName as string);
  }

  removePod(uid: string): void {
    this.#nominations.delete(uid);
    this.#assumed.delete(uid);
    const place = this.#places.get(uid);
    if (place === undefined) return;
    this.#places.delete(uid);
    const node = this.#nodes.get(place);
    const pod = node?.removePod(uid);
    if (node && pod) this.#counted(node, pod, -1);
    if (node && !node.node && node.pods.size === 0) this.#nodes.delete(place);
  }

  assume(pod: PodInfo, nodeName: string): void {
    this.#assumed.add(pod.uid);
    this.#place(pod, nodeName);
  }

  /** The binding failed: the room is free again, unless the pod has been seen there since. */
  forget(uid: string): void {
    if (this.#assumed.has(uid)) this.removePod(uid);
  }

  isAssumed(uid: string): boolean {
    return this.#assumed.has(uid);
  }

  get podCount(): number {
    return this.#places.size;
  }

  #place(pod: PodInfo, nodeName: string): void {
    this.#nominations.delete(pod.uid);
    const former = this.#places.get(pod.uid);
    const node = this.#info(nodeName);
    if (former === nodeName && node.pods.get(pod.uid) === pod) return;
    const old = former === undefined ? undefined : this.#nodes.get(former);
    const known = old?.removePod(pod.uid);
    if (old && known) this.#counted(old, known, -1);
    node.addPod(pod);
    this.#places.set(pod.uid, nodeName);
    this.#counted(node, pod, 1);
  }

  /** What is kept beside the nodes follows. */
  #counted(node: NodeInfo, pod: PodInfo, sign: 1 | -1): void {
    this.#podCounts.changed(pod, node.name, sign);
    for (const claim of pod.claims) {
      const key = `${pod.namespace}/${claim}`;
      const users = (this.#claimUsers.get(key) ?? 0) + sign;
      if (users > 0) this.#claimUsers.set(key, users);
      else this.#claimUsers.delete(key);
    }
    if (node.podsWithAffinity.size > 0) this.#withAffinity.add(node);
    else this.#withAffinity.delete(node);
    if (node.podsWithRequiredAntiAffinity.size > 0) this.#withAntiAffinity.add(node);
    else this.#withAntiAffinity.delete(node);
  }

  #info(name: string): NodeInfo {
    let info = this.#nodes.get(name);
    if (!info) {
      info = new NodeInfo(name);
      this.#nodes.set(name, info);
    }
    return info;
  }

  #countImages(info: NodeInfo, sign: 1 | -1): void {
    for (const image of info.images.keys()) {
      const count = (this.#imageNodes.get(image) ?? 0) + sign;
      if (count > 0) this.#imageNodes.set(image, count);
      else this.#imageNodes.delete(image);
    }
  }
}

const zoneOf = (node: Node): string => `${node.metadata.labels?.[REGION] ?? ''}/${node.metadata.labels?.[ZONE] ?? ''}`;

/** One node of each zone in turn (upstream's node tree). */
function interleaveZones(nodes: readonly NodeInfo[]): readonly NodeInfo[] {
  const zones = new Map<string, NodeInfo[]>();
  for (const info of nodes) {
    const zone = zoneOf(info.node as Node);
    const list = zones.get(zone);
    if (list) list.push(info);
    else zones.set(zone, [info]);
  }
  if (zones.size <= 1) return nodes;
  const ordered: NodeInfo[] = [];
  for (let i = 0; ordered.length < nodes.length; i++) for (const list of zones.values()) if (list[i]) ordered.push(list[i] as NodeInfo);
  return ordered;
}
