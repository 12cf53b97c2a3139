/** Counts and durations of requests, by upstream's metric names. */
import type { Clock } from '../../machinery/process/clock.ts';
import type { Metrics } from '../../machinery/process/metrics.ts';
import type { RequestContext } from './context.ts';
import { isLongRunning } from './in-flight.ts';

export interface RequestMetrics {
  /** Call at the start; the returned function at the end, with the code sent. */
  start(context: RequestContext): (code: number) => void;
}

const BUCKETS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 5, 10, 30, 60];

export function createRequestMetrics(metrics: Metrics, clock: Clock): RequestMetrics {
  const total = metrics.counter('apiserver_request_total', 'Requests by verb, resource and code', [
    'verb',
    'group',
    'version',
    'resource',
    'subresource',
    'code',
  ]);
  const duration = metrics.histogram('apiserver_request_duration_seconds', 'How long answers took', {
    labels: ['verb', 'resource'],
    buckets: BUCKETS,
  });
  const longRunning = metrics.gauge('apiserver_longrunning_requests', 'Watches, logs and other open streams', {
    labels: ['verb', 'resource'],
  });
  return {
    start: (context) => {
      const { info } = context;
      const started = clock.monotonicMs();
      const verb = info.verb.toUpperCase();
      const { group, version, resource, subresource } = info.isResourceRequest ? info : NONE;
      const open = isLongRunning(info) ? longRunning.labels(verb, resource) : undefined;
      open?.inc();
      return (code) => {
        open?.dec();
        total.labels(verb, group, version, resource, subresource, String(code)).inc();
        if (open === undefined) duration.labels(verb, resource).observe((clock.monotonicMs() - started) / 1000);
      };
    },
  };
}

const NONE = { group: '', version: '', resource: '', subresource: '' };
