/**
 * Keys that may be wrong, each at most once, each worked on by one worker at a time. Mirrors client-go `util/workqueue` (queue, dirty, processing;
 * delaying; rate limiting), with one map instead of three sets.
 *
 * Worked example, one key, one worker:
 *
 *     call                    state of ns/a        queue
 *     add(ns/a)               waiting              [ns/a]
 *     add(ns/a)               waiting              [ns/a]      added twice, queued once
 *     get() → ns/a            working              []
 *     add(ns/a)               working, dirty       []          changed while being worked on: not queued yet, not forgotten
 *     done(ns/a)              waiting              [ns/a]      now it is
 *     get() → ns/a            working              []
 *     addRateLimited(ns/a)    working, due in 5 ms []          failed: again in 5, 10, 20 … ms, at most 1000 s
 *     done(ns/a)              due in 5 ms          []
 *     … 5 ms later            waiting              [ns/a]
 *     get(), forget, done     (not in the map)     []          nothing is kept about a key that is at rest
 *
 * Invariant: a key added after the last `get` of it is got again.
 */
import type { Cancel, Clock } from '../process/clock.ts';
import { TokenBucket } from '../process/token-bucket.ts';

interface Entry {
  state: 'resting' | 'waiting' | 'working';
  /** Added while being worked on. */
  dirty: boolean;
  /** How often it was added by rate since the last forget. */
  failures: number;
  delayed: { readonly atMs: number; readonly cancel: Cancel } | undefined;
}

/** Upstream's DefaultControllerRateLimiter: per key 5 ms · 2ⁿ up to 1000 s, over all keys 10 a second with bursts of 100. */
const FIRST_RETRY_MS = 5;
const LAST_RETRY_MS = 1_000_000;
const RETRIES_PER_SECOND = 10;
const RETRY_BURST = 100;

export class Workqueue {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  #queue: string[] = [];
  /** Index of the first key in `#queue` that has not been taken. */
  #head = 0;
  readonly #takers: ((key: string | undefined) => void)[] = [];
  readonly #bucket: TokenBucket;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#bucket = new TokenBucket({ clock, perSecond: RETRIES_PER_SECOND, burst: RETRY_BURST });
  }

  /** Keys that wait for a worker. */
  get length(): number {
    return this.#queue.length - this.#head;
  }

  add(key: string): void {
    if (this.#closed) return;
    const entry = this.#entry(key);
    if (entry.state === 'working') entry.dirty = true;
    else if (entry.state === 'resting') this.#enqueue(key, entry);
  }

  /** Adds the key later. Of several delays the earliest counts. */
  addAfter(key: string, delayMs: number): void {
    if (this.#closed) return;
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const entry = this.#entry(key);
    const atMs = this.#clock.monotonicMs() + delayMs;
    if (entry.delayed && entry.delayed.atMs <= atMs) return;
    entry.delayed?.cancel();
    const cancel = this.#clock.setTimer(
      delayMs,
      () => {
        entry.delayed = undefined;
        this.add(key);
      },
      { unref: true },
    );
    entry.delayed = { atMs, cancel };
  }

  /** Adds the key after a wait that grows with each call until `forget`. */
  addRateLimited(key: string): void {
    if (this.#closed) return;
    const entry = this.#entry(key);
    const ownMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(entry.failures, 30), LAST_RETRY_MS);
    entry.failures++;
    this.addAfter(key, Math.max(ownMs, this.#bucket.reserve()));
  }

  /** The key has succeeded: its next failure counts as the first. */
  forget(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    entry.failures = 0;
    this.#tidy(key, entry);
  }

  failures(key: string): number {
    return this.#entries.get(key)?.failures ?? 0;
  }

  /** The next key, or undefined once the queue is closed. Each key got must be given back by `done`. */
  get(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const key = this.#dequeue();
    return key === undefined ? new Promise((resolve) => this.#takers.push(resolve)) : Promise.resolve(key);
  }

  /** With `restMs` the key counts as being worked on for so long yet: what is added meanwhile is looked at together. */
  done(key: string, restMs = 0): void {
    if (restMs > 0 && !this.#closed) {
      this.#clock.setTimer(restMs, () => this.done(key), { unref: true });
      return;
    }
    const entry = this.#entries.get(key);
    if (entry?.state !== 'working') return;
    entry.state = 'resting';
    if (entry.dirty && !this.#closed) {
      entry.dirty = false;
      this.#enqueue(key, entry);
    } else this.#tidy(key, entry);
  }

  /** Nothing more is handed out; workers end after the key they hold. */
  close(): void {
    this.#closed = true;
    for (const entry of this.#entries.values()) entry.delayed?.cancel();
    for (const take of this.#takers.splice(0)) take(undefined);
  }

  #entry(key: string): Entry {
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = { state: 'resting', dirty: false, failures: 0, delayed: undefined };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #enqueue(key: string, entry: Entry): void {
    const take = this.#takers.shift();
    if (take) {
      entry.state = 'working';
      take(key);
      return;
    }
    entry.state = 'waiting';
    this.#queue.push(key);
  }

  #dequeue(): string | undefined {
    if (this.#head >= this.#queue.length) return undefined;
    const key = this.#queue[this.#head++]!;
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    this.#entry(key).state = 'working';
    return key;
  }

  #tidy(key: string, entry: Entry): void {
    if (entry.state === 'resting' && entry.failures === 0 && !entry.delayed) this.#entries.delete(key);
  }
}
