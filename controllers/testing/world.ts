/**
 * A small API server, lagging copies and processes that can be killed between any two writes, for tests that step the loops by hand. It keeps what the loops
 * rely on: one revision for all writes, compare-and-set, generations, uids, graceful deletion of pods; and nothing else of the real one.
 *
 * The copies of a process advance only by `deliver`, per resource, so that every interleaving of watches can be played. As in the real loop a key
 * is not compared before its own writes are in the copies.
 */

import { controllerOf, type KubeObject, objectKey } from '../../machinery/api/object.ts';
import { conflict, notFound } from '../../machinery/api/status.ts';
import { formatTime } from '../../machinery/api/time.ts';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import { BY_OWNER, type Informer, UNCONTROLLED } from '../../machinery/client/informer.ts';
import { pods, type ResourceType, replicasets } from '../../machinery/client/resource-type.ts';
import type { PlannedController, View } from '../../machinery/loop/controller.ts';
import type { Action } from '../../machinery/loop/plan.ts';
import type { Random } from '../../machinery/process/random.ts';
import { isActive, isReady } from '../pods.ts';

interface Change {
  readonly revision: number;
  readonly key: string;
  readonly object: KubeObject | undefined;
}

export class World {
  readonly random: Random;
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #log = new Map<string, Change[]>();
  #revision = 100;
  #uids = 0;
  nowMs = Date.parse('2030-01-01T00:00:00Z');

  constructor(random: Random) {
    this.random = random;
  }

  get now(): Date {
    return new Date(this.nowMs);
  }

  all<T extends KubeObject>(type: ResourceType<T>): T[] {
    return [...(this.#objects.get(type.resource)?.values() ?? [])] as T[];
  }

  get<T extends KubeObject>(type: ResourceType<T>, key: string): T | undefined {
    return this.#objects.get(type.resource)?.get(key) as T | undefined;
  }

  changes(type: ResourceType): readonly Change[] {
    return this.#log.get(type.resource) ?? [];
  }

  get revision(): number {
    return this.#revision;
  }

  create<T extends KubeObject>(type: ResourceType<T>, object: T): T {
    const name = object.metadata.name ?? `${object.metadata.generateName}${this.random.suffix(5)}`;
    const metadata = {
      namespace: 'ns',
      ...object.metadata,
      name,
      uid: `uid-${++this.#uids}`,
      generation: 1,
      creationTimestamp: formatTime(this.now),
    };
    const made = { ...object, metadata } as T;
    if (this.get(type, objectKey(made))) throw conflict(type, name, 'already exists');
    return this.#put(type, made);
  }

  /** Replaces the object; `resourceVersion` must be the present one. `status`: only the status (and annotations) are taken. */
  update<T extends KubeObject>(type: ResourceType<T>, object: T, status = false): T {
    const before = this.#present(type, objectKey(object)) as T & { spec?: unknown; status?: unknown };
    if (object.metadata.resourceVersion !== before.metadata.resourceVersion) throw conflict(type, object.metadata.name ?? '', 'modified');
    const next = object as T & { spec?: unknown; status?: unknown };
    if (status) {
      const metadata = { ...before.metadata, ...(object.metadata.annotations && { annotations: object.metadata.annotations }) };
      return this.#put(type, { ...before, metadata, status: next.status });
    }
    const raised = JSON.stringify(next.spec) === JSON.stringify(before.spec) ? 0 : 1;
    return this.#put(type, {
      ...before,
      metadata: { ...object.metadata, generation: (before.metadata.generation ?? 0) + raised },
      spec: next.spec,
    });
  }

  delete(type: ResourceType, key: string, uid: string, resourceVersion?: string): void {
    const before = this.#present(type, key);
    if (before.metadata.uid !== uid || (resourceVersion ?? before.metadata.resourceVersion) !== before.metadata.resourceVersion)
      throw conflict(type, key, 'uid');
    if (type.resource === 'pods') this.#put(type, { ...before, metadata: { ...before.metadata, deletionTimestamp: formatTime(this.now) } });
    else this.remove(type, key);
  }

  remove(type: ResourceType, key: string): void {
    this.#objects.get(type.resource)?.delete(key);
    this.#record(type, { revision: ++this.#revision, key, object: undefined });
  }

  #present(type: ResourceType, key: string): KubeObject {
    const found = this.get(type, key);
    if (!found) throw notFound(type, key);
    return found;
  }

  #put<T extends KubeObject>(type: ResourceType<T>, object: T): T {
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#revision) } };
    const key = objectKey(stored);
    const objects = this.#objects.get(type.resource) ?? new Map();
    this.#objects.set(type.resource, objects.set(key, stored));
    this.#record(type, { revision: this.#revision, key, object: stored });
    return stored;
  }

  #record(type: ResourceType, change: Change): void {
    this.#log.set(type.resource, [...(this.#log.get(type.resource) ?? []), change]);
  }
}

/** What one process has seen of one resource. */
class Copy {
  readonly objects = new Map<string, KubeObject>();
  seen = 0;
  revision = 0;

  deliver(changes: readonly Change[], count: number): void {
    for (const { key, object, revision } of changes.slice(this.seen, this.seen + count)) {
      if (object) this.objects.set(key, object);
      else this.objects.delete(key);
      this.revision = revision;
    }
    this.seen = Math.min(changes.length, this.seen + count);
  }
}

