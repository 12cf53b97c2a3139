/** What is sent, and how its answer is told piece by piece. Invariant of whoever sends: each request ends with exactly one `onEnd` or `onError`. */
import type { RawResponse } from './client.ts';

export interface HttpRequest {
  readonly method: string;
  /** Path with query, encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer | undefined;
  /** Nobody waits for it: all others of this client go first. */
  readonly background?: boolean | undefined;
}

/** Slows an answer down, or ends it. */
export interface AnswerControl {
  readonly paused: boolean;
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

export interface AnswerHandler {
  onHead(code: number, headers: RawResponse['headers'], control: AnswerControl): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: unknown): void;
}
