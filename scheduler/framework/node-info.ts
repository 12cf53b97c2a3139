/**
 * A node with the sum of what runs on it, kept by adding and taking away pods. Mirrors upstream `framework.NodeInfo`.
 *
 * Invariant: the sums equal what adding all pods to an empty node would give (property test beside this file).
 */
import type { Node } from '../../machinery/api/types/core.v1.ts';
import type { HostPort, PodInfo } from './pod-info.ts';
import { type Amounts, addTo, amountsOf } from './resources.ts';

export class NodeInfo {
  readonly name: string;
  readonly requested: Amounts = new Map();
  readonly assumedRequested: Amounts = new Map();
  readonly pods = new Map<string, PodInfo>();
  readonly podsWithAffinity = new Map<string, PodInfo>();
  readonly podsWithRequiredAntiAffinity = new Map<string, PodInfo>();
  readonly #usedPorts = new Map<string, number>();
  /** Sizes in bytes by image name. */
  images: ReadonlyMap<string, number> = new Map();
  allocatable: Amounts = new Map();
  #node: Node | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Undefined while pods are known of a node that is not. */
  get node(): Node | undefined {
    return this.#node;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#node?.metadata.labels ?? {};
  }

  get allowedPods(): number {
    return this.allocatable.get('pods') ?? 0;
  }

  setNode(node: Node | undefined): void {
    this.#node = node;
    this.allocatable = amountsOf(node?.status?.allocatable);
    this.images = new Map(
      (node?.status?.images ?? []).flatMap((image) => (image.names ?? []).map((name) => [name, image.sizeBytes ?? 0] as const)),
    );
  }

  addPod(pod: PodInfo): void {
    if (this.pods.has(pod.uid)) this.removePod(pod.uid);
    this.pods.set(pod.uid, pod);
    this.#count(pod, 1);
    if (hasAffinity(pod)) this.podsWithAffinity.set(pod.uid, pod);
    if (pod.requiredAntiAffinity.length > 0) this.podsWithRequiredAntiAffinity.set(pod.uid, pod);
  }

  removePod(uid: string): PodInfo | undefined {
    const pod = this.pods.get(uid);
    if (!pod) return undefined;
    this.pods.delete(uid);
    this.#count(pod, -1);
    this.podsWithAffinity.delete(uid);
    this.podsWithRequiredAntiAffinity.delete(uid);
    return pod;
  }

  /** Upstream's HostPortInfo: 0.0.0.0 stands for every address. */
  portTaken({ ip, protocol, port }: HostPort): boolean {
    const taken = (address: string): boolean => this.#usedPorts.has(`${address} ${protocol} ${port}`);
    if (ip !== '0.0.0.0') return taken('0.0.0.0') || taken(ip);
    if (taken('0.0.0.0')) return true;
    for (const key of this.#usedPorts.keys()) if (key.endsWith(` ${protocol} ${port}`)) return true;
    return false;
  }

  #count(pod: PodInfo, sign: 1 | -1): void {
    addTo(this.requested, pod.requests, sign);
    addTo(this.assumedRequested, pod.assumedRequests, sign);
    for (const { ip, protocol, port } of pod.hostPorts) {
      const key = `${ip} ${protocol} ${port}`;
      const count = (this.#usedPorts.get(key) ?? 0) + sign;
      if (count > 0) this.#usedPorts.set(key, count);
      else this.#usedPorts.delete(key);
    }
  }
}

const hasAffinity = (pod: PodInfo): boolean =>
  pod.requiredAffinity.length + pod.requiredAntiAffinity.length + pod.preferredAffinity.length + pod.preferredAntiAffinity.length > 0;
