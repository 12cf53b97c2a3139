/**
 * Read your own writes: after a pass wrote something, its key is not compared again until the local copies contain what was written. This is what
 * stops a lagging copy from making a pod twice. It takes the place of upstream's expectations (`controller_utils.go`), without counting anything.
 *
 * Worked example: the pass of ns/web creates two pods, answered with revisions 41 and 42. `note` keeps {pods: 42}. The copy of pods is at 40, so the
 * key waits; an event or a bookmark brings it to 42 or beyond, and the key goes back into the queue. A deletion answered without a revision is
 * remembered by uid: it is seen when the copy no longer has the object, or has it marked as being deleted.
 *
 * Invariant: no comparison of a key reads a state older than the key's own last write. Only a copy that has not moved for `LAST_RESORT_MS` is not
 * waited for any longer: a loop must not stand still for ever.
 */
import type { KubeObject, ObjectMeta } from '../api/object.ts';
import type { Informer } from '../client/informer.ts';
import type { ResourceType } from '../client/resource-type.ts';
import type { Cancel, Clock } from '../process/clock.ts';
import type { Logger } from '../process/logger.ts';
import { mutant } from '../process/mutants.ts';

/** Bookmarks come every minute, so a copy that is only filtered moves well before this. */
const LAST_RESORT_MS = 150_000;

interface Pending {
  /** The newest revision written, by resource. */
  readonly revisions: Map<Informer<KubeObject>, number>;
  /** Uids of deleted objects whose revision we were not told. */
  readonly deletions: Map<string, Informer<KubeObject>>;
  cancel: Cancel | undefined;
}

export class Freshness {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #wake: (key: string) => void;
  readonly #informers = new Map<string, Informer<KubeObject>>();
  readonly #pending = new Map<string, Pending>();
  /** Keys that wait for the disappearance of an object, by its uid. */
  readonly #byDeletion = new Map<string, string>();

  /** `wake` puts a key back into the queue. */
  constructor(deps: { readonly clock: Clock; readonly logger: Logger; readonly wake: (key: string) => void }) {
    this.#clock = deps.clock;
    this.#logger = deps.logger;
    this.#wake = deps.wake;
  }

  /** Writes to this resource are waited for. Those to resources no copy is kept of cannot be read stale. */
  follow(informer: Informer<KubeObject>): void {
    const id = idOf(informer.type);
    if (this.#informers.has(id)) return;
    this.#informers.set(id, informer);
    informer.addHandler(({ object, old }) => {
      if (this.#byDeletion.size === 0) return;
      if (!object) this.#gone(old?.metadata.uid);
      else {
        if (object.metadata.deletionTimestamp) this.#gone(object.metadata.uid);
        if (old && old.metadata.uid !== object.metadata.uid) this.#gone(old.metadata.uid);
      }
    });
  }

  /** A pass of `key` wrote an object of `type` and was answered with `metadata`. */
  note(key: string, type: ResourceType, metadata: ObjectMeta | undefined): void {
    const revision = Number(metadata?.resourceVersion);
    const informer = this.#informers.get(idOf(type));
    if (!informer || !(revision > informer.revision)) return;
    const { revisions } = this.#of(key);
    revisions.set(informer, Math.max(revision, revisions.get(informer) ?? 0));
  }

  /** A pass of `key` deleted the object; the answer had no revision. */
  noteDeletion(key: string, type: ResourceType, object: { readonly key: string; readonly uid: string }): void {
    const informer = this.#informers.get(idOf(type));
    if (!informer) return;
    const copy = informer.get(object.key);
    if (copy?.metadata.uid !== object.uid || copy.metadata.deletionTimestamp) return;
    this.#of(key).deletions.set(object.uid, informer);
    this.#byDeletion.set(object.uid, key);
  }

  /** True when the key may be compared now. When false it will be woken. */
  isFresh(key: string): boolean {
    const pending = this.#pending.get(key);
    if (!pending || mutant('loop.freshness-off')) return true;
    for (const [informer, revision] of pending.revisions) if (informer.revision >= revision) pending.revisions.delete(informer);
    if (pending.revisions.size === 0 && pending.deletions.size === 0) {
      this.#release(key, pending);
      return true;
    }
    this.#waitFor(key, pending);
    return false;
  }

  /** Keys that wait, for the debug page. */
  get waiting(): readonly string[] {
    return [...this.#pending.keys()];
  }

  #of(key: string): Pending {
    let pending = this.#pending.get(key);
    if (!pending) {
      pending = { revisions: new Map(), deletions: new Map(), cancel: undefined };
      this.#pending.set(key, pending);
    }
    return pending;
  }

  /** One watcher per waiting key; more calls while it waits change nothing. */
  #waitFor(key: string, pending: Pending): void {
    if (pending.cancel) return;
    pending.cancel = this.#clock.setTimer(
      LAST_RESORT_MS,
      () => {
        this.#logger.warn({ key, revisions: [...pending.revisions.values()] }, 'own writes did not come back, going on without');
        this.#release(key, pending);
        this.#wake(key);
      },
      { unref: true },
    );
    const reached = [...pending.revisions].map(([informer, revision]) => informer.reached(revision));
    if (reached.length > 0) Promise.all(reached).then(() => this.#check(key, pending));
  }

  #gone(uid: string | undefined): void {
    if (uid === undefined) return;
    const key = this.#byDeletion.get(uid);
    if (key === undefined) return;
    this.#byDeletion.delete(uid);
    const pending = this.#pending.get(key);
    if (!pending) return;
    pending.deletions.delete(uid);
    if (pending.deletions.size === 0) this.#check(key, pending);
  }

  #check(key: string, pending: Pending): void {
    if (this.#pending.get(key) !== pending || !pending.cancel) return;
    pending.cancel();
    pending.cancel = undefined;
    if (this.isFresh(key)) this.#wake(key);
  }

  #release(key: string, pending: Pending): void {
    pending.cancel?.();
    for (const uid of pending.deletions.keys()) this.#byDeletion.delete(uid);
    this.#pending.delete(key);
  }
}

const idOf = (type: ResourceType): string => `${type.group}/${type.version}/${type.resource}`;
