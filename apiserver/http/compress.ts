/**
 * Large answers are compressed for clients that take gzip. Mirrors apiserver `responsewriters/writers.go`: from 128 KiB on, fast rather than small, and
 * only what is answered at once, never a stream.
 */
import { constants, gzip } from 'node:zlib';
import { header, type RequestContext } from './context.ts';

const THRESHOLD_BYTES = 128 * 1024;
const READING = new Set(['get', 'list']);

/** Calls back with the bytes to send: compressed, with the headers that say so, or as they are. */
export function compress(context: RequestContext, payload: Buffer, done: (bytes: Buffer) => void): void {
  const { reply } = context;
  if (payload.length < THRESHOLD_BYTES || !READING.has(context.info.verb) || !takesGzip(context) || reply.hasHeader('content-encoding')) {
    done(payload);
    return;
  }
  gzip(payload, { level: constants.Z_BEST_SPEED }, (error, compressed) => {
    if (error !== null) {
      done(payload);
      return;
    }
    reply.removeHeader('content-length');
    reply.header('content-encoding', 'gzip').header('vary', 'Accept-Encoding');
    done(compressed);
  });
}

/** As upstream reads the header: `gzip` by name, without looking at weights. */
export function takesGzip(context: RequestContext): boolean {
  const accepted = header(context, 'accept-encoding');
  return accepted?.split(',').some((coding) => coding.trim() === 'gzip') ?? false;
}
