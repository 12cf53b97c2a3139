/** Those who wait until a copy has reached a revision, lowest first: reaching one wakes a prefix of the list. */

interface Waiter {
  readonly atLeast: number;
  readonly wake: () => void;
}

export class RevisionWaiters {
  /** Sorted by `atLeast`. */
  readonly #waiters: Waiter[] = [];

  /** Settles at `reached(r)` with r >= atLeast; rejects with the signal's reason. */
  wait(atLeast: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = (): void => {
        this.#remove(waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        atLeast,
        wake: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#insert(waiter);
    });
  }

  reached(revision: number): void {
    let count = 0;
    while (count < this.#waiters.length && this.#waiters[count]!.atLeast <= revision) count++;
    for (const waiter of this.#waiters.splice(0, count)) waiter.wake();
  }

  get size(): number {
    return this.#waiters.length;
  }

  /** Revisions mostly come in rising order, so the place is found from the end. */
  #insert(waiter: Waiter): void {
    let at = this.#waiters.length;
    while (at > 0 && this.#waiters[at - 1]!.atLeast > waiter.atLeast) at--;
    this.#waiters.splice(at, 0, waiter);
  }

  #remove(waiter: Waiter): void {
    const at = this.#waiters.indexOf(waiter);
    if (at >= 0) this.#waiters.splice(at, 1);
  }
}
