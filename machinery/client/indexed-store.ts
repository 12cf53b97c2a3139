/**
 * The objects of one informer and their indexes. Mirrors client-go `tools/cache` thread_safe_store: an index maps a value to the objects found under it.
 *
 * Worked example: index `owner` with keys uid of each owner reference; pod a owned by X: `owner` → { X → { ns/a → a } }. An index is filled at its
 * first use and kept current from then on, so unused ones cost nothing.
 */
import { type KubeObject, objectKey } from '../api/object.ts';

type Keys<T> = (object: T) => readonly string[];

class Index<T extends KubeObject> {
  readonly #keys: Keys<T>;
  readonly #buckets = new Map<string, Map<string, T>>();

  constructor(keys: Keys<T>) {
    this.#keys = keys;
  }

  add(key: string, object: T): void {
    for (const value of this.#keys(object)) {
      let bucket = this.#buckets.get(value);
      if (!bucket) {
        bucket = new Map();
        this.#buckets.set(value, bucket);
      }
      bucket.set(key, object);
    }
  }

  remove(key: string, object: T): void {
    for (const value of this.#keys(object)) {
      const bucket = this.#buckets.get(value);
      if (bucket?.delete(key) && bucket.size === 0) this.#buckets.delete(value);
    }
  }

  bucket(value: string): ReadonlyMap<string, T> | undefined {
    return this.#buckets.get(value);
  }
}

const LABELS = '\0labels';

export class IndexedStore<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #definitions = new Map<string, Keys<T>>();
  readonly #indexes = new Map<string, Index<T>>();

  constructor() {
    this.#definitions.set(LABELS, (object) => {
      const namespace = object.metadata.namespace ?? '';
      return Object.entries(object.metadata.labels ?? {}).map(([name, value]) => labelKey(namespace, name, value));
    });
  }

  define(name: string, keys: Keys<T>): void {
    if (this.#definitions.has(name)) throw new Error(`index ${name} is defined already`);
    this.#definitions.set(name, keys);
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  keys(): Iterable<string> {
    return this.#objects.keys();
  }

  values(): readonly T[] {
    return [...this.#objects.values()];
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Returns what was there before. */
  set(object: T): T | undefined {
    const key = objectKey(object);
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) {
      if (old) index.remove(key, old);
      index.add(key, object);
    }
    return old;
  }

  delete(key: string): T | undefined {
    const old = this.#objects.get(key);
    if (!old) return undefined;
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) index.remove(key, old);
    return old;
  }

  byIndex(name: string, value: string): readonly T[] {
    const bucket = this.#index(name).bucket(value);
    return bucket ? [...bucket.values()] : [];
  }

  /** Starts from the rarest of the labels. */
  byLabels(namespace: string, labels: Readonly<Record<string, string>>): readonly T[] | undefined {
    const wanted = Object.entries(labels);
    if (wanted.length === 0) return undefined;
    let smallest: ReadonlyMap<string, T> | undefined;
    for (const [name, value] of wanted) {
      const bucket = this.#index(LABELS).bucket(labelKey(namespace, name, value));
      if (!bucket) return [];
      if (!smallest || bucket.size < smallest.size) smallest = bucket;
    }
    if (wanted.length === 1) return [...smallest!.values()];
    const has = (object: T): boolean => wanted.every(([name, value]) => object.metadata.labels?.[name] === value);
    return [...smallest!.values()].filter(has);
  }

  #index(name: string): Index<T> {
    const existing = this.#indexes.get(name);
    if (existing) return existing;
    const keys = this.#definitions.get(name);
    if (!keys) throw new Error(`there is no index ${name}`);
    const index = new Index(keys);
    for (const [key, object] of this.#objects) index.add(key, object);
    this.#indexes.set(name, index);
    return index;
  }
}

/** Neither namespaces nor label names contain NUL. */
const labelKey = (namespace: string, name: string, value: string): string => `${namespace}\0${name}\0${value}`;
