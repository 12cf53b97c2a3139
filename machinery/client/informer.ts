/**
 * A local, always current copy of one resource, kept by a reflector and shared by all loops of a process. Mirrors client-go `tools/cache`
 * (Reflector, SharedInformer, Indexer). Handlers learn only *which* object may have changed; decisions read the store.
 *
 * Objects handed out are shared: nobody may change them.
 */
import type { KubeObject } from '../api/object.ts';
import type { ResourceType } from './resource-type.ts';

/** `object` is the new state, `old` the one it replaces; a deletion has only `old`. Called synchronously, in order. */
export type InformerHandler<T extends KubeObject> = (change: { readonly object: T | undefined; readonly old: T | undefined }) => void;

/** Index names every informer has. */
export const BY_NAMESPACE = 'namespace';
/** By the uid of each owner reference. */
export const BY_OWNER = 'owner';
/** By spec.nodeName; empty for pods without a node. */
export const BY_NODE = 'nodeName';
/** By namespace, those that no controller has. */
export const UNCONTROLLED = 'uncontrolled';

export interface Informer<T extends KubeObject> {
  readonly type: ResourceType<T>;
  /** `namespace/name` or `name`. */
  get(key: string): T | undefined;
  list(namespace?: string): readonly T[];
  byIndex(index: string, value: string): readonly T[];
  /** Objects of a namespace whose labels have all pairs of `labels` (indexed when small). */
  byLabels(namespace: string, labels: Readonly<Record<string, string>>): readonly T[];
  /** Adds a named index before the start; `keys` gives the values an object is found under. */
  addIndex(name: string, keys: (object: T) => readonly string[]): void;
  addHandler(handler: InformerHandler<T>): void;
  /** True once the first full state has been loaded. */
  readonly synced: boolean;
  /** The newest revision this copy is known to contain (events and bookmarks advance it). 0 before the first list. */
  readonly revision: number;
  /** Settles when `revision` has reached `atLeast`. */
  reached(atLeast: number, signal?: AbortSignal): Promise<void>;
}

export interface InformerOptions {
  readonly fieldSelector?: string;
  /** Only apiVersion, kind and metadata are kept (PartialObjectMetadata). */
  readonly metadataOnly?: boolean;
}

export interface InformerFactory {
  /** The one shared informer of a resource and options. Asking creates it; `start` runs what was asked for, also later askers. */
  for<T extends KubeObject>(type: ResourceType<T>, options?: InformerOptions): Informer<T>;
  /** Starts all informers; they end with the signal. */
  start(signal: AbortSignal): void;
  /** Settles when every informer asked for so far is synced. */
  synced(signal?: AbortSignal): Promise<void>;
  /** Settles when all reflectors have ended. */
  readonly done: Promise<void>;
}
