/**
 * Looks at one object and does what its owners' state asks. Mirrors upstream `garbagecollector.go` (attemptToDeleteItem, processDeletingDependentsItem,
 * attemptToOrphan). Every step is repeatable: whatever a killed collector left half done, the next pass finds and finishes.
 */
import { formatApiVersion, type KubeObject, type OwnerReference, parseApiVersion } from '../../machinery/api/object.ts';
import { isReason } from '../../machinery/api/status.ts';
import type { Client, DeleteParams } from '../../machinery/client/client.ts';
import type { EventRecorder } from '../../machinery/client/event-recorder.ts';
import { Lru } from '../../machinery/client/lru.ts';
import { mutant } from '../../machinery/process/mutants.ts';
import { type DiscoveredResource, preferred, resourceOfKind } from '../discovery.ts';
import { FOREGROUND, type Graph, type GraphNode, ORPHAN, orphansDependents, waitsForDependents } from './graph.ts';

export interface CollectorDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly graph: Graph;
  readonly resources: () => readonly DiscoveredResource[];
  readonly enqueue: (uid: string) => void;
}

type Standing = 'solid' | 'gone' | 'waiting' | 'unknown';

/** Upstream's absentOwnerCacheSize. */
const REMEMBERED_ABSENT = 500;

export class Collector {
  readonly #deps: CollectorDeps;
  /** Uids of owners the server did not have. A uid never comes back, so each is asked for once, not once for each of its dependents. */
  readonly #absent = new Lru<string, true>(REMEMBERED_ABSENT);

  constructor(deps: CollectorDeps) {
    this.#deps = deps;
  }

  /** `unknown-kind`: an owner's kind is not served (yet); the object stays. */
  async process(uid: string): Promise<'done' | 'unknown-kind'> {
    const node = this.#deps.graph.get(uid);
    if (node === undefined || this.#isHeld(node)) return 'done';
    const isBusy = orphansDependents(node) || waitsForDependents(node);
    if (node.deleting && !isBusy) return 'done'; // on its way already, and there is no way back
    if (!node.deleting && node.owners.length > 0) {
      // our copy of it will do: whatever is written carries its resourceVersion, so it fails when the copy is old
      try {
        return await this.#checkOwners(node, asCopied(node));
      } catch (error) {
        if (!isReason(error, 'Conflict')) throw error;
      }
    }
    const item = await this.#read(node);
    if (item === undefined || item.metadata.uid !== uid) return 'done'; // gone, or a namesake: its own event tells
    const live: GraphNode = {
      ...node,
      owners: item.metadata.ownerReferences ?? [],
      deleting: item.metadata.deletionTimestamp !== undefined,
      finalizers: item.metadata.finalizers ?? [],
    };
    if (orphansDependents(live)) await this.#orphan(live, item);
    else if (waitsForDependents(live)) await this.#finishForeground(live, item);
    else if (!live.deleting && live.owners.length > 0) return this.#checkOwners(live, item);
    return 'done';
  }

  /** Our copies have all its owners where they should be, and none on its way out: not worth a question. The end of an owner will ask again. */
  #isHeld({ deleting, owners, namespace }: GraphNode): boolean {
    if (deleting) return false;
    return owners.every(({ uid }) => {
      const owner = this.#deps.graph.get(uid);
      return owner !== undefined && !owner.deleting && (owner.namespace === '' || owner.namespace === namespace);
    });
  }

