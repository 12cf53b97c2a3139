/**
 * From a change of the store to the event that one selector makes of it. Mirrors apiserver cacher `watchCacheEvent` and `convertToWatchEvent`:
 *
 *   matched before   matches now    event
 *   no               yes            ADDED
 *   yes              yes            MODIFIED
 *   yes              no             DELETED, the old state at the new revision
 *   yes              deleted        DELETED, the last state at the revision of the deletion
 *   no               no             none
 */
import type { AnyObject } from '../../machinery/api/object.ts';
import { mutant } from '../../machinery/process/mutants.ts';
import type { Change, Stored } from '../storage/interface.ts';
import type { EventType, WatchedObject, WatchForm, WatchSelector } from './form.ts';
import { withRevision } from './with-revision.ts';

/** Reads a stored version as an object; shared, never to be changed. */
export type ParseStored = (stored: Stored) => AnyObject;

export interface WatchEvent {
  readonly type: EventType;
  readonly object: WatchedObject;
}

export class StoredObject implements WatchedObject {
  readonly #stored: Stored;
  readonly #parse: ParseStored;
  #object: AnyObject | undefined;
  constructor(stored: Stored, parse: ParseStored) {
    this.#stored = stored;
    this.#parse = parse;
  }
  get key(): string {
    return this.#stored.key;
  }
  get revision(): number {
    return this.#stored.revision;
  }
  get bytes(): Buffer {
    return this.#stored.bytes;
  }
  get object(): AnyObject {
    this.#object ??= this.#parse(this.#stored);
    return this.#object;
  }
}

/** An old state shown at a later revision. */
class MovedObject implements WatchedObject {
  readonly #old: Stored;
  readonly #parse: ParseStored;
  readonly revision: number;
  #bytes: Buffer | undefined;
  constructor(old: Stored, revision: number, parse: ParseStored) {
    this.#old = old;
    this.revision = revision;
    this.#parse = parse;
  }
  get key(): string {
    return this.#old.key;
  }
  get bytes(): Buffer {
    this.#bytes ??= withRevision(this.#old.bytes, this.revision);
    return this.#bytes;
  }
  get object(): AnyObject {
    const object = this.#parse(this.#old);
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.revision) } };
  }
}

/** A change with what its watchers share: parsed objects and the frames already made. */
export class ChangeView {
  readonly change: Change;
  readonly #parse: ParseStored;
  readonly #frames = new Map<string, Buffer>();
  readonly current: StoredObject;
  readonly #previous: StoredObject | undefined;
  #moved: MovedObject | undefined;

  constructor(change: Change, parse: ParseStored) {
    this.change = change;
    this.#parse = parse;
    this.current = new StoredObject(change.current, parse);
    this.#previous = change.previous && new StoredObject(change.previous, parse);
  }

  /** `spec.nodeName` before and after. */
  get nodeNames(): readonly string[] {
    const now = nodeNameOf(this.current.object);
    const before = this.#previous === undefined ? now : nodeNameOf(this.#previous.object);
    return now === before ? [now] : [before, now];
  }

  eventFor(selector: WatchSelector | undefined): WatchEvent | undefined {
    const { type, previous, current } = this.change;
    if (selector === undefined) {
      return { type: type === 'delete' ? 'DELETED' : previous === undefined ? 'ADDED' : 'MODIFIED', object: this.current };
    }
    const before = previous !== undefined && selector.matches(this.#previous!.object);
    if (type === 'delete') return before ? { type: 'DELETED', object: this.current } : undefined;
    if (selector.matches(this.current.object)) return { type: before ? 'MODIFIED' : 'ADDED', object: this.current };
    if (!before || mutant('watch.leave-unseen')) return undefined;
    this.#moved ??= new MovedObject(previous, current.revision, this.#parse);
    return { type: 'DELETED', object: this.#moved };
  }

  /** The frame of an event of this change, made once for all watchers of equal form. */
  frame(event: WatchEvent, form: WatchForm): Buffer {
    const id = `${event.object === this.current ? '' : 'moved '}${event.type} ${form.id}`;
    let frame = this.#frames.get(id);
    if (frame === undefined) {
      frame = form.event(event.type, event.object, false);
      this.#frames.set(id, frame);
    }
    return frame;
  }
}

function nodeNameOf(object: AnyObject): string {
  const spec = object['spec'] as { nodeName?: unknown } | null | undefined;
  return typeof spec?.nodeName === 'string' ? spec.nodeName : '';
}
