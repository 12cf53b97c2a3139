/**
 * The contract of storage: an ordered log of revisions and the state it leads to. Mirrors etcd v3's revision model and
 * apiserver `storage.Interface`, minus everything about objects: storage knows keys and bytes only.
 *
 * Invariant: nobody is ever shown a revision that is not durable. `get`, `list`, `changes` and subscribers see committed
 * revisions only, in revision order; a write's promise settles after its revision was published.
 *
 * Keys are `/<group or core>/<resource>/<namespace>/<name>` (no namespace part for cluster-scoped resources), compared as UTF-8 bytes.
 */

/** One version of one key. `bytes` is the object's JSON exactly as served, already carrying this revision as resourceVersion. */
export interface Stored {
  readonly key: string;
  /** The revision of the write that made this version. */
  readonly revision: number;
  /** Off-heap and never mutated. An old version may be read back from disk when asked for. */
  readonly bytes: Buffer;
}

/** One committed change. A deletion carries the last state at the deletion's own revision in `current.bytes`. */
export interface Change {
  readonly type: 'put' | 'delete';
  readonly current: Stored;
  /** The version this change replaced; undefined when the key did not exist. */
  readonly previous: Stored | undefined;
}

export interface ListOptions {
  /** Exactly the state at this revision; the latest when absent. Throws RevisionCompacted / RevisionTooNew. */
  readonly revision?: number;
  /** First key to return, inclusive. */
  readonly startKey?: string;
  /** 0 or absent means all. */
  readonly limit?: number;
}

export interface ListResult {
  /** The revision the list is a snapshot of. */
  readonly revision: number;
  readonly items: readonly Stored[];
  /** Where the next page starts (the last returned key and a NUL), when there are more. */
  readonly nextKey: string | undefined;
  /** How many keys follow, when there are more. */
  readonly remaining: number;
}

export interface WriteOptions {
  /** The write may use the room that is kept back when the quota is reached: it leads to less, or much hangs on it. */
  readonly fromReserve?: boolean;
}

/** How much a store holds, in bytes. */
export interface StoreSize {
  /** Of all versions that are kept: objects and history. The quota is about this. */
  readonly used: number;
  /** 0 when there is no limit. */
  readonly quota: number;
  /** Of the files; 0 without a disk. */
  readonly onDisk: number;
}

export interface Store {
  /** The last committed revision; 1 in a new store. */
  readonly revision: number;
  /** States below this revision cannot be read, changes at or below it cannot be watched any more; 0 when nothing was compacted. */
  readonly compactedRevision: number;

  get(key: string): Stored | undefined;
  /** Keys that start with `prefix`, in key order. */
  list(prefix: string, options?: ListOptions): ListResult;
  /** How many keys start with `prefix` now. */
  count(prefix: string): number;

  /**
   * Writes a key that must not exist. `encode` is called synchronously with the revision the write will have and returns the bytes to store.
   * Rejects with KeyExists (once the write that made the key is committed); with StoreFailed when the disk did not take it, after which
   * the store takes no more writes; with StoreFull at the quota. An error of `encode` rejects and uses up no revision.
   */
  create(key: string, encode: (revision: number) => Buffer): Promise<Stored>;
  /**
   * Replaces the version `expectedRevision` of a key. Rejects with RevisionConflict (after the conflicting write has been committed, so
   * that a retry reads it) or KeyMissing; or as create does.
   */
  update(key: string, expectedRevision: number, encode: (revision: number) => Buffer, options?: WriteOptions): Promise<Stored>;
  /** Removes the version `expectedRevision`; `encode` gives the last state, at the deletion's revision. Rejects as update does, but never for the quota. */
  delete(key: string, expectedRevision: number, encode: (revision: number) => Buffer): Promise<Stored>;

  /**
   * Up to `limit` of the changes after `afterRevision` under `prefix`, in revision order. `revision` is how far the answer reaches: ask on
   * from there. Throws RevisionCompacted when `afterRevision` is below `compactedRevision`.
   */
  changes(prefix: string, afterRevision: number, limit: number): ChangesResult;
  /**
   * All changes after `afterRevision` under `prefix`, in revision order, each once: first those of the log, in slices, then live ones, without a gap.
   * `onChanges` is called synchronously after each commit with the changes of that commit, possibly none, and the revision reached; never
   * before `watch` has returned. It must not throw. Throws RevisionCompacted when `afterRevision` is below `compactedRevision`.
   */
  watch(prefix: string, afterRevision: number, onChanges: OnChanges): Subscription;

  /**
   * Drops versions that were superseded, and tombstones, at or below `revision`, in small slices, and gives their room on the disk back when it is much.
   * Writers get their turn between slices. Ends early, between slices, with the signal.
   */
  compact(revision: number, signal?: AbortSignal): Promise<void>;
  size(): StoreSize;
  /** Settles when the store can write no more; the process should then exit. */
  readonly failed: Promise<Error>;
  /** Commits what is queued, then closes. */
  close(): Promise<void>;
}

export type OnChanges = (changes: readonly Change[], revision: number) => void;

export interface ChangesResult {
  readonly changes: readonly Change[];
  readonly revision: number;
}

export interface Subscription {
  close(): void;
}

export class KeyExists extends Error {}
export class KeyMissing extends Error {}
export class RevisionConflict extends Error {}
export class RevisionCompacted extends Error {}
export class RevisionTooNew extends Error {}
export class StoreFailed extends Error {}
/** The quota is reached. */
export class StoreFull extends Error {}
/** The files of the store contradict what was once acknowledged. Never repaired silently. */
export class StoreDamaged extends Error {}
/** Another process has the store open. */
export class StoreLocked extends Error {}
