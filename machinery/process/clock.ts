/**
 * The only place that reads or waits for time. Everything that waits or dates gets a `Clock`, so that tests and simulations can own time.
 */

/** Cancels a timer; calling it twice is harmless. */
export type Cancel = () => void;

export interface Clock {
  /** Wall-clock time, for what is shown or stored. */
  now(): Date;
  /** Monotonic milliseconds, for intervals, leases and back-off. */
  monotonicMs(): number;
  /** Calls back once after `delayMs`. The timer does not keep the process alive by itself when `unref` is set. */
  setTimer(delayMs: number, callback: () => void, options?: { unref?: boolean }): Cancel;
  /** Settles after `delayMs`; rejects with the signal's reason when aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

const MAX_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  setTimer: (delayMs, callback, options) => {
    const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), MAX_DELAY_MS));
    if (options?.unref) timer.unref();
    return () => clearTimeout(timer);
  },
  sleep: (delayMs, signal) => sleepOn(systemClock, delayMs, signal),
};

/** `Clock.sleep` in terms of `Clock.setTimer`, for implementations of Clock. */
export function sleepOn(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.setTimer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/**
 * Calls back once this turn of the event loop is over and what had arrived from sockets and files has been taken in. It orders work and
 * waits for nothing, so it is the same in simulations: it needs no clock.
 */
export function afterTurn(callback: () => void): void {
  setImmediate(callback);
}

/** Settles at the end of this turn. */
export function turnEnd(): Promise<void> {
  return new Promise((resolve) => afterTurn(resolve));
}
