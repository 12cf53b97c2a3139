/**
 * Work over many items that lets others have their turn: without it one large list holds up every lease and every probe of the process.
 *
 * Invariant: nothing else waits for longer than about `SLICE_MS`, plus what a few items take.
 */
import { type Clock, turnEnd } from './clock.ts';

const SLICE_MS = 8;
/** Time is looked at once in so many items. */
const ITEMS_A_LOOK = 16;

/** Gives the items to `take`, in order, until it answers true; answers how many were given, at once where one slice is enough. The items must not change meanwhile. */
export function forEachInSlices<T>(clock: Clock, items: readonly T[], take: (item: T) => boolean): number | Promise<number> {
  let next = 0;
  const slice = (): boolean => {
    const end = clock.monotonicMs() + SLICE_MS;
    while (next < items.length) {
      if (take(items[next++]!)) return true;
      if (next % ITEMS_A_LOOK === 0 && clock.monotonicMs() >= end) return next === items.length;
    }
    return true;
  };
  if (slice()) return next;
  return (async () => {
    do await turnEnd();
    while (!slice());
    return next;
  })();
}

/** `make` of every item, in order. */
export function inSlices<T, R>(clock: Clock, items: readonly T[], make: (item: T) => R): R[] | Promise<R[]> {
  const made: R[] = [];
  const given = forEachInSlices(clock, items, (item) => {
    made.push(make(item));
    return false;
  });
  return given instanceof Promise ? given.then(() => made) : made;
}
