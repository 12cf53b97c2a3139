/**
 * Who owns whom, as far as our copies know. Mirrors upstream `garbagecollector/graph.go`.
 *
 * Invariant: the graph only says who may have to be looked at; whether an owner exists is always asked of the server. So a graph that lags makes the
 * collector late, never wrong.
 */
import type { KubeObject, OwnerReference } from '../../machinery/api/object.ts';
import type { ResourceType } from '../../machinery/client/resource-type.ts';

export const ORPHAN = 'orphan';
export const FOREGROUND = 'foregroundDeletion';

export interface GraphNode {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly owners: readonly OwnerReference[];
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
}

/** Being deleted in the foreground: waits until its blocking dependents are gone. */
export const waitsForDependents = (node: GraphNode): boolean => node.deleting && node.finalizers.includes(FOREGROUND);
/** Being deleted with its dependents to be kept. */
export const orphansDependents = (node: GraphNode): boolean => node.deleting && node.finalizers.includes(ORPHAN);

/** Shared by all nodes that have none. */
const NONE: readonly never[] = [];

export class Graph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #dependents = new Map<string, Set<string>>();

  get size(): number {
    return this.#nodes.size;
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  /** Nodes that name this uid as an owner. */
  dependentsOf(uid: string): GraphNode[] {
    return [...(this.#dependents.get(uid) ?? [])].map((dependent) => this.#nodes.get(dependent)!);
  }

  set(type: ResourceType, object: KubeObject): GraphNode {
    const { uid = '', resourceVersion = '', namespace = '', name = '', deletionTimestamp } = object.metadata;
    const { ownerReferences: owners = NONE, finalizers = NONE } = object.metadata;
    const before = this.#nodes.get(uid);
    const node: GraphNode = { uid, resourceVersion, type, namespace, name, owners, deleting: deletionTimestamp !== undefined, finalizers };
    this.#nodes.set(uid, node);
    // most changes leave the owners alone
    if (before && before.owners.length === owners.length && before.owners.every((owner, index) => owner.uid === owners[index]?.uid))
      return node;
    this.#unlink(uid, before);
    for (const owner of owners) {
      const dependents = this.#dependents.get(owner.uid) ?? new Set();
      this.#dependents.set(owner.uid, dependents.add(uid));
    }
    return node;
  }

  delete(uid: string): void {
    this.#unlink(uid, this.#nodes.get(uid));
    this.#nodes.delete(uid);
  }

  #unlink(uid: string, node: GraphNode | undefined): void {
    for (const owner of node?.owners ?? []) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(uid);
      if (dependents?.size === 0) this.#dependents.delete(owner.uid);
    }
  }

  /** Which uids must be looked at after `node` came or changed (`before`: what it was). Upstream: graph_builder.go processGraphChanges. */
  *suspects(node: GraphNode, before: GraphNode | undefined): Iterable<string> {
    for (const owner of node.owners) {
      const known = this.#nodes.get(owner.uid);
      if (known === undefined || (known.namespace !== '' && known.namespace !== node.namespace)) yield node.uid;
      else if (waitsForDependents(known)) {
        yield node.uid;
        yield owner.uid;
      }
    }
    for (const owner of before?.owners ?? []) yield* this.#waiting(owner.uid);
    if (orphansDependents(node)) yield node.uid;
    else if (waitsForDependents(node)) {
      yield node.uid;
      for (const dependent of this.dependentsOf(node.uid)) yield dependent.uid;
    }
  }

  /** Which uids must be looked at after `node` is gone. */
  *suspectsAfter(node: GraphNode): Iterable<string> {
    for (const dependent of this.dependentsOf(node.uid)) yield dependent.uid;
    for (const owner of node.owners) yield* this.#waiting(owner.uid);
  }

  *#waiting(uid: string): Iterable<string> {
    const node = this.#nodes.get(uid);
    if (node !== undefined && (waitsForDependents(node) || orphansDependents(node))) yield uid;
  }
}
