/**
 * A client over a map, for unit tests that own the clock: create, get, list, update, delete with revisions, uids and conflicts; watches deliver what a
 * test lets through. It stands for an API server where a real one could not be slowed down or broken as the test needs; everything else is tested
 * against the real one.
 */
import { type KubeObject, objectKey } from '../../api/object.ts';
import { alreadyExists, conflict, notFound, OBJECT_MODIFIED } from '../../api/status.ts';
import type { Client, DeleteParams, ObjectList, ObjectName, WatchEvent } from '../client.ts';
import type { ResourceType } from '../resource-type.ts';

export interface Written {
  readonly verb: string;
  readonly resource: string;
  readonly key: string;
  readonly body?: unknown;
}

export class MemoryClient implements Client {
  readonly server = 'memory';
  readonly objects = new Map<string, KubeObject>();
  /** Every write that reached us, failed ones too. */
  readonly writes: Written[] = [];
  /** Called before each request is served; may throw or wait. */
  intercept: (verb: string, resource: string, key: string) => void | Promise<void> = () => undefined;
  revision = 0;
  readonly #watchers = new Set<(resource: string, event: WatchEvent<KubeObject>) => void>();

  async get<T extends KubeObject>(type: ResourceType<T>, name: ObjectName): Promise<T> {
    const key = objectKey({ metadata: name });
    await this.intercept('get', type.resource, key);
    return structuredClone(this.#found(type, key)) as T;
  }

  async list<T extends KubeObject>(type: ResourceType<T>): Promise<ObjectList<T>> {
    await this.intercept('list', type.resource, '');
    const prefix = `${type.resource}|`;
    const items = [...this.objects].filter(([id]) => id.startsWith(prefix)).map(([, object]) => structuredClone(object) as T);
    return { items, metadata: { resourceVersion: String(Math.max(this.revision, 1)) } };
  }

  async create<T extends KubeObject>(type: ResourceType<T>, object: T): Promise<T> {
    await this.#writing(
      'create',
      type,
      objectKey({ metadata: { ...object.metadata, name: object.metadata.name ?? object.metadata.generateName } }),
      object,
    );
    const name = object.metadata.name ?? `${object.metadata.generateName}${this.revision + 1}`;
    if (this.objects.has(`${type.resource}|${objectKey({ metadata: { ...object.metadata, name } })}`)) throw alreadyExists(type, name);
    return this.#put(type, { ...object, metadata: { ...object.metadata, name, uid: `uid-${this.revision + 1}` } }, 'ADDED');
  }

  async createSubresource<R>(type: ResourceType, name: ObjectName, subresource: string, body: unknown): Promise<R> {
    await this.#writing(`create/${subresource}`, type, objectKey({ metadata: name }), body);
    return { kind: 'Status' } as R;
  }

  async update<T extends KubeObject>(type: ResourceType<T>, object: T, params: { subresource?: string } = {}): Promise<T> {
    const key = objectKey(object);
    await this.#writing(params.subresource ? `update/${params.subresource}` : 'update', type, key, object);
    const live = this.#found(type, key);
    if (object.metadata.resourceVersion && object.metadata.resourceVersion !== live.metadata.resourceVersion) {
      throw conflict(type, object.metadata.name ?? '', OBJECT_MODIFIED);
    }
    return this.#put(type, object, 'MODIFIED');
  }

  /** Merges top-level members and metadata only; a uid is a precondition. */
  async patch<T extends KubeObject>(type: ResourceType<T>, name: ObjectName, _patchType: string, patch: unknown): Promise<T> {
    const key = objectKey({ metadata: name });
    await this.#writing('patch', type, key, patch);
    const live = this.#found(type, key) as T;
    const change = patch as Partial<T>;
    const { uid = live.metadata.uid } = change.metadata ?? {};
    if (uid !== live.metadata.uid) throw conflict(type, name.name, 'the UID in the patch does not match');
    return this.#put(type, { ...live, ...change, metadata: { ...live.metadata, ...change.metadata } }, 'MODIFIED');
  }

  async delete<T extends KubeObject>(type: ResourceType<T>, name: ObjectName, params: DeleteParams = {}): Promise<unknown> {
    const key = objectKey({ metadata: name });
    await this.#writing('delete', type, key);
    const live = this.#found(type, key);
    if (params.uid && params.uid !== live.metadata.uid) throw conflict(type, name.name, 'the UID in the precondition does not match');
    this.objects.delete(`${type.resource}|${key}`);
    this.#tell(type, 'DELETED', { ...live, metadata: { ...live.metadata, resourceVersion: String(++this.revision) } });
    return { kind: 'Status', status: 'Success' };
  }

  deleteCollection(): Promise<unknown> {
    throw new Error('not served');
  }

  async *watch<T extends KubeObject>(
    type: ResourceType<T>,
    _params: unknown,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const queue: WatchEvent<T>[] = [];
    let wake = (): void => undefined;
    const listener = (resource: string, event: WatchEvent<KubeObject>): void => {
      if (resource !== type.resource) return;
      queue.push(event as WatchEvent<T>);
      wake();
    };
    this.#watchers.add(listener);
    try {
      await this.intercept('watch', type.resource, '');
      for (const object of (await this.list(type)).items) queue.push({ type: 'ADDED', object });
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      queue.push({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(Math.max(this.revision, 1)), annotations } } });
      signal.addEventListener('abort', () => wake(), { once: true });
      for (;;) {
        for (let event = queue.shift(); event; event = queue.shift()) yield event;
        if (signal.aborted) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      this.#watchers.delete(listener);
    }
  }

  raw(): Promise<never> {
    throw new Error('not served');
  }

  stream(): Promise<never> {
    throw new Error('not served');
  }

  async close(): Promise<void> {}

  /** From now on changes of the resource are not told to watchers; the result tells them all. */
  hold(type: ResourceType): () => void {
    const held: (() => void)[] = [];
    this.#held.set(type.resource, held);
    return () => {
      this.#held.delete(type.resource);
      for (const tell of held) tell();
    };
  }
  readonly #held = new Map<string, (() => void)[]>();

  async #writing(verb: string, type: ResourceType, key: string, body?: unknown): Promise<void> {
    this.writes.push({ verb, resource: type.resource, key, body });
    await this.intercept(verb, type.resource, key);
  }

  #found(type: ResourceType, key: string): KubeObject {
    const object = this.objects.get(`${type.resource}|${key}`);
    if (!object) throw notFound(type, key.slice(key.indexOf('/') + 1));
    return object;
  }

  #put<T extends KubeObject>(type: ResourceType<T>, object: T, event: 'ADDED' | 'MODIFIED'): T {
    const stored = structuredClone({ ...object, metadata: { ...object.metadata, resourceVersion: String(++this.revision) } });
    this.objects.set(`${type.resource}|${objectKey(stored)}`, stored);
    this.#tell(type, event, stored);
    return structuredClone(stored);
  }

  #tell(type: ResourceType, event: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void {
    const tell = (): void => {
      for (const watcher of this.#watchers) watcher(type.resource, { type: event, object: structuredClone(object) });
    };
    const held = this.#held.get(type.resource);
    if (held) held.push(tell);
    else tell();
  }
}
