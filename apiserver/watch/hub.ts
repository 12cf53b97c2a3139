/**
 * All watches of the API server, above one subscription to the store. Mirrors apiserver `storage/cacher`, without its cache: the store already
 * is in memory and keeps its history.
 *
 * Bookmarks come to watchers that allow them: about once a minute; soon after a change of their resource that was not shown to them, because a
 * loop waits for its cache to reach the revision of its own write; and at the end of the stream.
 *
 * Invariant: a bookmark says a revision that is at or above every event sent before it and below every event sent after it.
 */
import type { Clock } from '../../machinery/process/clock.ts';
import { mutant } from '../../machinery/process/mutants.ts';
import type { Change, Store } from '../storage/interface.ts';
import { HeldBytes } from './backlog.ts';
import { ChangeView, type ParseStored } from './event.ts';
import { type GroupKey, ResourceGroups } from './groups.ts';
import { type EndReason, Watcher, type WatcherHost, type WatchRequest } from './watcher.ts';

export interface WatchHubDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Reads a stored version; the result is shared and never changed. */
  readonly parse: ParseStored;
  /** How often an idle watcher is told how far it is. Default 60 s. */
  readonly bookmarkIntervalMs?: number;
  /** How long a watcher may not know that its resource has moved on without it. Default 1 s. */
  readonly progressIntervalMs?: number;
  /** A live watcher with more unsent bytes is cut. Default 8 MiB. */
  readonly maxPendingBytes?: number;
  /** What all watchers together may have unsent, shared bytes counted once; beyond it those are cut that have been behind for longest. Default 128 MiB. */
  readonly maxHeldBytes?: number;
  /** Told when a watch ends, for metrics and logs. */
  readonly onEnd?: (request: WatchRequest, why: EndReason) => void;
  /** Told when a form or selector throws; the watches it was made for end with an ERROR event. */
  readonly onError?: (error: unknown) => void;
}

export interface WatchHub {
  open(request: WatchRequest): OpenWatch;
  /** Ends all watches of a resource, as when its definition is deleted. */
  endResource(prefix: string): void;
  /** Open watches by resource prefix. */
  counts(): ReadonlyMap<string, number>;
  /** What watchers have not been able to send. */
  readonly heldBytes: number;
  /** Ends all watches and takes no more. */
  close(): void;
}

export interface OpenWatch {
  /** To be called when the client has gone. */
  close(): void;
}

const BOOKMARK_INTERVAL_MS = 60_000;
const PROGRESS_INTERVAL_MS = 1_000;
const MAX_PENDING_BYTES = 8 * 1024 * 1024;
/** A stream shorter than this ends without a bookmark. */
const SHORTEST_WITH_BOOKMARK_MS = 2_000;

export function createWatchHub(deps: WatchHubDeps): WatchHub {
  return new Hub(deps);
}

class Hub implements WatchHub, WatcherHost {
  readonly store: Store;
  readonly parse: ParseStored;
  readonly maxPendingBytes: number;
  readonly held: HeldBytes;
  readonly #deps: WatchHubDeps;
  readonly #resources = new Map<string, ResourceGroups>();
  readonly #watchers = new Set<Watcher>();
  /** Watchers that begin in the future. */
  readonly #waiting = new Map<Watcher, number>();
  readonly #cancels: (() => void)[] = [];
  #progressScheduled = false;
  readonly #behind = new Set<ResourceGroups>();
  #closed = false;

