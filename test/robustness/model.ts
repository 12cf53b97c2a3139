/**
 * The states that a sequence of revisions leads through: what each key was at each revision, what a list of a prefix shows, what a watch tells. Built
 * from the ground truth alone; knows nothing of the server.
 */
import { orderOf } from '../../apiserver/storage/key-order.ts';
import type { SeenEvent } from './history.ts';
import type { Revision } from './revisions.ts';

/** Which objects a list or watch is about. */
export interface Scope {
  readonly prefix: string;
  /** `color=red`. */
  readonly label?: string | undefined;
  readonly name?: string | undefined;
}

export class Model {
  readonly truth: readonly Revision[];
  readonly #byKey = new Map<string, Revision[]>();
  readonly #byRevision = new Map<number, Revision>();
  readonly #deletions = new Map<string, number>();
  readonly #keys: readonly string[];

  /** `truth` ascends by revision. */
  constructor(truth: readonly Revision[]) {
    this.truth = truth;
    for (const revision of truth) {
      this.#byRevision.set(revision.revision, revision);
      if (revision.deleted) this.#deletions.set(revision.uid, revision.revision);
      const versions = this.#byKey.get(revision.key);
      if (versions === undefined) this.#byKey.set(revision.key, [revision]);
      else versions.push(revision);
    }
    const order = new Map([...this.#byKey.keys()].map((key) => [key, orderOf(key)]));
    this.#keys = [...order.keys()].sort((a, b) => (order.get(a)! < order.get(b)! ? -1 : 1));
  }

  get newest(): number {
    return this.truth.at(-1)?.revision ?? 1;
  }
  get keys(): readonly string[] {
    return this.#keys;
  }
  at(revision: number): Revision | undefined {
    return this.#byRevision.get(revision);
  }
  /** The revision at which the object of this uid was deleted. */
  deletionOf(uid: string): number | undefined {
    return this.#deletions.get(uid);
  }
  /** All versions of a key, deletions too. */
  versions(key: string): readonly Revision[] {
    return this.#byKey.get(key) ?? [];
  }

  /** What a reader of `revision` finds under the key; undefined when nothing. */
  versionAt(key: string, revision: number): Revision | undefined {
    const version = this.versions(key).findLast((each) => each.revision <= revision);
    return version?.deleted ? undefined : version;
  }

  /** The first change of the key after `revision`. */
  changeAfter(key: string, revision: number): Revision | undefined {
    return this.versions(key).find((each) => each.revision > revision);
  }

  /** The list at `revision`, in key order. */
  list(scope: Scope, revision: number): Revision[] {
    const items: Revision[] = [];
    for (const key of this.#keys) {
      if (!key.startsWith(scope.prefix)) continue;
      const version = this.versionAt(key, revision);
      if (version !== undefined && matches(scope, version)) items.push(version);
    }
    return items;
  }

  /** What a watch of the scope tells of (after, through], by upstream's rules of entering and leaving a selector. */
  events(scope: Scope, after: number, through: number): SeenEvent[] {
    const events: SeenEvent[] = [];
    for (const current of between(this.truth, after, through)) {
      if (!current.key.startsWith(scope.prefix)) continue;
      const previous = current.previous === 0 ? undefined : this.versionAt(current.key, current.revision - 1);
      const was = previous !== undefined && matches(scope, previous);
      const is = !current.deleted && matches(scope, current);
      const { key, revision, uid, hash } = current;
      if (is) events.push({ type: was ? 'MODIFIED' : 'ADDED', key, revision, uid, hash });
      else if (was) events.push({ type: 'DELETED', key, revision, uid: previous.uid, hash: current.deleted ? hash : previous.hash });
    }
    return events;
  }
}

function matches({ label, name }: Scope, { labels, key }: Revision): boolean {
  if (name !== undefined && key.slice(key.lastIndexOf('/') + 1) !== name) return false;
  if (label === undefined) return true;
  const [member, value] = label.split('=');
  return labels[member!] === value;
}

/** The part of an ascending sequence with after < revision <= through. */
function between(truth: readonly Revision[], after: number, through: number): Revision[] {
  let low = 0;
  let high = truth.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (truth[middle]!.revision <= after) low = middle + 1;
    else high = middle;
  }
  const found: Revision[] = [];
  for (let i = low; i < truth.length && truth[i]!.revision <= through; i++) found.push(truth[i]!);
  return found;
}
