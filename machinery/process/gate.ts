/** Lets a few at a time do what takes much memory; the others wait, in order. Whoever waits is bounded by its caller: here, by the requests in flight. */
export class Gate {
  readonly #places: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#places = places;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken < this.#places) this.#taken++;
    else await new Promise<void>((enter) => this.#waiting.push(enter));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next !== undefined) next();
      else this.#taken--;
    }
  }
}
