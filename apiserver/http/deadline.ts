/** How long a request may take: the timeout parameter, at most the server's own limit. Mirrors apiserver `filters/request_deadline.go`. */
import { DurationError, parseDuration } from '../../machinery/api/duration.ts';
import { badRequest } from '../../machinery/api/status.ts';
import { isLongRunning } from './in-flight.ts';
import type { RequestInfo } from './request-info.ts';

/** `maxMs` is `--request-timeout`. Milliseconds until the request is given up; undefined for long-running ones. Throws 400 for what is no duration. */
export function deadlineMs(info: RequestInfo, maxMs: number): number | undefined {
  if (isLongRunning(info)) return undefined;
  const asked = info.query.get('timeout');
  if (asked === undefined || asked === '') return maxMs;
  try {
    const ms = parseDuration(asked);
    return ms <= 0 ? maxMs : Math.min(ms, maxMs);
  } catch (error) {
    if (error instanceof DurationError) throw badRequest(`invalid timeout specified in the request URL - ${error.message}`);
    throw error;
  }
}
