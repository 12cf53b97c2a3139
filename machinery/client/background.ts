/**
 * Lets requests that nobody waits for (events) go behind all others of the same client: one at a time, while nothing else is under way, or after
 * `WAIT_MS`. A burst of writes is then not slowed down by the telling of it, and the telling still comes.
 *
 * Invariant: of what is queued something is sent at least every `WAIT_MS`, unless the one under way takes longer.
 */
import type { Clock } from '../process/clock.ts';
import type { AnswerHandler, HttpRequest } from './answer.ts';

/** So long one waits for a quiet moment. */
const WAIT_MS = 100;

export interface Queued {
  readonly request: HttpRequest;
  readonly handler: AnswerHandler;
  readonly signal: AbortSignal | undefined;
}

export class Background {
  readonly #clock: Clock;
  readonly #send: (queued: Queued) => void;
  readonly #queue: Queued[] = [];
  /** Requests of others, under way or waiting. */
  #urgent = 0;
  #busy = false;
  #timed = false;

  constructor(clock: Clock, send: (queued: Queued) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** A handler for a request of others, which counts from now until it has ended. */
  urgent(handler: AnswerHandler): AnswerHandler {
    this.#urgent++;
    return ended(handler, () => {
      this.#urgent--;
      // whoever waited for it may have more to send at once
      if (this.#urgent === 0 && this.#queue.length > 0) this.#clock.setTimer(0, () => this.#next(false), { unref: true });
    });
  }

  add(queued: Queued): void {
    this.#queue.push(queued);
    this.#next(false);
  }

  /** What has not been sent. */
  close(): readonly Queued[] {
    return this.#queue.splice(0);
  }

  #next(waited: boolean): void {
    if (!this.#busy && (this.#urgent === 0 || waited)) {
      const queued = this.#queue.shift();
      if (queued) {
        this.#busy = true;
        const handler = ended(queued.handler, () => {
          this.#busy = false;
          this.#next(false);
        });
        this.#send({ ...queued, handler });
      }
    }
    if (this.#queue.length === 0 || this.#timed) return;
    this.#timed = true;
    const over = (): void => {
      this.#timed = false;
      this.#next(true);
    };
    this.#clock.setTimer(WAIT_MS, over, { unref: true });
  }
}

function ended(handler: AnswerHandler, over: () => void): AnswerHandler {
  return {
    onHead: (code, headers, control) => handler.onHead(code, headers, control),
    onData: (chunk) => handler.onData(chunk),
    onEnd: () => {
      handler.onEnd();
      over();
    },
    onError: (error) => {
      handler.onError(error);
      over();
    },
  };
}
