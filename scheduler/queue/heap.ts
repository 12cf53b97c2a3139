/** A binary heap of keyed items: the smallest by `before` first; an item can be taken out by its key. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #index = new Map<string, number>();
  readonly #keyOf: (item: T) => string;
  readonly #before: (a: T, b: T) => boolean;

  constructor(keyOf: (item: T) => string, before: (a: T, b: T) => boolean) {
    this.#keyOf = keyOf;
    this.#before = before;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  has(key: string): boolean {
    return this.#index.has(key);
  }

  get(key: string): T | undefined {
    const at = this.#index.get(key);
    return at === undefined ? undefined : this.#items[at];
  }

  /** Adds, or replaces the item of the same key. */
  push(item: T): void {
    const key = this.#keyOf(item);
    this.remove(key);
    this.#items.push(item);
    this.#index.set(key, this.#items.length - 1);
    this.#up(this.#items.length - 1);
  }

  pop(): T | undefined {
    const first = this.#items[0];
    if (first !== undefined) this.remove(this.#keyOf(first));
    return first;
  }

  remove(key: string): T | undefined {
    const at = this.#index.get(key);
    if (at === undefined) return undefined;
    const item = this.#items[at] as T;
    const last = this.#items.pop() as T;
    this.#index.delete(key);
    if (at < this.#items.length) {
      this.#items[at] = last;
      this.#index.set(this.#keyOf(last), at);
      this.#up(at);
      this.#down(at);
    }
    return item;
  }

  values(): readonly T[] {
    return this.#items;
  }

  #up(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#before(this.#items[at] as T, this.#items[parent] as T)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #down(from: number): void {
    for (let at = from; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.#items.length && this.#before(this.#items[child] as T, this.#items[least] as T)) least = child;
      }
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #swap(a: number, b: number): void {
    const [x, y] = [this.#items[a] as T, this.#items[b] as T];
    this.#items[a] = y;
    this.#items[b] = x;
    this.#index.set(this.#keyOf(y), a);
    this.#index.set(this.#keyOf(x), b);
  }
}
