/**
 * Shared informers: one reflector and one indexed store per resource and process. Mirrors client-go `informers.SharedInformerFactory`.
 *
 * Invariant: the store, the indexes and `revision` change together, before any handler or waiter runs; so whoever is woken at revision R reads a
 * state of at least R.
 */
import { setMaxListeners } from 'node:events';
import { controllerOf, type KubeObject, objectKey } from '../api/object.ts';
import type { Clock } from '../process/clock.ts';
import type { Logger } from '../process/logger.ts';
import type { Random } from '../process/random.ts';
import type { Client } from './client.ts';
import { IndexedStore } from './indexed-store.ts';
import {
  BY_NAMESPACE,
  BY_NODE,
  BY_OWNER,
  type Informer,
  type InformerFactory,
  type InformerHandler,
  type InformerOptions,
  UNCONTROLLED,
} from './informer.ts';
import { Reflector, type ReflectorSink } from './reflector.ts';
import type { ResourceType } from './resource-type.ts';
import { RevisionWaiters } from './revision-waiters.ts';

export interface InformerDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export function createInformerFactory(client: Client, deps: InformerDeps): InformerFactory {
  return new SharedInformers(client, deps);
}

class SharedInformers implements InformerFactory {
  readonly #client: Client;
  readonly #deps: InformerDeps;
  readonly #informers = new Map<string, SharedInformer<KubeObject>>();
  readonly #running: Promise<void>[] = [];
  #signal: AbortSignal | undefined;
  #finish: () => void = () => undefined;
  readonly done: Promise<void>;

  constructor(client: Client, deps: InformerDeps) {
    this.#client = client;
    this.#deps = deps;
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  for<T extends KubeObject>(type: ResourceType<T>, options: InformerOptions = {}): Informer<T> {
    const idOf = (form: string): string => [type.group, type.version, type.resource, options.fieldSelector ?? '', form].join('|');
    const id = idOf(options.metadataOnly ? 'metadata' : '');
    let informer = this.#informers.get(id) ?? this.#informers.get(idOf('')); // a whole copy has the metadata too
    if (!informer) {
      informer = new SharedInformer(type as ResourceType, options);
      this.#informers.set(id, informer);
      if (this.#signal) this.#run(informer, this.#signal);
    }
    return informer as unknown as Informer<T>;
  }

  start(signal: AbortSignal): void {
    if (this.#signal) throw new Error('the informers have been started already');
    this.#signal = signal;
    setMaxListeners(0, signal); // every watch of the process listens to it
    for (const informer of this.#informers.values()) this.#run(informer, signal);
    const end = (): void => {
      Promise.all(this.#running).then(() => this.#finish());
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  }

  async synced(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.reached(1, signal)));
  }

  #run(informer: SharedInformer<KubeObject>, signal: AbortSignal): void {
    this.#running.push(informer.run({ client: this.#client, ...this.#deps }, signal));
  }
}

class SharedInformer<T extends KubeObject> implements Informer<T>, ReflectorSink<T> {
  readonly type: ResourceType<T>;
  readonly #options: InformerOptions;
  readonly #store = new IndexedStore<T>();
  readonly #handlers: InformerHandler<T>[] = [];
  readonly #waiters = new RevisionWaiters();
  #revision = 0;

  constructor(type: ResourceType<T>, options: InformerOptions) {
    this.type = type;
    this.#options = options;
    this.#store.define(BY_NAMESPACE, (object) => [object.metadata.namespace ?? '']);
    this.#store.define(BY_OWNER, (object) => (object.metadata.ownerReferences ?? []).map((owner) => owner.uid));
    this.#store.define(BY_NODE, (object) => [(object as { spec?: { nodeName?: string } }).spec?.nodeName ?? '']);
    this.#store.define(UNCONTROLLED, (object) => (controllerOf(object) === undefined ? [object.metadata.namespace ?? ''] : []));
  }

  run(deps: InformerDeps & { readonly client: Client }, signal: AbortSignal): Promise<void> {
    return new Reflector(this.type, this, deps, this.#options).run(signal);
  }

  get synced(): boolean {
    return this.#revision > 0;
  }

  get revision(): number {
    return this.#revision;
  }

  reached(atLeast: number, signal?: AbortSignal): Promise<void> {
    return this.#revision >= atLeast ? Promise.resolve() : this.#waiters.wait(atLeast, signal);
  }

  get(key: string): T | undefined {
    return this.#store.get(key);
  }

  list(namespace?: string): readonly T[] {
    return namespace ? this.#store.byIndex(BY_NAMESPACE, namespace) : this.#store.values();
  }

  byIndex(index: string, value: string): readonly T[] {
    return this.#store.byIndex(index, value);
  }

  byLabels(namespace: string, labels: Readonly<Record<string, string>>): readonly T[] {
    return this.#store.byLabels(namespace, labels) ?? this.list(namespace);
  }

  addIndex(name: string, keys: (object: T) => readonly string[]): void {
    this.#store.define(name, keys);
  }

  addHandler(handler: InformerHandler<T>): void {
    this.#handlers.push(handler);
    for (const object of this.#store.values()) handler({ object, old: undefined });
  }

  replace(objects: readonly T[], revision: number): void {
    const gone = new Set(this.#store.keys());
    const changes: { object: T | undefined; old: T | undefined }[] = [];
    for (const object of objects) {
      trim(object);
      gone.delete(objectKey(object));
      const old = this.#store.set(object);
      if (old?.metadata.resourceVersion !== object.metadata.resourceVersion || old?.metadata.uid !== object.metadata.uid)
        changes.push({ object, old });
    }
    for (const key of gone) changes.push({ object: undefined, old: this.#store.delete(key) });
    this.#moveTo(revision);
    for (const change of changes) this.#tell(change);
  }

  change(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    trim(object);
    const old = type === 'DELETED' ? (this.#store.delete(objectKey(object)) ?? object) : this.#store.set(object);
    this.#moveTo(Number(object.metadata.resourceVersion));
    this.#tell({ object: type === 'DELETED' ? undefined : object, old });
  }

  progress(revision: number): void {
    this.#moveTo(revision);
  }

  #moveTo(revision: number): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    this.#waiters.reached(revision);
  }

  #tell(change: { object: T | undefined; old: T | undefined }): void {
    for (const handler of this.#handlers) {
      try {
        handler(change);
      } catch (error) {
        // a bug, not a failure of the watch: it must end the process, not be retried
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

/**
 * Who owns which field is a third of an object and nothing to a control loop. A write without it leaves it as it is on the server. Mirrors upstream's
 * `TransformStripManagedFields`. Set, not deleted: an object that lost a member is kept by V8 as a slow and large dictionary.
 */
function trim(object: KubeObject): void {
  const metadata = object.metadata as { managedFields?: unknown };
  if (metadata.managedFields !== undefined) metadata.managedFields = undefined;
}
