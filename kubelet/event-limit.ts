/** Bounds how many events a node tells: a token bucket, as upstream's --event-qps and --event-burst. What is above it is dropped. */
import type { Clock } from '../machinery/process/clock.ts';

export function createEventLimit(qps: number, burst: number, clock: Clock): () => boolean {
  let tokens = burst;
  let lastMs = clock.monotonicMs();
  return () => {
    if (qps === 0) return true;
    const nowMs = clock.monotonicMs();
    tokens = Math.min(burst, tokens + ((nowMs - lastMs) / 1000) * qps);
    lastMs = nowMs;
    if (tokens < 1) return false;
    tokens--;
    return true;
  };
}
