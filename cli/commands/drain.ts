/** `drain`: cordons nodes and evicts their pods, respecting disruption budgets. Mirrors kubectl `cmd/drain` and `pkg/drain`. */

import { isReason } from '../../machinery/api/status.ts';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import type { Resource } from '../discovery/mapper.ts';
import { CliError, Quiet } from '../errors.ts';
import { CORDON_FLAGS, fetchNodes, setSchedulable } from '../nodes/cordon.ts';
import { planDrain } from '../nodes/drain-plan.ts';
import { untilGone } from '../resources/deletion.ts';
import { type Found, listAll } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { dryRunOf } from '../verb-flags.ts';

/** Between two tries to evict a pod that its budget protects, as upstream. */
const EVICTION_RETRY_MS = 5000;

export const verb: Verb = {
  usage: 'NODE',
  flags: {
    ...CORDON_FLAGS,
    'chunk-size': { type: 'integer', default: 500, help: 'Return large lists in chunks rather than all at once' },
    'delete-emptydir-data': {
      type: 'boolean',
      help: 'Continue even if there are pods using emptyDir (local data that will be deleted when the node is drained)',
    },
    'disable-eviction': { type: 'boolean', help: 'Force drain to use delete, even if eviction is supported' },
    force: { type: 'boolean', help: 'Continue even if there are pods that do not declare a controller' },
    'grace-period': { type: 'integer', default: -1, help: 'Period of time in seconds given to each pod to terminate gracefully' },
    'ignore-daemonsets': { type: 'boolean', help: 'Ignore DaemonSet-managed pods' },
    'pod-selector': { type: 'string', help: 'Label selector to filter pods on the node' },
    'skip-wait-for-delete-timeout': {
      type: 'integer',
      default: 0,
      help: 'If pod DeletionTimestamp older than N seconds, skip waiting for the pod',
    },
    timeout: { type: 'duration', default: '0s', help: 'The length of time to wait before giving up, zero means infinite' },
  },
  run: drain,
};

async function drain(session: Session, args: readonly string[]): Promise<void> {
  const { found, errors } = await fetchNodes(session, args);
  if (errors.length > 0) throw errors[0];
  for (const node of found) await setSchedulable(session, node, true);
  const failed: string[] = [];
  for (const node of found) {
    try {
      await drainNode(session, node);
      session.line(`node/${node.name} drained${{ none: '', client: ' (dry run)', server: ' (server dry run)' }[dryRunOf(session.flags)]}`);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      failed.push(node.name);
      session.err(`error: unable to drain node "${node.name}" due to error: ${error.message}, continuing command...`);
      session.err(`There are pending nodes to be drained:\n ${node.name}\n${error.message}`);
    }
  }
  if (failed.length > 0) throw new Quiet(1);
}

async function drainNode(session: Session, { name }: Found): Promise<void> {
  const { flags } = session;
  const pods = (await session.mapper()).resource('pods');
  const query = { fieldSelector: `spec.nodeName=${name}`, labelSelector: flags.string('pod-selector') };
  const onNode = (await listAll(session, pods, { query })) as unknown as Pod[];
  const rules = {
    force: flags.bool('force'),
    ignoreDaemonSets: flags.bool('ignore-daemonsets'),
    deleteEmptyDirData: flags.bool('delete-emptydir-data'),
    skipDeletedSeconds: flags.integer('skip-wait-for-delete-timeout'),
  };
  const plan = planDrain(onNode, rules, session.now());
  if (plan.refusals.length > 0) throw new CliError(plan.refusals.length === 1 ? plan.refusals[0] : `[${plan.refusals.join(', ')}]`);
  if (plan.warnings.length > 0) session.err(`Warning: ${plan.warnings.join('; ')}`);
  const timeoutMs = flags.durationMs('timeout');
  const deadline = timeoutMs > 0 ? session.clock.monotonicMs() + timeoutMs : Number.POSITIVE_INFINITY;
  await Promise.all(plan.remove.map((pod) => removePod(session, pod, { pods, deadline })));
}

async function removePod(session: Session, pod: Pod, how: { pods: Resource; deadline: number }): Promise<void> {
  const { flags } = session;
  const { name = '', namespace = '', uid } = pod.metadata ?? {};
  const dryRun = dryRunOf(flags);
  const evict = !flags.bool('disable-eviction');
  session.line(
    `${evict ? 'evicting' : 'deleting'} pod ${namespace}/${name}${{ none: '', client: ' (dry run)', server: ' (server dry run)' }[dryRun]}`,
  );
  if (dryRun === 'client') return;
  const grace = flags.integer('grace-period');
  const deleteOptions = { ...(grace >= 0 && { gracePeriodSeconds: grace }), ...(dryRun === 'server' && { dryRun: ['All'] }) };
  while (!(await tryRemove(session, { name, namespace, pods: how.pods, deleteOptions, evict }))) {
    if (session.clock.monotonicMs() > how.deadline)
      throw new CliError(`error when evicting pods/"${name}" -n "${namespace}": global timeout reached: ${flags.string('timeout')}`);
    await session.clock.sleep(EVICTION_RETRY_MS, session.signal);
  }
  if (dryRun !== 'none') return;
  const left = how.deadline - session.clock.monotonicMs();
  await untilGone(
    session,
    { resource: how.pods, namespace, name },
    { uid, timeoutMs: Number.isFinite(left) ? Math.max(left, 1) : 0 },
  ).catch((error) => {
    if (error instanceof CliError)
      throw new CliError(
        `error when waiting for pod "${name}" in namespace "${namespace}" to terminate: global timeout reached: ${flags.string('timeout')}`,
      );
    throw error;
  });
  session.line(`pod/${name} ${evict ? 'evicted' : 'deleted'}`);
}

interface Removal {
  readonly name: string;
  readonly namespace: string;
  readonly pods: Resource;
  readonly deleteOptions: Record<string, unknown>;
  readonly evict: boolean;
}

/** False when a budget says no for now. */
async function tryRemove(session: Session, { name, namespace, pods, deleteOptions, evict }: Removal): Promise<boolean> {
  try {
    if (!evict) await session.api.delete(pods, { namespace, name }, deleteOptions);
    else {
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions };
      await session.api.create(pods, { namespace, name, subresource: 'eviction' }, body);
    }
    return true;
  } catch (error) {
    if (isReason(error, 'NotFound')) return true;
    if (!isReason(error, 'TooManyRequests'))
      throw new CliError(`error when evicting pods/"${name}" -n "${namespace}": ${(error as Error).message}`);
    session.err(`error when evicting pods/"${name}" -n "${namespace}" (will retry after 5s): ${error.message}`);
    return false;
  }
}
