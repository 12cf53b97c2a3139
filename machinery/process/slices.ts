/**
 * Work over many items that lets others have their turn: without it one large list holds up every lease and every probe of the process.
 *
 * Invariant: nothing else runs for longer than about `SLICE_MS`, plus what a single item takes.
 */
import { type Clock, turnEnd } from './clock.ts';

const SLICE_MS = 8;
/** Time is looked at once in so many items. */
const ITEMS_A_LOOK = 16;

/** `make` of every item, in order. The items must not change meanwhile. Answers at once, without a promise, while one slice is enough. */
export function inSlices<T, R>(clock: Clock, items: readonly T[], make: (item: T) => R): R[] | Promise<R[]> {
  const made: R[] = [];
  return slice(clock, items, (item) => void made.push(make(item))) ? made : rest(clock, items, made, make);
}

/** Works on until the slice is over, from the item that `made` comes to; true when all are done. */
function slice<T>(clock: Clock, items: readonly T[], take: (item: T) => void, from = 0): boolean {
  const end = clock.monotonicMs() + SLICE_MS;
  for (let i = from; i < items.length; i++) {
    take(items[i]!);
    if ((i + 1) % ITEMS_A_LOOK === 0 && clock.monotonicMs() >= end && i + 1 < items.length) return false;
  }
  return true;
}

async function rest<T, R>(clock: Clock, items: readonly T[], made: R[], make: (item: T) => R): Promise<R[]> {
  do await turnEnd();
  while (!slice(clock, items, (item) => void made.push(make(item)), made.length));
  return made;
}
