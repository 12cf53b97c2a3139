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
  /** The same few label values come with every request: what they lead to is looked up once. */
  const known = new Map<string, Figures>();
  const figuresOf = (labels: readonly [string, string, string, string, string, string]): Figures => {
    const key = labels.join('\n');
    let figures = known.get(key);
    if (figures === undefined) {
      if (known.size >= MAX_KNOWN) known.clear();
      figures = { total: total.labels(...labels), duration: duration.labels(labels[0], labels[3]) };
      known.set(key, figures);
    }
    return figures;
  };
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
        const figures = figuresOf([verb, group, version, resource, subresource, String(code)]);
        figures.total.inc();
        if (open === undefined) figures.duration.observe((clock.monotonicMs() - started) / 1000);
      };
    },
  };
}

const MAX_KNOWN = 1000;

interface Figures {
  readonly total: { inc(): void };
  readonly duration: { observe(seconds: number): void };
}

const NONE = { group: '', version: '', resource: '', subresource: '' };
