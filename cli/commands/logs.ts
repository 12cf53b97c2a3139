/** `logs`: of one container, of all of a pod, of the pods of a workload or a selector. Mirrors kubectl `cmd/logs`. */

import type { AnyObject } from '../../machinery/api/object.ts';
import { formatSelector, selectorOf } from '../../machinery/api/selector.ts';
import { isReason } from '../../machinery/api/status.ts';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import { CliError, usageError } from '../errors.ts';
import type { Flags } from '../flags.ts';
import { fetchObjects, listAll } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { SELECTOR_FLAGS } from '../verb-flags.ts';

export const verb: Verb = {
  usage: '[-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]',
  flags: {
    ...SELECTOR_FLAGS,
    'all-containers': { type: 'boolean', help: "Get all containers' logs in the pod(s)" },
    'all-pods': { type: 'boolean', help: 'Get logs from all pod(s). Sets prefix to true' },
    container: { type: 'string', short: 'c', help: 'Print the logs of this container' },
    follow: { type: 'boolean', short: 'f', help: 'Specify if the logs should be streamed' },
    'ignore-errors': { type: 'boolean', help: 'If watching / following pod logs, allow for any errors that occur to be non-fatal' },
    'insecure-skip-tls-verify-backend': {
      type: 'boolean',
      help: 'Skip verifying the identity of the kubelet that logs are requested from',
    },
    'limit-bytes': { type: 'integer', default: 0, help: 'Maximum bytes of logs to return. Defaults to no limit' },
    'max-log-requests': {
      type: 'integer',
      default: 5,
      help: 'Specify maximum number of concurrent logs to follow when using by a selector',
    },
    'pod-running-timeout': { type: 'duration', default: '20s', help: 'The length of time to wait until at least one pod is running' },
    prefix: { type: 'boolean', help: 'Prefix each log line with the log source (pod name and container name)' },
    previous: {
      type: 'boolean',
      short: 'p',
      help: 'If true, print the logs for the previous instance of the container in a pod if it exists',
    },
    since: { type: 'duration', default: '0s', help: 'Only return logs newer than a relative duration like 5s, 2m, or 3h' },
    'since-time': { type: 'string', help: 'Only return logs after a specific date (RFC3339)' },
    tail: {
      type: 'integer',
      default: -1,
      help: 'Lines of recent log file to display. Defaults to -1 with no selector, showing all log lines otherwise 10',
    },
    timestamps: { type: 'boolean', help: 'Include timestamps on each line in the log output' },
  },
  run: logs,
};

interface Source {
  readonly pod: Pod;
  readonly container: string;
}

async function logs(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  checkFlags(session, args);
  const pods = await podsFor(session, args);
  const sources = pods.flatMap((pod) => containersOf(session, pod).map((container) => ({ pod, container })));
  const many = flags.integer('max-log-requests');
  if (flags.bool('follow') && sources.length > many) {
    throw new CliError(
      `you are attempting to follow ${sources.length} log streams, but maximum allowed concurrency is ${many}, use --max-log-requests to increase the limit`,
    );
  }
  const prefix = flags.bool('prefix') || flags.bool('all-pods');
  if (flags.bool('follow') && sources.length > 1) {
    await Promise.all(sources.map((source) => print(session, source, prefix)));
    return;
  }
  for (const source of sources) await print(session, source, prefix);
}

function checkFlags({ flags, verb: name }: Session, args: readonly string[]): void {
  const selector = flags.string('selector');
  if (args.length === 0 && selector === '')
    throw usageError(
      name,
      "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required argument for the logs command",
    );
  if (args.length > 2 || (args.length > 0 && selector !== '')) {
    throw usageError(
      name,
      args.length > 2
        ? "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required argument for the logs command"
        : 'only a selector (-l) or a POD name is allowed',
    );
  }
  if (flags.bool('all-containers') && flags.string('container') !== '')
    throw new CliError(`--all-containers=true should not be specified with container name ${flags.string('container')}`);
  if (flags.string('since-time') !== '' && flags.durationMs('since') !== 0)
    throw new CliError('at most one of `sinceTime` or `sinceSeconds` may be specified');
  if (flags.changed('tail') && flags.integer('tail') < -1) throw new CliError(`tailLines must be greater than or equal to 0`);
}

