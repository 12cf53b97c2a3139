/**
 * Counters, gauges and histograms of one component in Prometheus' text form. A component owns its registry, so that several components can live
 * in one process (tests) without mixing their figures. Metric names are upstream's where upstream has the metric.
 */

import type { Counter, Gauge, Histogram } from 'prom-client';
import * as prom from 'prom-client';

export type { Counter, Gauge, Histogram };

export interface Metrics {
  counter<L extends string = never>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  /** With `collect` the value is set when somebody looks. */
  gauge<L extends string = never>(
    name: string,
    help: string,
    options?: { labels?: readonly L[]; collect?: (gauge: Gauge<L>) => void },
  ): Gauge<L>;
  histogram<L extends string = never>(
    name: string,
    help: string,
    options?: { labels?: readonly L[]; buckets?: readonly number[] },
  ): Histogram<L>;
  /** The text form of everything. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** Asking twice for one name gives the same metric. */
export function createMetrics(): Metrics {
  const registry = new prom.Registry();
  const known = new Map<string, unknown>();
  const once = <M>(name: string, make: () => M): M => {
    if (!known.has(name)) known.set(name, make());
    return known.get(name) as M;
  };
  const metrics: Metrics = {
    counter: (name, help, labels = []) =>
      once(name, () => new prom.Counter({ name, help, labelNames: [...labels], registers: [registry] })),
    gauge: (name, help, options = {}) =>
      once(name, () => {
        const { collect } = options;
        return new prom.Gauge({
          name,
          help,
          labelNames: [...(options.labels ?? [])],
          registers: [registry],
          ...(collect && {
            collect() {
              collect(this);
            },
          }),
        });
      }),
    histogram: (name, help, options = {}) =>
      once(
        name,
        () =>
          new prom.Histogram({
            name,
            help,
            labelNames: [...(options.labels ?? [])],
            registers: [registry],
            ...(options.buckets && { buckets: [...options.buckets] }),
          }),
      ),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
  processMetrics(metrics);
  return metrics;
}

/** Read when somebody looks: no timers, no cost in between. */
function processMetrics(metrics: Metrics): void {
  const started = performance.timeOrigin / 1000;
  metrics.gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', {
    collect: (gauge) => gauge.set(process.memoryUsage.rss()),
  });
  metrics.gauge('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', {
    collect: (gauge) => {
      const { user, system } = process.cpuUsage();
      gauge.set((user + system) / 1e6);
    },
  });
  metrics.gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.', {
    collect: (gauge) => gauge.set(started),
  });
  metrics.gauge('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', {
    collect: (gauge) => gauge.set(process.memoryUsage().heapUsed),
  });
}
