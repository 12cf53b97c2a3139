/**
 * A cap on requests served at the same time, by kind of verb; watches and other long-running requests are not counted.
 * Mirrors apiserver `filters/maxinflight.go`.
 */
import { tooManyRequests } from '../../machinery/api/status.ts';
import type { RequestInfo } from './request-info.ts';

const MUTATING = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
const LONG_RUNNING = new Set(['log', 'exec', 'attach', 'portforward', 'proxy']);

export function isLongRunning(info: RequestInfo): boolean {
  return info.verb === 'watch' || (info.isResourceRequest && LONG_RUNNING.has(info.subresource));
}

export interface InFlight {
  /** Throws 429 when full; else returns what to call at the request's end. */
  enter(info: RequestInfo): (() => void) | undefined;
  readonly mutating: number;
  readonly readOnly: number;
}

export function createInFlight(limits: { readonly mutating: number; readonly readOnly: number }): InFlight {
  const count = { mutating: 0, readOnly: 0 };
  return {
    enter: (info) => {
      if (isLongRunning(info)) return undefined;
      const kind = MUTATING.has(info.verb) ? 'mutating' : 'readOnly';
      if (limits[kind] > 0 && count[kind] >= limits[kind]) throw tooManyRequests('Too many requests, please try again later.', 1);
      count[kind]++;
      return () => {
        count[kind]--;
      };
    },
    get mutating() {
      return count.mutating;
    },
    get readOnly() {
      return count.readOnly;
    },
  };
}
