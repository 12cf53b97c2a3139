/**
 * How long to wait before trying the server again. Client-go waits 0.8 s, doubling to 30 s, with jitter; it waits as long for a server that is
 * overloaded as for one that is being restarted. We tell them apart: where nobody listens, a try costs nothing, so one is made several times a second.
 *
 * Worked example (jitter left out): refused, refused, refused … → 0.05, 0.1, 0.2, 0.2, 0.2 s; answered 503 each time → 0.8, 1.6, 3.2 … 15 s.
 */
import type { Clock } from '../process/clock.ts';
import type { Random } from '../process/random.ts';
import { ConnectionError } from './errors.ts';

const LOST_FIRST_MS = 50;
const REFUSED_CAP_MS = 400;
/** A connection that breaks may mean a server that fails under us: more patience, but an outage must not be felt long after its end. */
const LOST_CAP_MS = 5_000;
const ANSWERED_FIRST_MS = 800;
const CAP_MS = 30_000;
/** After so long without failure the next one counts as the first. */
const RESET_MS = 120_000;

export class Backoff {
  #failures = 0;
  #lastMs = Number.NEGATIVE_INFINITY;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(deps: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  /** Milliseconds to wait after this failure: between one and two times the step. */
  next(error: unknown): number {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#lastMs > RESET_MS) this.#failures = 0;
    this.#lastMs = nowMs;
    const lost = error instanceof ConnectionError;
    const first = lost ? LOST_FIRST_MS : ANSWERED_FIRST_MS;
    const cap = !lost ? CAP_MS : error.refused ? REFUSED_CAP_MS : LOST_CAP_MS;
    // with the jitter the longest wait is the cap
    const step = Math.min(first * 2 ** Math.min(this.#failures, 20), cap / 2);
    this.#failures++;
    return step * (1 + this.#random.next());
  }

  reset(): void {
    this.#failures = 0;
  }
}
