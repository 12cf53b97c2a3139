/**
 * One watch: from where it starts to where everybody is, then live. While it reads (the state there is, then history) it pulls slices and waits
 * for its client; once it has read the last committed revision it joins its group in the same turn, so nothing is missed or sent twice. A live
 * watcher is pushed to; when its client does not take the bytes it is cut at a cap, never skipped.
 */
import { expired, internalError, type StatusError } from '../../machinery/api/status.ts';
import { afterTurn, type Cancel } from '../../machinery/process/clock.ts';
import { failpoint } from '../../machinery/process/failpoints.ts';
import { mutant } from '../../machinery/process/mutants.ts';
import { RevisionCompacted, type Store, type Stored } from '../storage/interface.ts';
import { Backlog, type HeldBytes } from './backlog.ts';
import { ChangeView, type ParseStored, StoredObject } from './event.ts';
import type { WatchForm, WatchSelector, WatchSink } from './form.ts';

export type WatchStart =
  /** The changes after this revision, which may lie in the future. */
  | { readonly from: 'revision'; readonly revision: number }
  /** What happens from now on (`sendInitialEvents=false`). */
  | { readonly from: 'now' }
  /** An ADDED for each object there is, in key order, then live. */
  | {
      readonly from: 'state';
      /** The state must not be older than this; the watch waits for it. */
      readonly atLeast?: number;
      /** Ends the initial events with the bookmark that says so (`sendInitialEvents=true` and bookmarks allowed). */
      readonly announceEnd?: boolean;
    };

export interface WatchRequest {
  /** `/apps/deployments/`. */
  readonly prefix: string;
  /** '' for all. */
  readonly namespace: string;
  readonly selector?: WatchSelector;
  readonly form: WatchForm;
  readonly start: WatchStart;
  readonly bookmarks: boolean;
  /** After this the stream ends cleanly. */
  readonly timeoutMs: number;
  readonly sink: WatchSink;
}

/** What a watcher needs of the hub. */
export interface WatcherHost {
  readonly store: Store;
  readonly parse: ParseStored;
  readonly maxPendingBytes: number;
  /** What all watchers together have not been able to send. */
  readonly held: HeldBytes;
  /** Called back once the store has reached the revision. */
  awaitRevision(watcher: Watcher, revision: number): void;
  goLive(watcher: Watcher): void;
  remove(watcher: Watcher, why: EndReason): void;
  /** A form or selector threw. */
  report(error: unknown): void;
}

export type EndReason = 'client' | 'timeout' | 'tooSlow' | 'expired' | 'failed' | 'closed';

/** Objects or changes looked at before others get their turn. */
const SLICE = 256;
const SLICE_BYTES = 64 * 1024;
/** A reader lets its client take what is pending above this before it reads on. Such bytes are its own: a thousand readers hold a thousand times as much. */
const READ_AHEAD_BYTES = 64 * 1024;

export class Watcher {
  readonly request: WatchRequest;
  readonly #host: WatcherHost;
  readonly #output: Backlog;
  /** No frame was sent yet. */
  fresh = true;
  live = false;
  /** Everything the watcher should know up to here has been sent, by an event or a bookmark. */
  sentRevision = 0;
  cancelTimeout: Cancel = () => {};
  #closed = false;
  #announced = false;
  /** All changes up to here have been read. */
  #cursor = 0;
  #snapshot: readonly Stored[] | undefined;
  #position = 0;

  constructor(request: WatchRequest, host: WatcherHost) {
    this.request = request;
    this.#host = host;
    this.#output = new Backlog(request.sink, host.held, () => this.end('tooSlow'));
  }

  /** Where its objects are. */
  get scope(): string {
    return this.request.namespace === '' ? this.request.prefix : `${this.request.prefix}${this.request.namespace}/`;
  }

  start(): void {
    const { start } = this.request;
    if (start.from === 'state') {
      this.#host.awaitRevision(this, start.atLeast ?? 0);
      return;
    }
    this.#cursor = start.from === 'now' ? this.#host.store.revision : start.revision;
    if (mutant('watch.resume-inclusive')) this.#cursor--;
    if (mutant('watch.resume-skips-one')) this.#cursor++;
    this.sentRevision = this.#cursor;
    this.#host.awaitRevision(this, this.#cursor);
  }

