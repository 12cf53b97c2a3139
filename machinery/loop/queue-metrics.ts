/** Upstream's workqueue metrics: how much waits, how long a pass takes, how many were tried again. */
import type { ControllerContext } from './controller.ts';
import type { Workqueue } from './workqueue.ts';

export interface QueueMetrics {
  /** A pass begins; call the result at its end. */
  started(): () => void;
  retried(): void;
}

const SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10];

export function queueMetrics(name: string, queue: Workqueue, context: Pick<ControllerContext, 'metrics' | 'clock'>): QueueMetrics {
  const { metrics, clock } = context;
  if (!metrics) return { started: () => () => undefined, retried: () => undefined };
  const labels = ['name'] as const;
  const depths = depthsOf(metrics);
  depths.set(name, queue);
  metrics.gauge('workqueue_depth', 'Current depth of workqueue', {
    labels,
    collect: (gauge) => {
      for (const [queueName, { length }] of depths) gauge.set({ name: queueName }, length);
    },
  });
  const retries = metrics.counter('workqueue_retries_total', 'Total number of retries handled by workqueue', labels);
  const work = metrics.histogram('workqueue_work_duration_seconds', 'How long in seconds processing an item from workqueue takes.', {
    labels,
    buckets: SECONDS,
  });
  return {
    started: () => {
      const startedMs = clock.monotonicMs();
      return () => work.observe({ name }, (clock.monotonicMs() - startedMs) / 1000);
    },
    retried: () => retries.inc({ name }),
  };
}

/** The queues of one component share its gauge. */
const known = new WeakMap<object, Map<string, Workqueue>>();

function depthsOf(metrics: object): Map<string, Workqueue> {
  let depths = known.get(metrics);
  if (!depths) {
    depths = new Map();
    known.set(metrics, depths);
  }
  return depths;
}
