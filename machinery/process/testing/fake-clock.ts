/**
 * A clock that moves only when told. Timers due at one instant fire in the order they were set; what a timer sets anew within the advanced span
 * fires too.
 *
 * Worked example: `clock.sleep(5)`, `await clock.advance(5)`: the sleeper has resumed when `advance` settles.
 */
import { type Cancel, type Clock, sleepOn } from '../clock.ts';

interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly callback: () => void;
}

export class FakeClock implements Clock {
  #nowMs: number;
  #monotonicMs = 0;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(start: Date | string = '2026-01-01T00:00:00Z') {
    this.#nowMs = new Date(start).getTime();
  }

  now(): Date {
    return new Date(this.#nowMs);
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  setTimer(delayMs: number, callback: () => void): Cancel {
    const timer = { atMs: this.#monotonicMs + Math.max(delayMs, 0), order: this.#order++, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves the time on, firing what falls due; lets promises settle before each timer and at the end. */
  async advance(byMs: number): Promise<void> {
    const until = this.#monotonicMs + byMs;
    for (;;) {
      await settle();
      const next = this.#earliest(until);
      if (!next) break;
      this.#timers.delete(next);
      this.#moveTo(next.atMs);
      next.callback();
    }
    this.#moveTo(until);
  }

  /** The wall clock jumps; intervals are not affected, as with a real monotonic clock. */
  jumpWallClock(byMs: number): void {
    this.#nowMs += byMs;
  }

  #earliest(until: number): Timer | undefined {
    let best: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.atMs > until) continue;
      if (!best || timer.atMs < best.atMs || (timer.atMs === best.atMs && timer.order < best.order)) best = timer;
    }
    return best;
  }

  #moveTo(monotonicMs: number): void {
    this.#nowMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }
}

/** Lets everything that is ready to run, run: promises, and I/O callbacks already queued. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
}
