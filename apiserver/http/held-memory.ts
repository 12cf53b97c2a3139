/**
 * Memory that single requests hold for as long as their clients please: bodies that come slowly, answers that are not read. The number of requests
 * bounds it only where they are counted, and administrators are not.
 *
 * Invariant: bodies and answers each hold no more than `MAX_HELD_BYTES` (and what is small). Who sends a large body then is asked to come back, as
 * when too many requests are in flight; of answers the one goes that has waited for its client for longest.
 */
import type { RequestContext } from './context.ts';
import { TooManyInFlight } from './in-flight.ts';
import { cutOff } from './limits.ts';

const MAX_HELD_BYTES = 128 * 1024 * 1024;
/** An answer that waits is there twice: as it is, and encrypted. */
const COPIES = 2;
/** Less is not counted: a lease or a probe must not be turned away. */
const SMALL_BYTES = 64 * 1024;

export interface HeldMemory {
  /** More of a request's body has come; `total` in all. Throws TooManyInFlight when there is no room for it. */
  body(context: RequestContext, total: number): void;
  /** An answer is given to its client. */
  answer(context: RequestContext, bytes: number): void;
}

export function createHeldMemory(max = MAX_HELD_BYTES): HeldMemory {
  const bodies = new Holders();
  const answers = new Holders();
  return {
    body: (context, total) => {
      if (total <= SMALL_BYTES) return;
      if (bodies.others(context) + total > max) throw new TooManyInFlight();
      bodies.hold(context, total);
    },
    answer: (context, bytes) => {
      if (bytes <= SMALL_BYTES) return;
      answers.hold(context, bytes * COPIES);
      for (const oldest of answers.oldestFirst()) {
        if (answers.bytes <= max || oldest === context) return;
        answers.release(oldest);
        cutOff(oldest);
      }
    },
  };
}

class Holders {
  readonly #held = new Map<RequestContext, number>();
  bytes = 0;

  others(context: RequestContext): number {
    return this.bytes - (this.#held.get(context) ?? 0);
  }

  hold(context: RequestContext, bytes: number): void {
    const before = this.#held.get(context);
    if (before === undefined) context.cleanups.push(() => this.release(context));
    this.#held.set(context, bytes);
    this.bytes += bytes - (before ?? 0);
  }

  release(context: RequestContext): void {
    this.bytes -= this.#held.get(context) ?? 0;
    this.#held.delete(context);
  }

  oldestFirst(): Iterable<RequestContext> {
    return this.#held.keys();
  }
}
