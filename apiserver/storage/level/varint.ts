/** Reads LevelDB's variable-length numbers: seven bits a byte, low ones first. */
export class VarintReader {
  readonly #bytes: Buffer;
  #at: number;
  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }
  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }
  byte(): number {
    if (this.done) throw new Error('it ends too early');
    return this.#bytes[this.#at++];
  }
  number(): number {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 63; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw new Error('it has a number without an end');
  }
  /** The next bytes, as a part of the whole. */
  skip(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new Error('it ends too early');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
