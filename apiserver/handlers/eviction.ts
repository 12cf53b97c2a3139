/**
 * Eviction: a delete of a pod that its disruption budget may forbid. Mirrors kubernetes `pkg/registry/core/pod/storage/eviction.go`; what a budget
 * says is in `registry/policy/disruption.ts`.
 *
 * Invariant: an allowed eviction first takes one disruption from the budget by compare-and-set, so that two evictions never share one; a pod that
 * goes because it is not healthy goes only at the version that was looked at.
 */
import { deepClone } from '../../machinery/api/equality.ts';
import { invalidValue } from '../../machinery/api/field-error.ts';
import type { KubeObject } from '../../machinery/api/object.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { matches, selectorOf } from '../../machinery/api/selector.ts';
import { badRequest, invalid, isReason, unclassified } from '../../machinery/api/status.ts';
import { formatTime } from '../../machinery/api/time.ts';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import type { Eviction, PodDisruptionBudget } from '../../machinery/api/types/policy.v1.ts';
import type { RequestContext } from '../http/context.ts';
import type { DeleteOptions } from '../http/delete-options.ts';
import { writeOptions } from '../http/write-options.ts';
import { isEnding, isUnprotected, mayGoUnhealthy, notObserved, takeDisruption } from '../registry/policy/disruption.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import { fillNamespace } from './create.ts';
import { decodeBody } from './decode.ts';
import { checkPreconditions, deleteNamed } from './delete.ts';
import { recordUpdate } from './field-ownership.ts';
import { modifyStored } from './modify.ts';
import { requireLiveNamespace } from './namespace-lifecycle.ts';
import { storedVersion } from './persist.ts';
import type { ServedResource } from './served.ts';

/** How often a pod that no budget protects is looked at again because it changed meanwhile. */
const ATTEMPTS = 20;

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
  fillNamespace(context, served, eviction as Eviction & KubeObject);
  requireLiveNamespace(api, served, context.info.namespace, context.info.name);
  if (eviction.metadata.name !== context.info.name) throw badRequest('name in URL does not match name in Eviction object');
  const sent = (eviction.deleteOptions ?? {}) as SentOptions;
  refuseUnread(sent);
  await evictAs(api, context, served, { ...sent, dryRun: options.dryRun || (sent.dryRun?.length ?? 0) > 0 });
  const value = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  return { type: 'value', code: 201, schema: typeSchema('meta.v1.Status'), value: value as unknown as KubeObject };
}

type SentOptions = Omit<DeleteOptions, 'dryRun'> & {
  readonly dryRun?: readonly string[];
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
};

/** What cannot be read cannot be asked whether it may go. */
function refuseUnread({ ignoreStoreReadErrorWithClusterBreakingPotential: ignore }: SentOptions): void {
  if (ignore !== true) return;
  const field = 'deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential';
  const error = invalidValue(field, true, 'can not be set for pod eviction, try after removing the option');
  throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [error]);
}

async function evictAs(api: Api, context: RequestContext, served: ServedResource, options: DeleteOptions): Promise<void> {
  const { namespace, name } = context.info;
  const isAtVersion = (options.preconditions?.resourceVersion ?? '') !== '';
  for (let attempt = 1; ; attempt++) {
    const pod = api.cache.read(storedVersion(api.store, served, namespace, name)) as unknown as Pod & KubeObject;
    const asSeen = isAtVersion ? options : atVersion(options, pod.metadata.resourceVersion);
    try {
      if (isUnprotected(pod)) await markAndDelete(api, context, served, isEnding(pod) ? options : asSeen);
      else await evictProtected(api, context, served, { pod, options, asSeen });
      return;
    } catch (error) {
      if (!isUnprotected(pod) || isAtVersion || attempt === ATTEMPTS || !isReason(error, 'Conflict')) throw error;
    }
  }
}

const atVersion = (options: DeleteOptions, resourceVersion: string | undefined): DeleteOptions => ({
  ...options,
  preconditions: { ...options.preconditions, ...(resourceVersion !== undefined && { resourceVersion }) },
});

interface ProtectedEviction {
  readonly pod: Pod & KubeObject;
  readonly options: DeleteOptions;
  /** The same, of the pod at the version that was looked at. */
  readonly asSeen: DeleteOptions;
}

async function evictProtected(api: Api, context: RequestContext, served: ServedResource, request: ProtectedEviction): Promise<void> {
  const { pod, options, asSeen } = request;
  const budget = budgetOf(api, context, pod);
  if (budget === undefined || !mayGoUnhealthy(budget, pod)) {
    if (budget !== undefined) await askBudget(api, context, budget, { pod: pod.metadata.name ?? '', dryRun: options.dryRun });
    return markAndDelete(api, context, served, options);
  }
  try {
    await markAndDelete(api, context, served, asSeen);
  } catch (error) {
    // it may have become healthy: to be decided anew
    if (isReason(error, 'Conflict') && asSeen !== options) throw notObserved(budget.metadata.name ?? '');
    throw error;
  }
}

function budgetOf(api: Api, context: RequestContext, pod: Pod): (PodDisruptionBudget & KubeObject) | undefined {
  const budgets = api.reader
    .list<PodDisruptionBudget & KubeObject>('policy', 'poddisruptionbudgets', context.info.namespace)
    .filter((budget) => budget.spec?.selector !== undefined && matches(selectorOf(budget.spec.selector), pod.metadata.labels));
  if (budgets.length > 1)
    throw unclassified('This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
  return budgets[0];
}

/** The budget is written as a client of the server itself would write its status. */
async function askBudget(
  api: Api,
  context: RequestContext,
  budget: KubeObject,
  { pod, dryRun }: { readonly pod: string; readonly dryRun: boolean },
): Promise<void> {
  const budgets = api.catalog.known('policy', 'v1', 'poddisruptionbudgets')!;
  await modifyStored(api, context, budgets, {
    namespace: context.info.namespace,
    name: budget.metadata.name ?? '',
    dryRun,
    modify: (object) => {
      const old = deepClone(object);
      takeDisruption(object as unknown as PodDisruptionBudget & KubeObject, pod, formatTime(api.clock.now()));
      recordUpdate(api, budgets, { object, old, options: { fieldManager: 'kube-apiserver' }, subresource: 'status' });
    },
  });
}

/** Says in the pod's status why it goes, then deletes it. */
async function markAndDelete(api: Api, context: RequestContext, served: ServedResource, options: DeleteOptions): Promise<void> {
  const { namespace, name } = context.info;
  let deletion = options;
  if (!options.dryRun) {
    const marked = await modifyStored(api, context, served, {
      namespace,
      name,
      dryRun: false,
      modify: (object) => {
        checkPreconditions(served, name, options, object);
        markTarget(object as unknown as Pod, formatTime(api.clock.now()));
      },
    });
    if (options.preconditions?.resourceVersion) deletion = atVersion(options, String(marked.revision));
  }
  await deleteNamed(api, context, served, { namespace, name, options: deletion });
}

function markTarget(pod: Pod, now: string): void {
  pod.status ??= {};
  const all = pod.status.conditions ?? [];
  const before = all.find((c) => c.type === 'DisruptionTarget');
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastTransitionTime: before?.status === 'True' ? before.lastTransitionTime : now,
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  } as unknown as (typeof all)[number];
  pod.status.conditions = before === undefined ? [...all, condition] : all.map((c) => (c === before ? condition : c));
}
