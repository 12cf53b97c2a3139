/**
 * The end in good order: requests that have been taken are answered, watches end with what they were owed, then connections go. Mirrors apiserver
 * `server/genericapiserver.go` (NonLongRunningRequestWaitGroup, WatchRequestWaitGroup).
 *
 * Invariant: it is over after `DRAIN_MS`, whatever clients do.
 */
import type { Clock } from '../../machinery/process/clock.ts';
import type { RequestContext } from './context.ts';
import { isLongRunning } from './in-flight.ts';

/** A process is cut off two seconds later. */
const DRAIN_MS = 8_000;
/** For the end of a watch to be taken by who reads it. */
const WATCH_MS = 500;
const LOOK_MS = 20;

export interface Drain {
  /** What is answered now is the last answer of its connection. */
  readonly draining: boolean;
  /** To be called for each request. */
  enter(context: RequestContext): void;
  /** Settles when all that was taken is answered, or there is no more time; meanwhile ends connections on which nothing is asked. */
  wait(endIdle: () => void): Promise<void>;
}

export function createDrain(clock: Clock): Drain {
  let requests = 0;
  let watches = 0;
  let draining = false;
  return {
    get draining() {
      return draining;
    },
    enter: (context) => {
      if (!isLongRunning(context.info)) {
        requests++;
        context.cleanups.push(() => requests--);
      } else if (context.info.verb === 'watch') {
        watches++;
        context.cleanups.push(() => watches--);
      }
    },
    wait: async (endIdle) => {
      draining = true;
      const start = clock.monotonicMs();
      const within = (ms: number): boolean => clock.monotonicMs() - start < ms;
      while ((requests > 0 && within(DRAIN_MS)) || (watches > 0 && within(WATCH_MS))) {
        await clock.sleep(LOOK_MS);
        endIdle();
      }
    },
  };
}