  async #read({ type, namespace, name }: GraphNode): Promise<KubeObject | undefined> {
    return this.#deps.client.get(type, { namespace, name }).catch((error: unknown) => {
      if (isReason(error, 'NotFound')) return undefined;
      throw error;
    });
  }

  async #checkOwners(node: GraphNode, item: KubeObject): Promise<'done' | 'unknown-kind'> {
    const standings = await Promise.all(node.owners.map((owner) => this.#standingOf(owner, node, item)));
    const owners = node.owners.filter((_, index) => standings[index] === 'solid' || standings[index] === 'unknown');
    const unknown = standings.includes('unknown');
    if (owners.length > 0) {
      // something still holds it: forget the owners that do not
      if (owners.length < node.owners.length && !unknown) await this.#patch(node, item, { ownerReferences: owners });
      return unknown ? 'unknown-kind' : 'done';
    }
    const dependents = this.#deps.graph.dependentsOf(node.uid);
    if (standings.includes('waiting') && dependents.length > 0) {
      // its owner waits for it, and it for its dependents, unless they wait for each other in a circle
      if (dependents.some(waitsForDependents))
        await this.#patch(node, item, { ownerReferences: node.owners.map((owner) => ({ ...owner, blockOwnerDeletion: false })) });
      await this.#delete(node, item, 'Foreground');
      return 'done';
    }
    await this.#delete(
      node,
      item,
      node.finalizers.includes(ORPHAN) ? 'Orphan' : node.finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background',
    );
    return 'done';
  }

  async #standingOf(owner: OwnerReference, node: GraphNode, item: KubeObject): Promise<Standing> {
    const type = resourceOfKind(this.#deps.resources(), parseApiVersion(owner.apiVersion), owner.kind);
    if (type === undefined) return 'unknown';
    if (type.namespaced && node.namespace === '') {
      this.#invalidNamespace(owner, item);
      return 'unknown';
    }
    if (this.#absent.get(owner.uid)) return 'gone';
    const known = this.#deps.graph.get(owner.uid);
    if (known !== undefined && type.namespaced && known.namespace !== node.namespace) this.#invalidNamespace(owner, item);
    const name = { namespace: type.namespaced ? node.namespace : '', name: owner.name };
    if (mutant('gc.no-live-check')) return known === undefined ? this.#gone(owner.uid) : 'solid';
    try {
      const found = await this.#deps.client.get(type, name);
      if (found.metadata.uid !== owner.uid) return this.#gone(owner.uid);
      const waits = found.metadata.deletionTimestamp !== undefined && found.metadata.finalizers?.includes(FOREGROUND);
      return waits ? 'waiting' : 'solid';
    } catch (error) {
      if (isReason(error, 'NotFound')) return this.#gone(owner.uid);
      throw error;
    }
  }

  #gone(uid: string): Standing {
    this.#absent.set(uid, true);
    return 'gone';
  }

  #invalidNamespace(owner: OwnerReference, item: KubeObject): void {
    const namespace = item.metadata.namespace ?? '';
    const ref = `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`;
    this.#deps.recorder.event(item, 'Warning', 'OwnerRefInvalidNamespace', `ownerRef ${ref} does not exist in namespace "${namespace}"`);
  }

  async #delete(node: GraphNode, item: KubeObject, propagationPolicy: DeleteParams['propagationPolicy'] & string): Promise<void> {
    const { uid = '', resourceVersion = '' } = item.metadata;
    await this.#deps.client
      .delete(node.type, { namespace: node.namespace, name: node.name }, { uid, resourceVersion, propagationPolicy })
      .catch((error: unknown) => {
        if (!isReason(error, 'NotFound')) throw error;
      });
  }

  /** The owner goes when no dependent blocks it any more. */
  async #finishForeground(node: GraphNode, item: KubeObject): Promise<void> {
    const dependents = this.#deps.graph.dependentsOf(node.uid);
    const blocking = dependents.filter((dependent) => dependent.owners.some((owner) => owner.uid === node.uid && owner.blockOwnerDeletion));
    if (blocking.length === 0)
      await this.#patch(node, item, { finalizers: node.finalizers.filter((finalizer) => finalizer !== FOREGROUND) });
    for (const dependent of dependents) if (!dependent.deleting) this.#deps.enqueue(dependent.uid);
  }

  /**
   * Dependents lose the reference, then the owner goes. They are looked for on the server, not in the graph: one that the graph does not know yet
   * would be collected as soon as its owner is gone.
   */
  async #orphan(node: GraphNode, item: KubeObject): Promise<void> {
    const types = preferred(this.#deps.resources(), ['list', 'patch']).filter((type) => type.namespaced || node.namespace === '');
    for (const type of types) {
      const { items } = await this.#deps.client.list(type, { namespace: node.namespace, metadataOnly: true });
      for (const dependent of items) {
        const owners = dependent.metadata.ownerReferences ?? [];
        if (!owners.some((owner) => owner.uid === node.uid)) continue;
        const { uid = '', namespace = '', name = '' } = dependent.metadata;
        await this.#patch({ ...node, uid, type, namespace, name }, dependent, {
          ownerReferences: owners.filter((owner) => owner.uid !== node.uid),
        });
      }
    }
    await this.#patch(node, item, { finalizers: node.finalizers.filter((finalizer) => finalizer !== ORPHAN) });
  }

  /** Fails with Conflict when the object changed since it was read; the next pass sees how. */
  async #patch(
    node: GraphNode,
    read: KubeObject,
    metadata: { ownerReferences?: readonly unknown[]; finalizers?: readonly string[] },
  ): Promise<void> {
    const { uid, resourceVersion } = read.metadata;
    const emptied = Object.fromEntries(Object.entries(metadata).map(([name, list]) => [name, list.length > 0 ? list : null]));
    await this.#deps.client
      .patch(node.type, { namespace: node.namespace, name: node.name }, 'application/merge-patch+json', {
        metadata: { uid, resourceVersion, ...emptied },
      })
      .catch((error: unknown) => {
        if (!isReason(error, 'NotFound')) throw error;
      });
  }
}

const asCopied = ({ type, namespace, name, uid, resourceVersion }: GraphNode): KubeObject => ({
  apiVersion: formatApiVersion(type),
  kind: type.kind,
  metadata: { ...(namespace && { namespace }), name, uid, resourceVersion },
});
