/**
 * Eviction: a delete of a pod that its disruption budget may forbid. Mirrors kubernetes `pkg/registry/core/pod/storage/eviction.go`.
 *
 * Invariant: an allowed eviction first takes one disruption from the budget by compare-and-set, so that two evictions never share one.
 */
import type { KubeObject } from '../../machinery/api/object.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { matches, selectorOf } from '../../machinery/api/selector.ts';
import { badRequest, StatusError, tooManyRequests, unclassified } from '../../machinery/api/status.ts';
import { formatTime } from '../../machinery/api/time.ts';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import type { Eviction, PodDisruptionBudget } from '../../machinery/api/types/policy.v1.ts';
import type { RequestContext } from '../http/context.ts';
import type { DeleteOptions } from '../http/delete-options.ts';
import { writeOptions } from '../http/write-options.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import { decodeBody } from './decode.ts';
import { deleteNamed } from './delete.ts';
import { modifyStored } from './modify.ts';
import { storedVersion } from './persist.ts';
import type { ServedResource } from './served.ts';

/** More disrupted pods than this are not remembered in a budget. */
const MAX_DISRUPTED = 2000;

export async function evict(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const options = writeOptions(context, 'CreateOptions');
  const expected = {
    group: 'policy',
    version: 'v1',
    kind: 'Eviction',
    schema: typeSchema('policy.v1.Eviction'),
    formerVersions: ['policy/v1beta1'],
  };
  const eviction = (await decodeBody(context, expected, options.fieldValidation)) as Eviction;
  const { namespace, name } = context.info;
  if (eviction.metadata.name !== name) throw badRequest('name in URL does not match name in Eviction object');
  const pod = api.cache.read(storedVersion(api.store, served, namespace, name)) as unknown as Pod;
  const sent = (eviction.deleteOptions ?? {}) as Omit<DeleteOptions, 'dryRun'> & { dryRun?: readonly string[] };
  const deletion: DeleteOptions = { ...sent, dryRun: options.dryRun || (sent.dryRun?.length ?? 0) > 0 };
  if (!isFree(pod)) await askBudget(api, context, pod, deletion.dryRun);
  if (!deletion.dryRun) await markTarget(api, context, served);
  await deleteNamed(api, context, served, { namespace, name, options: deletion });
  const value = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  return { type: 'value', code: 201, schema: typeSchema('meta.v1.Status'), value: value as unknown as KubeObject };
}

/** Budgets do not protect pods that are finished, not started, or already going. */
function isFree(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending' || pod.metadata.deletionTimestamp !== undefined;
}

function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') === true;
}

async function askBudget(api: Api, context: RequestContext, pod: Pod, dryRun: boolean): Promise<void> {
  const { namespace } = context.info;
  const budgets = api.reader
    .list<PodDisruptionBudget & KubeObject>('policy', 'poddisruptionbudgets', namespace)
    .filter((budget) => budget.spec?.selector !== undefined && matches(selectorOf(budget.spec.selector), pod.metadata.labels));
  if (budgets.length > 1)
    throw unclassified('This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
  const budget = budgets[0];
  if (budget === undefined || mayGoUnhealthy(budget, pod)) return;
  const definition = api.catalog.known('policy', 'v1', 'poddisruptionbudgets')!;
  await modifyStored(api, context, definition, {
    namespace,
    name: budget.metadata.name ?? '',
    dryRun,
    modify: (object) => take(object as unknown as PodDisruptionBudget & KubeObject, pod, formatTime(api.clock.now())),
  });
}

/** A pod that is not ready costs no healthy one: by policy AlwaysAllow, or when the budget is met without it. */
function mayGoUnhealthy(budget: PodDisruptionBudget, pod: Pod): boolean {
  if (isReady(pod)) return false;
  if (budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function take(budget: PodDisruptionBudget & KubeObject, pod: Pod, now: string): void {
  const name = budget.metadata.name ?? '';
  budget.status ??= {} as NonNullable<PodDisruptionBudget['status']>;
  const { status } = budget;
  if ((status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) {
    throw refused(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  status.disruptedPods ??= {};
  const disrupted = status.disruptedPods as Record<string, string>;
  if (Object.keys(disrupted).length > MAX_DISRUPTED) {
    throw refused('DisruptedPods map too big - too many evictions not confirmed by PDB controller', 0);
  }
  const allowed = status.disruptionsAllowed ?? 0;
  if (allowed <= 0) {
    const healthy = `The disruption budget ${name} needs ${status.desiredHealthy ?? 0} healthy pods and has ${status.currentHealthy ?? 0} currently`;
    const suffix =
      (status.currentHealthy ?? 0) > (status.desiredHealthy ?? 0)
        ? `The disruption budget ${name} does not allow evicting pods currently`
        : healthy;
    throw refused(suffix, 0);
  }
  status.disruptionsAllowed = allowed - 1;
  disrupted[pod.metadata.name ?? ''] = now;
  if (allowed === 1) status.conditions = withCondition(status, now);
}

/** The last disruption is taken: the budget says so at once, before its controller looks again. */
function withCondition(status: NonNullable<PodDisruptionBudget['status']>, now: string): typeof status.conditions {
  const type = 'DisruptionAllowed';
  const before = status.conditions?.find((condition) => condition.type === type);
  const condition = {
    ...(status.observedGeneration && { observedGeneration: status.observedGeneration }),
    type,
    status: 'False',
    lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : now,
    reason: 'InsufficientPods',
    message: '',
  };
  const others = status.conditions ?? [];
  return before === undefined ? [...others, condition] : others.map((other) => (other === before ? condition : other));
}

function refused(why: string, retryAfterSeconds: number): StatusError {
  const error = tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retryAfterSeconds);
  const details = { causes: [{ reason: 'DisruptionBudget', message: why }], ...(retryAfterSeconds > 0 && { retryAfterSeconds }) };
  return new StatusError({ ...error.status, details });
}

async function markTarget(api: Api, context: RequestContext, served: ServedResource): Promise<void> {
  const { namespace, name } = context.info;
  const now = formatTime(api.clock.now());
  await modifyStored(api, context, served, {
    namespace,
    name,
    dryRun: false,
    modify: (object) => {
      const pod = object as unknown as Pod;
      pod.status ??= {};
      const others = (pod.status.conditions ?? []).filter((c) => c.type !== 'DisruptionTarget');
      const condition = {
        type: 'DisruptionTarget',
        status: 'True',
        lastTransitionTime: now,
        reason: 'EvictionByEvictionAPI',
        message: 'Eviction API: evicting',
      };
      pod.status.conditions = [...others, condition as unknown as (typeof others)[number]];
    },
  });
}
