/**
 * The committed revisions in memory: for every key its versions since the last compaction, and the changes in revision order. Mirrors etcd
 * mvcc `keyIndex` and `treeIndex`.
 *
 * Worked example. Revisions 2 create /a, 3 create /b, 4 update /a, 5 delete /b:
 *   /a: versions 2, 4      /b: versions 3, 5 (tombstone)      log: 2 3 4 5
 *   state at 3: a@2 b@3    at 4: a@4 b@3    at 5: a@4
 * compact(4) drops a@2 (superseded at or below 4) and the log up to 4; b@3 stays, since the state at 4 has it and 5 has it as `previous`.
 * compact(5) drops b@3 and the tombstone b@5, and with them the key /b.
 *
 * Invariant: a version that some readable state or change needs is never dropped.
 */

import { mutant } from '../../machinery/process/mutants.ts';
import { type Change, RevisionCompacted, RevisionTooNew, type Stored } from './interface.ts';
import { endOfPrefix, orderOf } from './key-order.ts';
import { SortedKeys } from './sorted-keys.ts';

/** Reads the bytes of a version back that memory let go of. */
export type ReadBytes = (revision: number) => Buffer;

/** What a record takes beside key and object (level/record.ts); the same for all backends. */
const RECORD_OVERHEAD = 62;

export class Version implements Stored {
  readonly key: string;
  readonly revision: number;
  readonly deleted: boolean;
  /** What it takes of the quota. */
  readonly size: number;
  #bytes: Buffer | undefined;
  readonly #read: ReadBytes | undefined;
  constructor(key: string, revision: number, deleted: boolean, content: { bytes?: Buffer; read?: ReadBytes }) {
    this.key = key;
    this.revision = revision;
    this.deleted = deleted;
    this.size = key.length + (content.bytes?.length ?? 0) + RECORD_OVERHEAD;
    this.#bytes = content.bytes;
    this.#read = content.read;
  }
  get bytes(): Buffer {
    return this.#bytes ?? this.#read!(this.revision);
  }
  /** How many bytes of memory it holds. */
  get held(): number {
    return this.#bytes?.length ?? 0;
  }
  letGo(): void {
    if (this.#read) this.#bytes = undefined;
  }
}

const FEW = 4;

class KeyVersions {
  readonly order: string;
  /** Ascending by revision, never empty while in the index. */
  versions: Version[] = [];
  live = false;
  constructor(key: string) {
    this.order = orderOf(key);
  }
  /** Most keys have few versions: an array that grows by itself would take seventeen places for the first. */
  add(version: Version): void {
    if (this.versions.length < FEW) this.versions = this.versions.concat(version);
    else this.versions.push(version);
  }
  /** The version a reader of `revision` sees. */
  at(revision: number): Version | undefined {
    for (let i = this.versions.length - 1; i >= 0; i--) {
      const version = this.versions[i];
      if (version.revision <= revision) return version.deleted ? undefined : version;
    }
    return undefined;
  }
}

/** Changes in revision order, with cheap removal at the front. */
class ChangeLog {
  #changes: Change[] = [];
  #head = 0;
  push(change: Change): void {
    this.#changes.push(change);
  }
  /** Position of the first change after `revision`. */
  after(revision: number): number {
    let low = this.#head;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#changes[middle].current.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  at(position: number): Change {
    return this.#changes[position];
  }
  get end(): number {
    return this.#changes.length;
  }
  get empty(): boolean {
    return this.#head === this.#changes.length;
  }
  dropThrough(revision: number): void {
    this.#head = this.after(revision);
    if (this.#head < 4096 || this.#head * 2 < this.#changes.length) return;
    this.#changes = this.#changes.slice(this.#head);
    this.#head = 0;
  }
}

/** Superseded versions kept in memory; older ones are read from disk. */
const HISTORY_BYTES = 64 * 1024 * 1024;

export class Revisions {
  revision = 1;
  compacted = 0;
  readonly #keys = new Map<string, KeyVersions>();
  readonly #index = new SortedKeys<KeyVersions>();
  readonly #log = new ChangeLog();
  /** The same changes by resource (`/apps/deployments/`), so that a watcher's catch-up reads only its own. */
  readonly #logs = new Map<string, ChangeLog>();
  /** Sizes of all versions that are kept. */
  used = 0;
  #historyBytes = 0;
  #letGoThrough = 0;

