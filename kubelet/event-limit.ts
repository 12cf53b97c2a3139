/** Bounds how many events a node tells: upstream's --event-qps (0: no limit) and --event-burst. What is above it is dropped. */
import type { Clock } from '../machinery/process/clock.ts';
import { TokenBucket } from '../machinery/process/token-bucket.ts';

export function createEventLimit(qps: number, burst: number, clock: Clock): () => boolean {
  if (qps === 0) return () => true;
  const bucket = new TokenBucket({ clock, perSecond: qps, burst });
  return () => bucket.take();
}
