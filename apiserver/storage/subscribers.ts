/**
 * Those who follow the changes of a store. A subscriber that starts in the past first reads the log in slices, then joins the live ones in the
 * same turn in which it has read the last revision: no gap, nothing twice.
 */
import { afterTurn } from '../../machinery/process/clock.ts';
import type { Change, OnChanges, Subscription } from './interface.ts';
import type { Revisions } from './revisions.ts';

/** Changes handed to a subscriber that reads history before others get their turn. */
const SLICE = 512;

interface Subscriber {
  readonly prefix: string;
  readonly onChanges: OnChanges;
  /** It has seen all changes up to here. */
  revision: number;
  live: boolean;
}

export class Subscribers {
  readonly #revisions: Revisions;
  readonly #all = new Set<Subscriber>();

  constructor(revisions: Revisions) {
    this.#revisions = revisions;
  }

  add(prefix: string, afterRevision: number, onChanges: OnChanges): Subscription {
    this.#revisions.changes(prefix, afterRevision, 1);
    const subscriber: Subscriber = { prefix, onChanges, revision: afterRevision, live: afterRevision >= this.#revisions.revision };
    this.#all.add(subscriber);
    if (!subscriber.live) afterTurn(() => this.#catchUp(subscriber));
    return { close: () => void this.#all.delete(subscriber) };
  }

  /** To be called once per commit, after the state has advanced. */
  publish(changes: readonly Change[]): void {
    const { revision } = this.#revisions;
    for (const subscriber of this.#all) {
      if (!subscriber.live || subscriber.revision >= revision) continue;
      const after = subscriber.revision;
      const own = changes.filter(({ current }) => current.revision > after && current.key.startsWith(subscriber.prefix));
      subscriber.revision = revision;
      subscriber.onChanges(own, revision);
    }
  }

  /** Changes up to here are no longer needed by a subscriber that reads history. */
  oldestReader(): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const subscriber of this.#all) if (!subscriber.live && subscriber.revision < oldest) oldest = subscriber.revision;
    return oldest;
  }

  close(): void {
    this.#all.clear();
  }

  #catchUp(subscriber: Subscriber): void {
    if (!this.#all.has(subscriber)) return;
    const { changes, revision } = this.#revisions.changes(subscriber.prefix, subscriber.revision, SLICE);
    subscriber.revision = revision;
    subscriber.live = revision >= this.#revisions.revision;
    subscriber.onChanges(changes, revision);
    if (!subscriber.live) afterTurn(() => this.#catchUp(subscriber));
  }
}
