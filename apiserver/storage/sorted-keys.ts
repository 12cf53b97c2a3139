/**
 * The keys of the store in order: a list of sorted chunks. Insert and remove touch one chunk; a range starts with two binary searches;
 * counting skips whole chunks. For 100,000 keys there are about 200 chunks.
 *
 * Entries that are not live (deleted, but still in history) stay until they are removed; counts know only live ones.
 */

export interface SortedEntry {
  /** See key-order.ts. */
  readonly order: string;
  readonly live: boolean;
}

interface Chunk<T> {
  entries: T[];
  live: number;
}

const MAX_CHUNK = 1024;

export class SortedKeys<T extends SortedEntry> {
  readonly #chunks: Chunk<T>[] = [];

  /** The entry must not be there yet. */
  insert(entry: T): void {
    const chunks = this.#chunks;
    if (chunks.length === 0) {
      chunks.push({ entries: [entry], live: entry.live ? 1 : 0 });
      return;
    }
    const at = Math.min(this.#chunkOf(entry.order), chunks.length - 1);
    const chunk = chunks[at];
    chunk.entries.splice(positionOf(chunk.entries, entry.order), 0, entry);
    if (entry.live) chunk.live++;
    if (chunk.entries.length > MAX_CHUNK) this.#split(at);
  }

  remove(entry: T): void {
    const at = this.#chunkOf(entry.order);
    const chunk = this.#chunks[at];
    const position = positionOf(chunk.entries, entry.order);
    if (chunk.entries[position] !== entry) throw new Error(`the index does not hold ${entry.order}`);
    chunk.entries.splice(position, 1);
    if (entry.live) chunk.live--;
    if (chunk.entries.length === 0) this.#chunks.splice(at, 1);
  }

  /** To be called after an entry of the index became live or ceased to be. */
  livenessChanged(entry: T): void {
    this.#chunks[this.#chunkOf(entry.order)].live += entry.live ? 1 : -1;
  }

  /** Visits entries from `start` (inclusive) to `end` (exclusive), in order, until `visit` answers false. */
  scan(start: string, end: string, visit: (entry: T) => boolean): void {
    const chunks = this.#chunks;
    const first = this.#chunkOf(start);
    for (let at = first; at < chunks.length; at++) {
      const { entries } = chunks[at];
      for (let i = at === first ? positionOf(entries, start) : 0; i < entries.length; i++) {
        if (entries[i].order >= end || !visit(entries[i])) return;
      }
    }
  }

  /** How many live entries lie in [start, end). */
  countLive(start: string, end: string): number {
    const at = this.#chunkOf(start);
    if (at === this.#chunkOf(end)) return at === this.#chunks.length ? 0 : countIn(this.#chunks[at].entries, start, end);
    return Math.max(0, this.#liveBefore(end) - this.#liveBefore(start));
  }

  #liveBefore(order: string): number {
    const at = this.#chunkOf(order);
    let count = 0;
    for (let i = 0; i < at; i++) count += this.#chunks[i].live;
    if (at === this.#chunks.length) return count;
    const { entries } = this.#chunks[at];
    const position = positionOf(entries, order);
    for (let i = 0; i < position; i++) if (entries[i].live) count++;
    return count;
  }

  /** The first chunk whose last entry is not before `order`. */
  #chunkOf(order: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { entries } = this.#chunks[middle];
      if (entries[entries.length - 1].order < order) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #split(at: number): void {
    const { entries } = this.#chunks[at];
    // Ascending inserts are the common case (names with a counter): keep the left part well filled.
    const right = entries.splice(at === this.#chunks.length - 1 ? Math.floor(entries.length * 0.8) : entries.length >>> 1);
    this.#chunks.splice(at, 1, chunkOf(entries), chunkOf(right));
  }
}

function chunkOf<T extends SortedEntry>(entries: T[]): Chunk<T> {
  let live = 0;
  for (const entry of entries) if (entry.live) live++;
  return { entries, live };
}

/** The live ones of [start, end). */
function countIn(entries: readonly SortedEntry[], start: string, end: string): number {
  const last = positionOf(entries, end);
  let count = 0;
  for (let i = positionOf(entries, start); i < last; i++) if (entries[i].live) count++;
  return count;
}

/** The first position whose entry is not before `order`. */
function positionOf(entries: readonly SortedEntry[], order: string): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (entries[middle].order < order) low = middle + 1;
    else high = middle;
  }
  return low;
}
