/**
 * Lets history go that is older than the interval. Mirrors apiserver `storage/etcd3/compact.go`: at each tick it compacts to the revision that
 * was current one tick ago, so anything read or watched stays resumable for at least one interval and at most two.
 *
 * A store that is full lets all history go but that of the last seconds: what was deleted takes room as long as it can be read.
 *
 * History in memory is also bounded by count: a burst of writes may shorten the window, never below `MIN_HISTORY` revisions.
 */
import type { Clock } from '../../machinery/process/clock.ts';
import type { Store } from './interface.ts';
import { pressureOf } from './pressure.ts';

/** How many revisions history may have before it is cut, whatever its age: about 300 MB of index. */
const MAX_HISTORY = 500_000;
/** What such a cut leaves. */
const MIN_HISTORY = 250_000;
const COUNT_CHECK_MS = 5_000;

/** Runs until the signal aborts. */
export async function runCompactor(store: Store, intervalMs: number, deps: { clock: Clock; signal: AbortSignal }): Promise<void> {
  const { clock, signal } = deps;
  let previous = store.revision;
  let lastTick = clock.monotonicMs();
  let lastLook = previous;
  while (!signal.aborted) {
    await clock.sleep(Math.min(intervalMs, COUNT_CHECK_MS), signal).catch(() => {});
    if (signal.aborted) return;
    const look = store.revision;
    if (clock.monotonicMs() - lastTick >= intervalMs) {
      lastTick = clock.monotonicMs();
      await store.compact(previous, signal);
      previous = store.revision;
    } else if (store.revision - store.compactedRevision > MAX_HISTORY) {
      await store.compact(store.revision - MIN_HISTORY, signal);
    } else if (pressureOf(store) === 'full') {
      await store.compact(lastLook, signal);
    }
    lastLook = look;
  }
}