async function podsFor(session: Session, args: readonly string[]): Promise<Pod[]> {
  const mapper = await session.mapper();
  const pods = mapper.resource('pods');
  const namespace = session.namespace().name;
  const selector = session.flags.string('selector');
  if (selector !== '') {
    const items = await listAll(session, pods, { namespace, query: { labelSelector: selector } });
    if (items.length === 0) session.err(`No resources found in ${namespace} namespace.`);
    return items as unknown as Pod[];
  }
  const [target] = args;
  const { found, errors } = await fetchObjects(session, [target.includes('/') ? target : `pods/${target}`]);
  if (errors.length > 0)
    throw isReason(errors[0], 'NotFound')
      ? new CliError(`error from server (NotFound): ${errors[0].message} in namespace "${namespace}"`)
      : errors[0];
  const [{ object }] = found;
  if (object.kind === 'Pod') return [object as unknown as Pod];
  return podsOfWorkload(session, object);
}

async function podsOfWorkload(session: Session, object: AnyObject): Promise<Pod[]> {
  const spec = object.spec as { selector?: Record<string, unknown> } | undefined;
  const selector = spec?.selector;
  const plain = object.kind === 'Service' || object.kind === 'ReplicationController';
  const labels = plain ? { matchLabels: selector as Record<string, string> } : selector;
  if (!selector) throw new CliError(`cannot get the logs from ${object.apiVersion}, Kind=${object.kind}: selector is missing`);
  const labelSelector = formatSelector(selectorOf(labels));
  const namespace = object.metadata.namespace ?? '';
  const items = (await listAll(session, (await session.mapper()).resource('pods'), {
    namespace,
    query: { labelSelector },
  })) as unknown as Pod[];
  if (items.length === 0) throw new CliError(`timed out waiting for the condition`);
  const sorted = [...items].sort(byReadiness);
  if (session.flags.bool('all-pods')) return sorted;
  if (sorted.length > 1) session.err(`Found ${sorted.length} pods, using pod/${sorted[0].metadata?.name}`);
  return sorted.slice(0, 1);
}

/** Ready before not ready, then the oldest: the pod most worth reading. */
function byReadiness(a: Pod, b: Pod): number {
  const ready = (pod: Pod): number => (pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ? 0 : 1);
  return ready(a) - ready(b) || String(a.metadata?.creationTimestamp ?? '').localeCompare(String(b.metadata?.creationTimestamp ?? ''));
}

const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

function containersOf(session: Session, pod: Pod): string[] {
  const { flags } = session;
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? { containers: [] };
  const all = [...initContainers, ...containers, ...ephemeralContainers].map((c) => c.name);
  if (flags.bool('all-containers')) return all;
  const wanted = flags.string('container');
  if (wanted !== '') {
    if (all.includes(wanted)) return [wanted];
    throw new CliError(`container ${wanted} is not valid for pod ${pod.metadata?.name}`);
  }
  const annotated = pod.metadata?.annotations?.[DEFAULT_CONTAINER];
  const chosen = annotated !== undefined && all.includes(annotated) ? annotated : containers[0]?.name;
  if (all.length > 1 && annotated === undefined) {
    const shown = [
      ...containers.map((c) => c.name),
      ...initContainers.map((c) => `${c.name} (init)`),
      ...ephemeralContainers.map((c) => `${c.name} (ephem)`),
    ];
    session.err(`Defaulted container "${chosen}" out of: ${shown.join(', ')}`);
  }
  return chosen === undefined ? [] : [chosen];
}

function logQuery(flags: Flags, container: string): Record<string, string | number | boolean | undefined> {
  const bySelector = flags.string('selector') !== '';
  const tail = flags.changed('tail') || !bySelector ? flags.integer('tail') : 10;
  const since = Math.ceil(flags.durationMs('since') / 1000);
  return {
    container,
    follow: flags.bool('follow') || undefined,
    previous: flags.bool('previous') || undefined,
    timestamps: flags.bool('timestamps') || undefined,
    tailLines: tail >= 0 ? tail : undefined,
    limitBytes: flags.integer('limit-bytes') || undefined,
    sinceSeconds: since || undefined,
    sinceTime: flags.string('since-time') || undefined,
    insecureSkipTLSVerifyBackend: flags.bool('insecure-skip-tls-verify-backend') || undefined,
  };
}

async function print(session: Session, { pod, container }: Source, prefix: boolean): Promise<void> {
  const { name, namespace } = pod.metadata ?? {};
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/log`;
  const mark = prefix ? `[pod/${name}/${container}] ` : '';
  let pending = '';
  try {
    for await (const chunk of await session.api.stream({ path, query: logQuery(session.flags, container), signal: session.signal })) {
      if (mark === '') {
        session.out(chunk);
        continue;
      }
      const lines = (pending + chunk.toString('utf8')).split('\n');
      pending = lines.pop() ?? '';
      session.out(lines.map((line) => `${mark}${line}\n`).join(''));
    }
    if (pending !== '') session.out(`${mark}${pending}\n`);
  } catch (error) {
    if (session.signal.aborted) return;
    if (!session.flags.bool('ignore-errors')) throw error;
    session.err(`error: ${(error as Error).message}`);
  }
}
