/**
 * A cap on requests served at the same time, by kind of verb; watches and other long-running requests have one of their own, far above. Administrators, leases and
 * health are never turned away: a full server must still be seen, led and repaired. Mirrors apiserver `filters/maxinflight.go`, and of priority and
 * fairness the level `exempt`.
 */
import type { Metrics } from '../../machinery/process/metrics.ts';
import type { UserInfo } from '../registry/resource.ts';
import type { RequestInfo } from './request-info.ts';

/** Watches, logs and other streams open at once: one for each of some kinds on each of thousands of nodes, and no more memory than some hundred MiB. */
const MAX_LONG_RUNNING = 100_000;
const READING = new Set(['get', 'list', 'watch']);
const HEALTH = /^\/(?:healthz|livez|readyz)(?:\/|$)/;
const LONG_RUNNING = new Set(['log', 'exec', 'attach', 'portforward', 'proxy']);

/** As upstream's `/debug/pprof/`, our own debug paths take the time they take: a backup as long as its reader needs. */
export function isLongRunning(info: RequestInfo): boolean {
  if (!info.isResourceRequest) return info.path.startsWith('/debug/');
  return info.verb === 'watch' || LONG_RUNNING.has(info.subresource);
}

/** Answered as 429 in plain text; clients come back after the seconds of Retry-After. */
export class TooManyInFlight extends Error {
  readonly retryAfterSeconds = 1;
}

function isExempt(info: RequestInfo, user: UserInfo): boolean {
  if (user.groups.includes('system:masters')) return true;
  if (info.isResourceRequest) return info.group === 'coordination.k8s.io' && info.resource === 'leases';
  return HEALTH.test(info.path);
}

export interface InFlight {
  /** Throws TooManyInFlight when full; else returns what to call at the request's end; undefined for what is not counted. */
  enter(info: RequestInfo, user: UserInfo): (() => void) | undefined;
  readonly mutating: number;
  readonly readOnly: number;
}

const KINDS = ['mutating', 'readOnly'] as const;

export interface InFlightLimits {
  readonly mutating: number;
  readonly readOnly: number;
  readonly longRunning?: number;
}

export function createInFlight(limits: InFlightLimits, metrics: Metrics): InFlight {
  const count = { mutating: 0, readOnly: 0 };
  let longRunning = 0;
  metrics.gauge('apiserver_current_inflight_requests', 'Requests being served, by whether they write', {
    labels: ['request_kind'],
    collect: (gauge) => {
      for (const kind of KINDS) gauge.set({ request_kind: kind }, count[kind]);
    },
  });
  return {
    enter: (info, user) => {
      if (isLongRunning(info)) {
        if (longRunning >= (limits.longRunning ?? MAX_LONG_RUNNING)) throw new TooManyInFlight();
        longRunning++;
        return () => {
          longRunning--;
        };
      }
      const kind = READING.has(info.verb) ? 'readOnly' : 'mutating';
      if (limits[kind] > 0 && count[kind] >= limits[kind]) {
        if (isExempt(info, user)) return undefined;
        throw new TooManyInFlight();
      }
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
