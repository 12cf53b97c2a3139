/**
 * Removes what has lost its owners, in the background, in the foreground or not at all, as the deletion of the owner asked. Mirrors upstream
 * `pkg/controller/garbagecollector`.
 *
 * No plan: any kind may own any other, and whether an owner is really gone must be asked of the server at the moment of the decision.
 * Invariant: an object is deleted only after a live read of each of its owners found none with that name and uid, with the uid and resourceVersion under which it
 * named these owners as precondition. An owner of an unknown kind counts as there.
 */
import type { KubeObject } from '../machinery/api/object.ts';
import { isReason } from '../machinery/api/status.ts';
import type { Informer } from '../machinery/client/informer.ts';
import type { ResourceType } from '../machinery/client/resource-type.ts';
import type { ControllerContext, Reconciler } from '../machinery/loop/controller.ts';
import { Workqueue } from '../machinery/loop/workqueue.ts';
import { type DiscoveredResource, discoverResources, preferred } from './discovery.ts';
import { Collector } from './garbagecollector/collector.ts';
import { Graph } from './garbagecollector/graph.ts';

const DEFAULT_WORKERS = 20;
/** How often new kinds are looked for when nothing hints at one. */
const REDISCOVERY_MS = 30_000;
const COMPONENT = 'garbage-collector-controller';
/** Short-lived records that nobody owns anything by. */
const IGNORED = new Set(['/events', 'events.k8s.io/events']);
const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions';

export function garbageCollector(workers = DEFAULT_WORKERS): Reconciler {
  return { name: 'garbagecollector', component: COMPONENT, run: (context) => new Run(context).start(workers) };
}

class Run {
  readonly #context: ControllerContext;
  readonly #graph = new Graph();
  readonly #queue: Workqueue;
  readonly #collector: Collector;
  readonly #informers = new Map<string, Informer<KubeObject>>();
  readonly #logger;
  #resources: readonly DiscoveredResource[] = [];
  /** Settles when the copies of all kinds known at the start are complete, or at the end. */
  readonly #complete: Promise<void>;
  #completed: () => void = () => undefined;
  /** Aborted to look for new kinds at once. */
  #hint = new AbortController();

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#logger = context.logger.child({ controller: 'garbagecollector' });
    this.#queue = new Workqueue(context.clock);
    this.#complete = new Promise((resolve) => {
      this.#completed = resolve;
    });
    this.#collector = new Collector({
      client: context.client,
      recorder: context.recorder(COMPONENT),
      graph: this.#graph,
      resources: () => this.#resources,
      enqueue: (uid) => this.#queue.add(uid),
    });
  }

  async start(workers: number): Promise<void> {
    const { signal } = this.#context;
    signal.addEventListener('abort', () => this.#queue.close(), { once: true });
    const discovery = this.#discoverForever();
    await this.#complete;
    await Promise.all([discovery, ...Array.from({ length: workers }, () => this.#work())]);
  }

  async #work(): Promise<void> {
    for (let uid = await this.#queue.get(); uid !== undefined; uid = await this.#queue.get()) {
      try {
        const outcome = await this.#collector.process(uid);
        this.#queue.forget(uid);
        if (outcome === 'unknown-kind') this.#hint.abort();
      } catch (error) {
        if (!this.#context.signal.aborted) {
          this.#logger[isReason(error, 'Conflict', 'NotFound') ? 'debug' : 'warn']({ uid, err: error }, 'pass failed, will be tried again');
          this.#queue.addRateLimited(uid);
        }
      } finally {
        this.#queue.done(uid);
      }
    }
  }

  /** Nothing is collected of a kind before our copy of it is complete; kinds that come later join. */
  async #discoverForever(): Promise<void> {
    const { clock, signal } = this.#context;
    while (!signal.aborted) {
      this.#hint = new AbortController();
      try {
        await this.#discover();
        this.#completed();
      } catch (error) {
        if (signal.aborted) break;
        this.#logger.warn({ err: error }, 'discovery failed, will be tried again');
        await clock.sleep(1000, signal).catch(() => undefined);
        continue;
      }
      await clock.sleep(REDISCOVERY_MS, AbortSignal.any([signal, this.#hint.signal])).catch(() => undefined);
      if (this.#hint.signal.aborted) await clock.sleep(1000, signal).catch(() => undefined); // not more often than this
    }
    this.#completed();
  }

  async #discover(): Promise<void> {
    const { client, signal } = this.#context;
    const { resources } = await discoverResources(client);
    this.#resources = resources;
    const added: Informer<KubeObject>[] = [];
    for (const type of preferred(resources, ['list', 'watch', 'delete'])) {
      const id = `${type.group}/${type.resource}`;
      if (IGNORED.has(id) || this.#informers.has(id)) continue;
      const informer = this.#follow(type);
      this.#informers.set(id, informer);
      added.push(informer);
    }
    if (added.length === 0) return;
    await Promise.all(added.map((informer) => informer.reached(1, signal)));
    this.#logger.info({ resources: this.#informers.size }, 'copies are complete');
    // objects whose owners were of a kind unknown until now
    for (const informer of this.#informers.values()) {
      for (const object of informer.list())
        if (object.metadata.ownerReferences?.some((owner) => !this.#graph.get(owner.uid))) this.#queue.add(object.metadata.uid ?? '');
    }
  }

  #follow(type: ResourceType): Informer<KubeObject> {
    const informer = this.#context.informers.for(type, { metadataOnly: true });
    const complete = (): boolean => informer.synced;
    const suspect = (uids: Iterable<string>): void => {
      for (const uid of uids) this.#queue.add(uid);
    };
    const gone = (object: KubeObject): void => {
      const node = this.#graph.get(object.metadata.uid ?? '');
      if (node === undefined) return;
      this.#graph.delete(node.uid);
      suspect(this.#graph.suspectsAfter(node));
    };
    informer.addHandler(({ object, old }) => {
      if (old !== undefined && old.metadata.uid !== object?.metadata.uid) gone(old);
      if (object === undefined) return;
      const before = this.#graph.get(object.metadata.uid ?? '');
      const node = this.#graph.set(type, object);
      suspect(this.#graph.suspects(node, before));
      if (`${type.group}/${type.resource}` === DEFINITIONS && complete()) this.#hint.abort();
    });
    return informer;
  }
}