  /** Called when the store has reached what the start asked for, and again after each slice. */
  read(): void {
    if (this.#closed) return;
    try {
      this.#readSlice();
    } catch (error) {
      this.#host.report(error);
      this.end('failed', internalError('the watch could not be served', { cause: error }));
    }
  }

  #readSlice(): void {
    const { sink, start } = this.request;
    if (this.#output.pendingBytes > READ_AHEAD_BYTES) {
      sink.onDrain(() => this.read());
      return;
    }
    if (start.from === 'state' && this.#snapshot === undefined) {
      const list = this.#host.store.list(this.scope);
      this.#snapshot = list.items;
      this.#cursor = list.revision;
      failpoint('watch.after-state');
    }
    if (this.#snapshot !== undefined && this.#position < this.#snapshot.length) this.#readState(this.#snapshot);
    else this.#readHistory();
  }

  deliver(chunk: Buffer, revision: number): void {
    if (this.#closed) return;
    if (mutant('watch.slow-skipped') && this.request.sink.pendingBytes > 0) return;
    this.fresh = false;
    this.sentRevision = revision;
    this.#output.write(chunk);
    if (this.#output.pendingBytes > this.#host.maxPendingBytes) this.end('tooSlow');
  }

  bookmark(revision: number, initialEventsEnd = false): void {
    const { form } = this.request;
    failpoint('watch.before-bookmark');
    this.deliver(form.bookmark(revision, initialEventsEnd, this.fresh), revision);
  }

  /** `error` is sent as the last event. */
  end(why: EndReason, error?: StatusError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#snapshot = undefined;
    this.cancelTimeout();
    this.#host.remove(this, why);
    const { sink, form } = this.request;
    if (why === 'client' || why === 'tooSlow') this.#output.drop();
    else this.#output.flush();
    if (why === 'client') return;
    if (error !== undefined) sink.write(form.error(error.status));
    if (why === 'tooSlow') sink.destroy();
    else sink.end();
  }

  #readState(snapshot: readonly Stored[]): void {
    const { selector, form } = this.request;
    const frames = new Frames();
    for (let looked = 0; looked < SLICE && this.#position < snapshot.length && !frames.full; looked++, this.#position++) {
      const object = new StoredObject(snapshot[this.#position], this.#host.parse);
      if (selector !== undefined && !selector.matches(object.object)) continue;
      frames.push(form.event('ADDED', object, this.fresh && frames.empty), object.revision);
    }
    this.#send(frames);
    if (this.#position < snapshot.length) afterTurn(() => this.read());
    else this.#readSlice();
  }

  #readHistory(): void {
    const { store } = this.#host;
    this.#announceEnd();
    if (this.#closed) return;
    try {
      this.#sendChanges();
    } catch (error) {
      if (!(error instanceof RevisionCompacted)) throw error;
      if (!mutant('watch.expired-jumps')) {
        this.end('expired', expired(`too old resource version: ${this.#cursor} (${store.compactedRevision})`));
        return;
      }
      this.#cursor = store.revision;
    }
    if (this.#cursor < store.revision && !mutant('watch.joins-early')) {
      afterTurn(() => this.read());
      return;
    }
    failpoint('watch.before-live');
    this.#snapshot = [];
    this.#position = 0;
    this.live = true;
    this.#host.goLive(this);
  }

  #announceEnd(): void {
    const { start } = this.request;
    if (start.from !== 'state' || !start.announceEnd || this.#announced) return;
    this.#announced = true;
    if (mutant('watch.state-at-latest')) this.#cursor = this.#host.store.revision;
    this.bookmark(this.#cursor, true);
  }

  #sendChanges(): void {
    const { selector, form } = this.request;
    const { changes, revision } = this.#host.store.changes(this.scope, this.#cursor, SLICE);
    const frames = new Frames();
    for (const change of changes) {
      if (frames.full) break;
      this.#cursor = change.current.revision;
      const event = new ChangeView(change, this.#host.parse).eventFor(selector);
      if (event !== undefined) frames.push(form.event(event.type, event.object, this.fresh && frames.empty), change.current.revision);
    }
    if (!frames.full) this.#cursor = revision;
    this.#send(frames);
  }

  /** Written without regard to the cap: a reader waits for its client instead. */
  #send(frames: Frames): void {
    if (frames.empty) return;
    this.fresh = false;
    this.sentRevision = Math.max(this.sentRevision, frames.revision);
    this.#output.write(frames.join());
  }
}

/** The frames of a slice, bounded by bytes. */
class Frames {
  readonly #frames: Buffer[] = [];
  #bytes = 0;
  /** The newest revision shown. */
  revision = 0;
  get empty(): boolean {
    return this.#frames.length === 0;
  }
  get full(): boolean {
    return this.#bytes > SLICE_BYTES;
  }
  push(frame: Buffer, revision: number): void {
    this.#frames.push(frame);
    this.#bytes += frame.length;
    if (revision > this.revision) this.revision = revision;
  }
  join(): Buffer {
    return this.#frames.length === 1 ? this.#frames[0] : Buffer.concat(this.#frames);
  }
}