  /** The newest version of a key, which may be a tombstone. */
  newest(key: string): Version | undefined {
    return this.#keys.get(key)?.versions.at(-1);
  }

  get(key: string): Version | undefined {
    const newest = this.newest(key);
    return newest?.deleted ? undefined : newest;
  }

  /** Takes the next revision in. */
  apply(version: Version): Change {
    const entry = this.#entryOf(version.key);
    const before = entry.versions.at(-1);
    const previous = before?.deleted ? undefined : before;
    entry.add(version);
    this.used += version.size;
    if (entry.live === version.deleted) {
      entry.live = !version.deleted;
      this.#index.livenessChanged(entry);
    }
    const change: Change = { type: version.deleted ? 'delete' : 'put', current: version, previous };
    this.revision = version.revision;
    this.#log.push(change);
    this.#resourceLog(version.key).push(change);
    this.#historyBytes += (previous?.held ?? 0) + (version.deleted ? version.held : 0);
    if (this.#historyBytes > HISTORY_BYTES) this.#letGo();
    return change;
  }

  /** Takes a version in that is older than all history (at open). */
  restore(version: Version): void {
    const entry = this.#entryOf(version.key);
    entry.add(version);
    this.used += version.size;
    entry.live = true;
    this.#index.livenessChanged(entry);
    this.revision = Math.max(this.revision, version.revision);
  }

  count(prefix: string): number {
    const order = orderOf(prefix);
    return this.#index.countLive(order, endOfPrefix(order));
  }

  list(
    prefix: string,
    startKey: string | undefined,
    limit: number,
    revision: number,
  ): { items: Version[]; more: boolean; remaining: number } {
    this.assertReadable(revision);
    const prefixOrder = orderOf(prefix);
    const end = endOfPrefix(prefixOrder);
    // A start before the prefix, as an old or foreign token may carry, starts at the prefix.
    const start = startKey === undefined || orderOf(startKey) < prefixOrder ? prefixOrder : orderOf(startKey);
    const latest = revision === this.revision;
    const items: Version[] = [];
    let more: string | undefined;
    this.#index.scan(start, end, (entry) => {
      if (latest && !entry.live) return true;
      const version = latest ? entry.versions[entry.versions.length - 1] : entry.at(revision);
      if (version === undefined) return true;
      if (limit > 0 && items.length === limit) {
        more = entry.order;
        return false;
      }
      items.push(version);
      return true;
    });
    if (more === undefined) return { items, more: false, remaining: 0 };
    return { items, more: true, remaining: this.#countAt(more, end, revision) };
  }

  assertReadable(revision: number): void {
    if (revision > this.revision) throw new RevisionTooNew(`revision ${revision} is newer than the store's ${this.revision}`);
    if (revision < this.compacted) throw new RevisionCompacted(`revision ${revision} has been compacted up to ${this.compacted}`);
  }

  changes(prefix: string, after: number, limit: number): { changes: Change[]; revision: number } {
    const oldest = this.compacted + (mutant('store.expired-early') ? 1 : 0) - (mutant('store.resume-below-compaction') ? 1 : 0);
    if (after < oldest) throw new RevisionCompacted(`revision ${after} has been compacted up to ${this.compacted}`);
    const resource = resourceOf(prefix);
    const log = resource === undefined ? this.#log : this.#logs.get(resource);
    const changes: Change[] = [];
    if (log === undefined) return { changes, revision: this.revision };
    const whole = resource === undefined ? prefix === '' || prefix === '/' : prefix === resource;
    for (let i = log.after(after); i < log.end; i++) {
      const change = log.at(i);
      if (!whole && !change.current.key.startsWith(prefix)) continue;
      changes.push(change);
      if (changes.length === limit) return { changes, revision: change.current.revision };
    }
    return { changes, revision: Math.max(after, this.revision) };
  }

