/** The response as a sink for a stream of frames: what is pending is counted, so that a client that does not read can be cut. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../machinery/process/clock.ts';
import type { WatchSink } from '../watch/form.ts';
import type { RequestContext } from './context.ts';

export function streamSink(context: RequestContext, clock: Clock): WatchSink {
  const response = context.reply.raw as unknown as ServerResponse;
  let pendingBytes = 0;
  return {
    write: (chunk) => {
      if (response.destroyed || response.writableEnded) return;
      pendingBytes += chunk.length;
      response.write(chunk, () => {
        pendingBytes -= chunk.length;
      });
    },
    get pendingBytes() {
      return pendingBytes;
    },
    onDrain: (callback) => {
      if (pendingBytes === 0 && !response.writableNeedDrain) clock.setTimer(0, callback);
      else response.once('drain', callback);
    },
    end: () => {
      if (!response.writableEnded) response.end();
    },
    destroy: () => {
      const stream = (response as unknown as { stream?: { close(code?: number): void } }).stream;
      if (stream !== undefined) stream.close();
      else response.destroy();
    },
  };
}
