/**
 * What watchers have been given and their connections have not taken yet. A connection holds a little; the rest waits here as references to bytes
 * that all watchers of a group share. (A write that waits inside Node costs a hundred bytes and a callback, and a thousand watchers that do not read
 * have millions of them.)
 *
 * Invariant: all backlogs together hold no more than `maxHeldBytes`, however many watchers there are and however different what they watch; when
 * they would, whoever has been behind for longest is cut off. Nothing is ever left out of the middle.
 */
import type { WatchSink } from './form.ts';

/** A connection that has more than this to send is given no more. */
const IN_FLIGHT_BYTES = 64 * 1024;
/** Of different bytes: those that several watchers wait for count once. */
const MAX_HELD_BYTES = 128 * 1024 * 1024;
/** Chunks that were sent are let go in such steps. */
const SENT_STEP = 1024;

/** Shared by all watchers of a hub. */
export class HeldBytes {
  readonly #max: number;
  readonly #holders = new Map<Buffer, number>();
  /** Those with a backlog, and how to cut them off; whoever has been behind for longest comes first. */
  readonly #behind = new Map<Backlog, () => void>();
  #bytes = 0;

  constructor(max = MAX_HELD_BYTES) {
    this.#max = max;
  }

  get bytes(): number {
    return this.#bytes;
  }

  hold(backlog: Backlog, chunk: Buffer, cutOff: () => void): void {
    if (!this.#behind.has(backlog)) this.#behind.set(backlog, cutOff);
    const holders = this.#holders.get(chunk) ?? 0;
    if (holders === 0) this.#bytes += chunk.length;
    this.#holders.set(chunk, holders + 1);
  }

  release(chunk: Buffer): void {
    const holders = this.#holders.get(chunk) ?? 0;
    if (holders > 1) {
      this.#holders.set(chunk, holders - 1);
      return;
    }
    this.#holders.delete(chunk);
    this.#bytes -= chunk.length;
  }

  caughtUp(backlog: Backlog): void {
    this.#behind.delete(backlog);
  }

  /** Cuts off until what is held is within the bound. */
  keepWithin(): void {
    for (const [, cutOff] of this.#behind) {
      if (this.#bytes <= this.#max) return;
      cutOff();
    }
  }
}

export class Backlog {
  readonly #sink: WatchSink;
  readonly #held: HeldBytes;
  readonly #cutOff: () => void;
  #chunks: Buffer[] = [];
  #next = 0;
  #bytes = 0;

  /** `cutOff` must end the watch, and with it this backlog. */
  constructor(sink: WatchSink, held: HeldBytes, cutOff: () => void) {
    this.#sink = sink;
    this.#held = held;
    this.#cutOff = cutOff;
  }

  /** All that the client has not taken. */
  get pendingBytes(): number {
    return this.#bytes + this.#sink.pendingBytes;
  }

  write(chunk: Buffer): void {
    const waits = this.#next < this.#chunks.length;
    if (!waits && this.#sink.pendingBytes <= IN_FLIGHT_BYTES) {
      this.#sink.write(chunk);
      return;
    }
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#held.hold(this, chunk, this.#cutOff);
    if (!waits) this.#sink.onDrain(() => this.#drained());
    this.#held.keepWithin();
  }

  /** Gives the connection all there is, before its end. */
  flush(): void {
    while (this.#next < this.#chunks.length) this.#sink.write(this.#take());
    this.drop();
  }

  drop(): void {
    for (; this.#next < this.#chunks.length; this.#next++) this.#held.release(this.#chunks[this.#next]!);
    this.#chunks = [];
    this.#next = 0;
    this.#bytes = 0;
    this.#held.caughtUp(this);
  }

  #drained(): void {
    while (this.#next < this.#chunks.length && this.#sink.pendingBytes <= IN_FLIGHT_BYTES) this.#sink.write(this.#take());
    if (this.#next === this.#chunks.length) {
      this.drop();
      return;
    }
    if (this.#next >= SENT_STEP) {
      this.#chunks = this.#chunks.slice(this.#next);
      this.#next = 0;
    }
    this.#sink.onDrain(() => this.#drained());
  }

  #take(): Buffer {
    const chunk = this.#chunks[this.#next++]!;
    this.#bytes -= chunk.length;
    this.#held.release(chunk);
    return chunk;
  }
}
