/** The body of a streamed answer: chunks wait here until they are read, and the connection pauses when too many do. */
import type { AnswerControl } from './answer.ts';

/** The connection pauses above this and resumes when all has been read. */
const PAUSE_BYTES = 1 << 20;

export class ByteQueue implements AsyncIterable<Buffer> {
  readonly #control: AnswerControl;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #ended = false;
  #failure: unknown;
  #wake: (() => void) | undefined;

  constructor(control: AnswerControl) {
    this.#control = control;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > PAUSE_BYTES) this.#control.pause();
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  fail(failure: unknown): void {
    this.#failure = failure ?? new Error('the stream failed');
    this.end();
  }

  /** One reader. Leaving the loop early ends the request. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    try {
      for (;;) {
        const chunks = this.#chunks;
        this.#chunks = [];
        this.#bytes = 0;
        if (this.#control.paused) this.#control.resume();
        yield* chunks;
        if (this.#chunks.length > 0) continue;
        if (this.#failure !== undefined) throw this.#failure;
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    } finally {
      if (!this.#ended) this.#control.abort(new Error('the reader has left'));
    }
  }
}
