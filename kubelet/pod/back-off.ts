/**
 * How long a container waits before its next try. Mirrors kubelet's crash-loop and image-pull back-off (client-go `flowcontrol.Backoff`):
 * the first restart is immediate, then 10 s, doubling up to 5 minutes; a run of 10 minutes starts it over.
 */
import type { RuntimeContainer } from '../runtime/interface.ts';

export interface BackOffLimits {
  readonly initialMs: number;
  readonly maxMs: number;
}

export const UPSTREAM_LIMITS: BackOffLimits = { initialMs: 10_000, maxMs: 300_000 };

const grown = (currentMs: number, limits: BackOffLimits): number =>
  Math.min(limits.maxMs, currentMs > 0 ? currentMs * 2 : limits.initialMs);

/** The back-off that a run started now will have after its end; undefined as `former` for the first run. */
export function nextCrashBackOff(former: RuntimeContainer | undefined, limits: BackOffLimits): number {
  if (!former) return 0;
  if (!former.exit) return former.crashBackOffMs;
  const ranMs = former.exit.finishedAtMs - former.exit.startedAtMs;
  return grown(ranMs >= 2 * limits.maxMs ? 0 : former.crashBackOffMs, limits);
}

/** The back-off should the pull that starts now fail. */
export function nextPullBackOff(former: RuntimeContainer | undefined, limits: BackOffLimits): number {
  return grown(former?.state === 'pull-failed' ? former.pullBackOffMs : 0, limits);
}

/** How long a failed pull shows ErrImagePull before ImagePullBackOff. */
export const pullErrorShownMs = (backOffMs: number): number => Math.min(2000, backOffMs / 2);

/** `10s`, `1m20s`, `5m0s`: as Go prints it. */
export function formatBackOff(ms: number): string {
  const seconds = Math.round(ms) / 1000;
  if (seconds < 1) return `${Math.round(ms)}ms`;
  if (seconds < 60) return `${seconds}s`;
  return `${Math.floor(seconds / 60)}m${Math.round(seconds % 60)}s`;
}
