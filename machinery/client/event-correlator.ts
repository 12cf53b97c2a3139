/**
 * Decides what becomes of one more event: a new Event, a higher count on an earlier one, or nothing. Mirrors client-go `tools/record/events_cache.go`.
 *
 * - Flood: each source may record 25 events about one object at once, then one every 5 minutes.
 * - Similar: after 10 different messages with everything else equal within 10 minutes, further ones become one event
 *   "(combined from similar events): …".
 * - Same: an event with equal key and message raises the count of the first.
 *
 * Invariant: memory is bounded: each of the three remembers at most `REMEMBERED` keys and forgets the one not used for longest.
 */
import type { Clock } from '../process/clock.ts';
import { TokenBucket } from '../process/token-bucket.ts';
import { Lru } from './lru.ts';

const REMEMBERED = 4096;
const SPAM_BURST = 25;
const SPAM_PER_SECOND = 1 / 300;
const SIMILAR_MAX = 10;
const SIMILAR_MS = 600_000;
const COMBINED = '(combined from similar events): ';

export interface Occurrence {
  /** All but the message. */
  readonly key: string;
  readonly message: string;
}

/** The Event of a group of equal occurrences. */
export interface Recorded {
  readonly name: string;
  readonly namespace: string;
  readonly firstTimestamp: string;
  count: number;
}

export interface Verdict {
  readonly do: 'create' | 'count';
  readonly id: string;
  readonly message: string;
  readonly earlier?: Recorded;
}

export class EventCorrelator {
  readonly #clock: Clock;
  readonly #sources = new Lru<string, TokenBucket>(REMEMBERED);
  readonly #similar = new Lru<string, { readonly messages: Set<string>; atMs: number }>(REMEMBERED);
  readonly #recorded = new Lru<string, Recorded>(REMEMBERED);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether one more event of this source (who says it about which object) is let through. To be asked once for each. */
  mayPass(source: string): boolean {
    let bucket = this.#sources.get(source);
    if (!bucket) {
      bucket = new TokenBucket({ clock: this.#clock, perSecond: SPAM_PER_SECOND, burst: SPAM_BURST });
      this.#sources.set(source, bucket);
    }
    return bucket.take();
  }

  judge(occurrence: Occurrence): Verdict {
    const combined = this.#isOneOfMany(occurrence);
    const message = combined ? COMBINED + occurrence.message : occurrence.message;
    const id = combined ? occurrence.key : `${occurrence.key}\0${occurrence.message}`;
    const earlier = this.#recorded.get(id);
    return earlier ? { do: 'count', id, message, earlier } : { do: 'create', id, message };
  }

  /** What was written for `id`; the next equal occurrence counts on it. */
  remember(id: string, recorded: Recorded): void {
    this.#recorded.set(id, recorded);
  }

  forget(id: string): void {
    this.#recorded.delete(id);
  }

  #isOneOfMany({ key, message }: Occurrence): boolean {
    const nowMs = this.#clock.monotonicMs();
    let similar = this.#similar.get(key);
    if (!similar || nowMs - similar.atMs > SIMILAR_MS) {
      similar = { messages: new Set(), atMs: nowMs };
      this.#similar.set(key, similar);
    }
    similar.atMs = nowMs;
    similar.messages.add(message);
    if (similar.messages.size <= SIMILAR_MAX) return false;
    // the set need not grow beyond the limit
    similar.messages.delete(message);
    similar.messages.add('');
    return true;
  }
}
