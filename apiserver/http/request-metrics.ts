/**
 * Counts and durations of requests, by upstream's metric names and labels. Mirrors apiserver `endpoints/metrics`.
 *
 * Invariant: label values are names this server knows, never what a client made up: the figures of a server do not grow with what it is asked.
 */
import type { Clock } from '../../machinery/process/clock.ts';
import type { Metrics } from '../../machinery/process/metrics.ts';
import type { Catalog } from '../handlers/served.ts';
import type { RequestContext } from './context.ts';
import { isLongRunning } from './in-flight.ts';
import type { RequestInfo } from './request-info.ts';

export interface RequestMetrics {
  /** Call at the start; the returned function at the end, with the code sent. */
  start(context: RequestContext): (code: number) => void;
  /** The server gave the request up, or never took it: too late (504), too many (429). */
  terminated(context: RequestContext, code: 429 | 504): void;
}

const BUCKETS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
const TARGET = ['group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
type Labels = readonly [group: string, version: string, resource: string, subresource: string, scope: string, component: string];

const COMPONENT = 'apiserver';
const METHODS = new Set(['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace']);

export function createRequestMetrics(metrics: Metrics, clock: Clock, catalog: Catalog): RequestMetrics {
  const total = metrics.counter('apiserver_request_total', 'Requests by verb, resource and code', ['verb', 'dry_run', ...TARGET, 'code']);
  const duration = metrics.histogram('apiserver_request_duration_seconds', 'How long answers took', {
    labels: ['verb', 'dry_run', ...TARGET],
    buckets: BUCKETS,
  });
  const longRunning = metrics.gauge('apiserver_longrunning_requests', 'Watches, logs and other open streams', {
    labels: ['verb', ...TARGET],
  });
  const terminations = metrics.counter('apiserver_request_terminations_total', 'Requests that were turned away or given up', [
    'verb',
    ...TARGET,
    'code',
  ]);
  const deprecated = metrics.gauge('apiserver_requested_deprecated_apis', 'Deprecated versions of resources that were asked for', {
    labels: ['group', 'version', 'resource', 'subresource', 'removed_release'],
  });
  /** The same few label values come with every request: what they lead to is looked up once. */
  const known = new Map<string, Figures>();
  const figuresOf = (head: readonly [verb: string, dryRun: string], target: Labels, code: string): Figures => {
    const [group, version, resource, subresource, scope] = target;
    const key = `${head[0]}\n${head[1]}\n${group}\n${version}\n${resource}\n${subresource}\n${scope}\n${code}`;
    let figures = known.get(key);
    if (figures === undefined) {
      if (known.size >= MAX_KNOWN) known.clear();
      figures = { total: total.labels(...head, ...target, code), duration: duration.labels(...head, ...target) };
      known.set(key, figures);
    }
    return figures;
  };
  return {
    start: (context) => {
      const { info } = context;
      const started = clock.monotonicMs();
      const verb = verbOf(info);
      const target = targetOf(info, catalog);
      const removed = removedRelease(info, catalog);
      if (removed !== undefined && target !== NOTHING) deprecated.labels(target[0], target[1], target[2], target[3], removed).set(1);
      const dryRun = info.query.get('dryRun') === 'All' ? 'All' : '';
      const open = isLongRunning(info) ? longRunning.labels(verb, ...target) : undefined;
      open?.inc();
      return (code) => {
        open?.dec();
        const figures = figuresOf([verb, dryRun], target, String(code));
        figures.total.inc();
        if (open === undefined) figures.duration.observe((clock.monotonicMs() - started) / 1000);
      };
    },
    terminated: ({ info }, code) => terminations.labels(verbOf(info), ...targetOf(info, catalog), String(code)).inc(),
  };
}

const verbOf = ({ verb, isResourceRequest }: RequestInfo): string => (METHODS.has(verb) || isResourceRequest ? verb.toUpperCase() : '');

const MAX_KNOWN = 1000;
const NOTHING: Labels = ['', '', '', '', '', COMPONENT];

function targetOf(info: RequestInfo, catalog: Catalog): Labels {
  if (!info.isResourceRequest) return NOTHING;
  const { group, version, resource, subresource } = info;
  const served = catalog.lookup(group, version, resource);
  if (served === undefined) return NOTHING;
  const isKnown = subresource === '' || served.info.subresources?.some(({ name }) => name === subresource);
  return isKnown ? [group, version, resource, subresource, scopeOf(info), COMPONENT] : NOTHING;
}

/** The release that a deprecated resource ends with, '' when that is open; undefined for what is not deprecated. */
function removedRelease({ isResourceRequest, group, version, resource }: RequestInfo, catalog: Catalog): string | undefined {
  if (!isResourceRequest) return undefined;
  const warning = catalog.lookup(group, version, resource)?.deprecation;
  return warning === undefined ? undefined : (/unavailable in v([0-9.]+)\+/.exec(warning)?.[1] ?? '');
}

/** What a request is about: one object, a namespace, or the whole cluster. */
function scopeOf({ name, namespace, verb }: RequestInfo): 'resource' | 'namespace' | 'cluster' {
  if (name !== '' || verb === 'create') return 'resource';
  return namespace === '' ? 'cluster' : 'namespace';
}

interface Figures {
  readonly total: { inc(): void };
  readonly duration: { observe(seconds: number): void };
}
