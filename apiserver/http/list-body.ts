/**
 * Large lists are written in chunks, each when the one before it has been taken: the first byte leaves at once whatever the size, a slow client
 * holds one chunk and not the list, and others get their turn in between. The bytes are those that are stored; they are never put together.
 */
import type { ServerResponse } from 'node:http';
import type { RequestContext } from './context.ts';

/** What a JSON list is made of. */
export interface ListPieces {
  /** Up to and with `"items":[`. */
  readonly head: Buffer;
  /** Whole objects, as stored. */
  readonly items: readonly Buffer[];
  /** How many bytes at the start of every item (its kind and apiVersion) are left out; `{` takes their place. */
  readonly skip: number;
}

const TAIL = Buffer.from(']}\n');
const CHUNK_BYTES = 128 * 1024;
const COMMA = 0x2c;
const BRACE = 0x7b;

/** The length of the whole list. */
export function listLength({ head, items, skip }: ListPieces): number {
  let length = head.length + TAIL.length + Math.max(0, items.length - 1);
  for (const item of items) length += item.length - skip + 1;
  return length;
}

/** Sends headers and list; errors end with the connection. */
export function sendList(context: RequestContext, pieces: ListPieces, length: number): void {
  const { reply } = context;
  const response = reply.raw as unknown as ServerResponse;
  reply.hijack();
  response.writeHead(200, { ...reply.getHeaders(), 'content-length': String(length) } as never);
  const chunks = chunksOf(pieces);
  const next = (error?: Error | null): void => {
    if (error || response.destroyed) return;
    const { value, done } = chunks.next();
    if (done) response.end();
    else response.write(value, next);
  };
  next();
}

/** The chunk that is given out is written over by the next: it must have been taken by then. */
export function* chunksOf({ head, items, skip }: ListPieces): Generator<Buffer, undefined> {
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let filled = 0;
  /** Copies from `from` on as much as there is room for; true when nothing of it is left. */
  function* copy(bytes: Buffer, from: number): Generator<Buffer, undefined> {
    for (let at = from; at < bytes.length; ) {
      if (filled === CHUNK_BYTES) {
        yield chunk;
        filled = 0;
      }
      const taken = bytes.copy(chunk, filled, at);
      filled += taken;
      at += taken;
    }
  }
  yield* copy(head, 0);
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!;
    if (filled + item.length - skip + 2 <= CHUNK_BYTES) {
      if (i > 0) chunk[filled++] = COMMA;
      chunk[filled++] = BRACE;
      filled += item.copy(chunk, filled, skip);
    } else {
      yield* copy(i > 0 ? SEPARATOR : OPENING, 0);
      yield* copy(item, skip);
    }
  }
  yield* copy(TAIL, 0);
  yield chunk.subarray(0, filled);
}

const SEPARATOR = Buffer.from(',{');
const OPENING = Buffer.from('{');