  constructor(deps: WatchHubDeps) {
    this.#deps = deps;
    this.store = deps.store;
    this.parse = deps.parse;
    this.maxPendingBytes = deps.maxPendingBytes ?? MAX_PENDING_BYTES;
    this.held = new HeldBytes(deps.maxHeldBytes);
    const subscription = deps.store.watch('/', deps.store.revision, (changes, revision) => this.#publish(changes, revision));
    this.#cancels.push(() => subscription.close());
    this.#remindEvery(deps.bookmarkIntervalMs ?? BOOKMARK_INTERVAL_MS);
  }

  open(request: WatchRequest): OpenWatch {
    const watcher = new Watcher(request, this);
    this.#watchers.add(watcher);
    watcher.cancelTimeout = this.#deps.clock.setTimer(request.timeoutMs, () => this.#timeOut(watcher), { unref: true });
    if (this.#closed) watcher.end('closed');
    else watcher.start();
    return { close: () => watcher.end('client') };
  }

  endResource(prefix: string): void {
    for (const watcher of [...this.#watchers]) if (watcher.request.prefix === prefix) watcher.end('closed');
  }

  counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { request } of this.#watchers) counts.set(request.prefix, (counts.get(request.prefix) ?? 0) + 1);
    return counts;
  }

  get heldBytes(): number {
    return this.held.bytes;
  }

  close(): void {
    this.#closed = true;
    for (const cancel of this.#cancels) cancel();
    for (const watcher of [...this.#watchers]) watcher.end('closed');
  }

  awaitRevision(watcher: Watcher, revision: number): void {
    if (revision > this.store.revision) this.#waiting.set(watcher, revision);
    else watcher.read();
  }

  goLive(watcher: Watcher): void {
    const { request } = watcher;
    const groups = this.#groupsOf(request.prefix);
    groups.add(watcher, groupKeyOf(request));
    if (request.bookmarks && this.#changedSince(request.prefix, watcher.sentRevision)) this.#fellBehind(groups);
  }

  /** True when a watcher that knows `revision` does not know the newest change of its resource. */
  #changedSince(prefix: string, revision: number): boolean {
    return revision < this.store.compactedRevision || this.store.changes(prefix, revision, 1).changes.length > 0;
  }

  report(error: unknown): void {
    this.#deps.onError?.(error);
  }

  remove(watcher: Watcher, why: EndReason): void {
    const { request } = watcher;
    this.#watchers.delete(watcher);
    this.#waiting.delete(watcher);
    if (watcher.live) this.#groupsOf(request.prefix).remove(watcher, groupKeyOf(request));
    this.#deps.onEnd?.(request, why);
  }

  #publish(changes: readonly Change[], revision: number): void {
    const touched = new Set<ResourceGroups>();
    for (const [i, change] of changes.entries()) {
      if (mutant('watch.coalesced') && changes.slice(i + 1).some(({ current }) => current.key === change.current.key)) continue;
      const groups = this.#resources.get(prefixOf(change.current.key));
      if (groups === undefined) continue;
      groups.take(new ChangeView(change, this.parse));
      touched.add(groups);
    }
    for (const groups of touched) {
      groups.flush(revision);
      this.#fellBehind(groups);
    }
    for (const [watcher, atLeast] of [...this.#waiting]) {
      if (atLeast > revision) continue;
      this.#waiting.delete(watcher);
      watcher.read();
    }
  }

  #fellBehind(groups: ResourceGroups): void {
    this.#behind.add(groups);
    if (this.#progressScheduled || this.#closed) return;
    this.#progressScheduled = true;
    const delayMs = this.#deps.progressIntervalMs ?? PROGRESS_INTERVAL_MS;
    this.#deps.clock.setTimer(delayMs, () => this.#tellProgress(), { unref: true });
  }

  #tellProgress(): void {
    this.#progressScheduled = false;
    const behind = [...this.#behind];
    this.#behind.clear();
    for (const groups of behind) {
      for (const watcher of groups.watchers()) {
        if (watcher.request.bookmarks && this.#changedSince(watcher.request.prefix, watcher.sentRevision))
          watcher.bookmark(this.store.revision);
      }
    }
  }

  #remindEvery(intervalMs: number): void {
    let cancel = (): void => {};
    const next = (): void => {
      cancel = this.#deps.clock.setTimer(intervalMs, remind, { unref: true });
    };
    const remind = (): void => {
      for (const watcher of [...this.#watchers])
        if ((watcher.live || mutant('watch.bookmark-current')) && watcher.request.bookmarks) watcher.bookmark(this.store.revision);
      if (!this.#closed) next();
    };
    next();
    this.#cancels.push(() => cancel());
  }

  #timeOut(watcher: Watcher): void {
    const { bookmarks, timeoutMs } = watcher.request;
    if (watcher.live && bookmarks && timeoutMs >= SHORTEST_WITH_BOOKMARK_MS) watcher.bookmark(this.store.revision);
    watcher.end('timeout');
  }

  #groupsOf(prefix: string): ResourceGroups {
    let groups = this.#resources.get(prefix);
    if (groups === undefined) {
      groups = new ResourceGroups((error) => this.report(error));
      this.#resources.set(prefix, groups);
    }
    return groups;
  }
}

function groupKeyOf(request: WatchRequest): GroupKey {
  return { namespace: request.namespace, selector: request.selector, form: request.form };
}

/** `/apps/deployments/` of `/apps/deployments/default/web`. */
function prefixOf(key: string): string {
  return key.slice(0, key.indexOf('/', key.indexOf('/', 1) + 1) + 1);
}