  /** The revisions whose versions compacting to `revision` makes unreachable, and how much those take. */
  superseded(revision: number): { dropped: number[]; bytes: number } {
    const dropped: number[] = [];
    let bytes = 0;
    const drop = (version: Stored): void => {
      dropped.push(version.revision);
      bytes += (version as Version).size;
    };
    for (let i = this.#log.after(this.compacted); i < this.#log.end; i++) {
      const change = this.#log.at(i);
      if (change.current.revision > revision) break;
      if (change.previous) drop(change.previous);
      if (change.type === 'delete' || mutant('store.compaction-eats-live')) drop(change.current);
    }
    return { dropped, bytes };
  }

  compact(revision: number): void {
    for (let i = this.#log.after(this.compacted); i < this.#log.end; i++) {
      const change = this.#log.at(i);
      if (change.current.revision > revision) break;
      this.#drop(change);
    }
    this.compacted = revision;
    this.#log.dropThrough(revision);
    for (const [resource, log] of this.#logs) {
      log.dropThrough(mutant('store.delete-lost-at-compaction') ? revision + 1 : revision);
      if (log.empty) this.#logs.delete(resource);
    }
  }

  #drop(change: Change): void {
    const entry = this.#keys.get(change.current.key)!;
    if (change.current.revision > this.#letGoThrough) this.#historyBytes -= historyBytesOf(change);
    const at = entry.versions.indexOf(change.current as Version);
    const gone = change.type === 'delete' ? at + 1 : at;
    for (let i = 0; i < gone; i++) this.used -= entry.versions[i].size;
    entry.versions = entry.versions.slice(gone);
    if (entry.versions.length > 0) return;
    this.#index.remove(entry);
    this.#keys.delete(change.current.key);
  }

  /** Frees the bytes of the oldest history until the budget holds. */
  #letGo(): void {
    let position = this.#log.after(Math.max(this.#letGoThrough, this.compacted));
    while (this.#historyBytes > HISTORY_BYTES && position < this.#log.end) {
      const change = this.#log.at(position++);
      this.#historyBytes -= historyBytesOf(change);
      (change.previous as Version | undefined)?.letGo();
      if (change.type === 'delete') (change.current as Version).letGo();
      this.#letGoThrough = change.current.revision;
    }
  }

  /** Live keys of [start, end) at `revision`: those of now, corrected by what changed since, or counted when that is less work. */
  #countAt(start: string, end: string, revision: number): number {
    const now = this.#index.countLive(start, end);
    if (revision === this.revision) return now;
    let count = 0;
    if (this.revision - revision > now) {
      this.#index.scan(start, end, (entry) => {
        if (entry.at(revision)) count++;
        return true;
      });
      return count;
    }
    count = now;
    for (let i = this.#log.after(revision); i < this.#log.end; i++) {
      const { type, current, previous } = this.#log.at(i);
      const order = orderOf(current.key);
      if (order < start || order >= end) continue;
      if (type === 'delete') count++;
      else if (previous === undefined) count--;
    }
    return count;
  }

  #entryOf(key: string): KeyVersions {
    let entry = this.#keys.get(key);
    if (entry === undefined) {
      entry = new KeyVersions(key);
      this.#keys.set(key, entry);
      this.#index.insert(entry);
    }
    return entry;
  }

  #resourceLog(key: string): ChangeLog {
    const resource = resourceOf(key) ?? '';
    let log = this.#logs.get(resource);
    if (log === undefined) {
      log = new ChangeLog();
      this.#logs.set(resource, log);
    }
    return log;
  }
}

function historyBytesOf(change: Change): number {
  return ((change.previous as Version | undefined)?.held ?? 0) + (change.type === 'delete' ? (change.current as Version).held : 0);
}

/** `/apps/deployments/` of `/apps/deployments/default/web`; undefined when the text does not reach that far. */
function resourceOf(key: string): string | undefined {
  const second = key.indexOf('/', 1);
  const third = second < 0 ? -1 : key.indexOf('/', second + 1);
  return third < 0 ? undefined : key.slice(0, third + 1);
}
