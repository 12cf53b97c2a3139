/**
 * What was acknowledged, or could be read, of one store directory through all its crashes; what must still be there (guarantees D1 to D4).
 * Answers violations in words instead of throwing, so that one run finds all.
 */
import type { Store } from '../../../apiserver/storage/interface.ts';
import type { Acknowledged, Told } from './run-writer.ts';

export class Ledger {
  /** By revision. Those that compaction has dropped since go when they were checked. */
  readonly #acknowledged = new Map<number, Acknowledged>();
  readonly #newest = new Map<string, Acknowledged>();
  /** The revision that a reopened store was at: it was readable, and can never fall below. */
  #seen = 1;

  get size(): number {
    return this.#acknowledged.size;
  }

  /** Takes in what a writer told. */
  add({ opened, acknowledged, seen }: Told): string[] {
    const violations: string[] = [];
    let last = opened?.revision ?? 0;
    for (const commit of seen) {
      const isWhole = commit.first === last + 1 && commit.last === commit.first + commit.count - 1;
      if (!isWhole)
        violations.push(`after revision ${last} a watcher was shown ${commit.count} from ${commit.first} to ${commit.last} (W1)`);
      last = commit.last;
    }
    if (opened !== undefined && opened.revision < this.#seen)
      violations.push(`it opened at ${opened.revision}, but ${this.#seen} was seen (D4)`);
    for (const write of acknowledged) {
      if (write.revision <= this.#seen) violations.push(`revision ${write.revision} was given again (D4)`);
      const twice = this.#acknowledged.get(write.revision);
      if (twice !== undefined) violations.push(`revision ${write.revision} was given to ${twice.key} and to ${write.key} (D4)`);
      this.#acknowledged.set(write.revision, write);
      if (write.revision > (this.#newest.get(write.key)?.revision ?? 0)) this.#newest.set(write.key, write);
    }
    this.#seen = Math.max(this.#seen, last);
    return violations;
  }

  /** Compares with a store as it was opened again. With `remember` all it shows must be there next time too. */
  check(store: Store, remember = true): string[] {
    const violations: string[] = [];
    if (store.revision < this.#seen) violations.push(`it is at ${store.revision}, but ${this.#seen} was seen (D2, D4)`);
    const { changes } = store.changes('/', store.compactedRevision, Number.POSITIVE_INFINITY);
    const byRevision = new Map(changes.map((change) => [change.current.revision, change]));
    for (const { revision, key, text } of this.#acknowledged.values()) {
      const change = byRevision.get(revision);
      if (revision > store.revision)
        violations.push(`revision ${revision} of ${key} was acknowledged; the store is at ${store.revision} (D1)`);
      else if (change === undefined) {
        if (revision > store.compactedRevision) violations.push(`revision ${revision} of ${key} is gone (D1)`);
      } else if (change.current.key !== key || (change.type === 'delete') !== (text === undefined)) {
        violations.push(`revision ${revision} is another write than the one acknowledged (D1)`);
      } else if (text !== undefined && textOf(change.current.bytes) !== text)
        violations.push(`revision ${revision} has another content (D1)`);
    }
    violations.push(...this.#checkNewest(store));
    if (remember) this.#remember(store);
    return violations;
  }

  #checkNewest(store: Store): string[] {
    return [...this.#newest].flatMap(([key, { revision, text }]) => {
      const current = store.get(key);
      if (current !== undefined && current.revision > revision) return [];
      if (text === undefined) return current === undefined ? [] : [`${key} came back after its deletion at ${revision} (D1)`];
      if (current === undefined) {
        const { changes } = store.changes(key, Math.max(revision, store.compactedRevision), Number.POSITIVE_INFINITY);
        return changes.some((change) => change.type === 'delete' && change.current.key === key) || store.compactedRevision > revision
          ? []
          : [`${key} is gone (D1)`];
      }
      return current.revision === revision && textOf(current.bytes) === text ? [] : [`${key} went back to ${current.revision} (D1)`];
    });
  }

  #remember(store: Store): void {
    this.#seen = store.revision;
    for (const revision of this.#acknowledged.keys()) if (revision <= store.compactedRevision) this.#acknowledged.delete(revision);
    this.#newest.clear();
    for (const { key, revision, bytes } of store.list('/').items) this.#newest.set(key, { revision, key, text: textOf(bytes) });
  }
}

function textOf(bytes: Buffer): string {
  return (JSON.parse(bytes.toString()) as { v: string }).v;
}