/** A write about to be made: what was there before, and how many ready pods the process knew of when it decided. */
export type BeforeWrite = (action: Action, before: KubeObject | undefined, readyKnown: number) => void;

interface Pass {
  readonly readyKnown: number;
  readonly rest: (Action | undefined)[];
}

/** A process with some loops, each with one pass under way at most. */
export class TestProcess {
  readonly #world: World;
  readonly #loops: readonly PlannedController<unknown>[];
  readonly #beforeWrite: BeforeWrite;
  readonly #copies = new Map<string, Copy>();
  readonly #passes = new Map<string, Pass>();
  readonly #written = new Map<string, Map<string, number>>();

  constructor(world: World, loops: readonly PlannedController<unknown>[], beforeWrite: BeforeWrite = () => undefined) {
    this.#world = world;
    this.#beforeWrite = beforeWrite;
    this.#loops = loops;
    this.restart();
  }

  /** Killed and started again: what was not written is lost, the copies are new. */
  restart(): void {
    this.#passes.clear();
    this.#written.clear();
    this.#copies.clear();
    this.deliverAll();
  }

  get types(): ResourceType[] {
    return this.#loops.flatMap((loop) => loop.watches.map((watch) => watch.type));
  }

  deliver(type: ResourceType, count: number): void {
    this.#copy(type).deliver(this.#world.changes(type), count);
  }

  deliverAll(): void {
    for (const type of this.types) this.deliver(type, Number.MAX_SAFE_INTEGER);
  }

  /** Begins a pass, or does the next write of the one under way. Answers whether anything was written. */
  step(loopIndex: number, key: string): boolean {
    const loop = this.#loops[loopIndex % this.#loops.length]!;
    const id = `${loop.name} ${key}`;
    const pass = this.#passes.get(id);
    if (pass === undefined) {
      if (!this.#isFresh(id)) return false;
      const observed = loop.observe(key, this.#view());
      if (observed === undefined) return false;
      const plan = loop.compare(observed, this.#world.now);
      const known = [...this.#copy(pods).objects.values()] as Pod[];
      const readyKnown = known.filter((pod) => isActive(pod) && isReady(pod)).length;
      this.#passes.set(id, { readyKnown, rest: [...plan.actions, plan.status] });
      return false;
    }
    const action = pass.rest.shift();
    if (pass.rest.length === 0) this.#passes.delete(id);
    if (action === undefined) return false;
    try {
      this.#perform(id, action, pass.readyKnown);
      return true;
    } catch (error) {
      const { reason } = error as { reason?: string };
      if (reason === undefined) throw error;
      if (!('tolerate' in action && action.tolerate?.includes(reason))) this.#passes.delete(id);
      return false;
    }
  }

  /** Runs a whole pass. */
  pass(loopIndex: number, key: string): boolean {
    let wrote = this.step(loopIndex, key);
    const loop = this.#loops[loopIndex % this.#loops.length]!;
    while (this.#passes.has(`${loop.name} ${key}`)) wrote = this.step(loopIndex, key) || wrote;
    return wrote;
  }

  #copy(type: ResourceType): Copy {
    const copy = this.#copies.get(type.resource) ?? new Copy();
    this.#copies.set(type.resource, copy);
    return copy;
  }

  #isFresh(id: string): boolean {
    return [...(this.#written.get(id) ?? [])].every(([resource, revision]) => (this.#copies.get(resource)?.revision ?? 0) >= revision);
  }

  #perform(id: string, action: Action, readyKnown: number): void {
    const { type } = action;
    this.#beforeWrite(
      action,
      'name' in action ? this.#world.get(type, objectKey({ metadata: action.name })) : this.#world.get(type, objectKey(action.object)),
      readyKnown,
    );
    if (action.do === 'create') this.#world.create(type, action.object);
    else if (action.do === 'update') this.#world.update(type, action.object, action.subresource === 'status');
    else if (action.do === 'delete')
      this.#world.delete(type, objectKey({ metadata: action.name }), action.uid, action.options?.resourceVersion);
    else throw new Error(`the test world has no ${action.do}`);
    const written = this.#written.get(id) ?? new Map<string, number>();
    this.#written.set(id, written.set(type.resource, this.#world.revision));
  }

  #view(): View {
    return {
      of: <T extends KubeObject>(type: ResourceType<T>) => {
        const { objects, revision } = this.#copy(type);
        const list = (namespace?: string): T[] =>
          [...objects.values()].filter((o) => !namespace || o.metadata.namespace === namespace) as T[];
        const informer: Partial<Informer<T>> = {
          type,
          revision,
          synced: true,
          get: (key) => objects.get(key) as T | undefined,
          list,
          byIndex: (index, value) =>
            index === BY_OWNER
              ? list().filter((o) => o.metadata.ownerReferences?.some((ref) => ref.uid === value))
              : index === UNCONTROLLED
                ? list(value).filter((o) => controllerOf(o) === undefined)
                : [],
          byLabels: (namespace, labels) =>
            list(namespace).filter((o) => Object.entries(labels).every(([k, v]) => o.metadata.labels?.[k] === v)),
        };
        return informer as Informer<T>;
      },
    };
  }
}

/** `ns/name` of every ReplicaSet there is. */
export const setKeys = (world: World): string[] => world.all(replicasets).map(objectKey);
