/**
 * DELETE of one object: preconditions, grace, finalizers, propagation. Mirrors apiserver `registry.Store.Delete`, `rest.BeforeDelete` and
 * `deletionFinalizersForGarbageCollection`.
 *
 * Invariant: an object with finalizers, or with a grace period to wait for, is only marked; only the last obstacle's removal deletes it.
 */
import type { AnyObject, KubeObject } from '../../machinery/api/object.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { conflict, notFound } from '../../machinery/api/status.ts';
import { formatTime } from '../../machinery/api/time.ts';
import { mutant } from '../../machinery/process/mutants.ts';
import type { RequestContext } from '../http/context.ts';
import { warn } from '../http/context.ts';
import { type DeleteOptions, deleteOptions } from '../http/delete-options.ts';
import type { Stored } from '../storage/interface.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import { requireKeyable } from './list.ts';
import { requireMortal } from './namespace-lifecycle.ts';
import { parseFresh } from './objects.ts';
import { encodeAt, groupResource, keyOf, persistDelete, persistUpdate } from './persist.ts';
import type { ServedResource } from './served.ts';

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

export async function deleteOne(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const options = await deleteOptions(context);
  const { namespace, name } = context.info;
  requireKeyable(served, namespace, name);
  requireMortal(served, name);
  return deleteNamed(api, context, served, { namespace, name, options });
}

export interface DeleteRequest {
  readonly namespace: string;
  readonly name: string;
  readonly options: DeleteOptions;
}

export async function deleteNamed(api: Api, context: RequestContext, served: ServedResource, request: DeleteRequest): Promise<Answer> {
  const { options, name } = request;
  const { definition } = served;
  if (definition.deleteWarning && options.propagationPolicy === undefined && options.orphanDependents === undefined)
    warn(context, definition.deleteWarning);
  const key = keyOf(definition, served.namespaced ? request.namespace : '', name);
  for (let attempt = 0; ; attempt++) {
    if (attempt > 0) context.signal.throwIfAborted();
    const stored = api.store.get(key);
    if (stored === undefined) throw notFound(groupResource(served), name);
    checkPreconditions(served, name, options, api.cache.read(stored));
    const result = await deleteVersion(api, served, options, stored);
    if (result !== 'retry') return result;
  }
}

/** Throws a conflict when `live` is not the object, or not the version of it, that the options name. */
export function checkPreconditions(served: ServedResource, name: string, options: DeleteOptions, live: KubeObject): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const refuse = (what: string, sent: string, record: string, how: string): Error =>
    conflict(
      { group: served.group, resource: served.kind },
      name,
      `the ${what} in the precondition (${sent}) does not match the ${what} in record (${record}). The object might have been ${how}`,
    );
  if (uid !== undefined && uid !== live.metadata.uid && !mutant('delete.precondition-ignored'))
    throw refuse('UID', uid, live.metadata.uid ?? '', 'deleted and then recreated');
  if (resourceVersion !== undefined && resourceVersion !== live.metadata.resourceVersion) {
    throw refuse('ResourceVersion', resourceVersion, live.metadata.resourceVersion ?? '', 'modified');
  }
}

/** Grace that a deletion has to wait for: `none`, a period just set, or one that already runs. */
type Grace = { readonly kind: 'none' } | { readonly kind: 'set'; readonly seconds: number } | { readonly kind: 'pending' };

async function deleteVersion(api: Api, served: ServedResource, options: DeleteOptions, stored: Stored): Promise<Answer | 'retry'> {
  const object = parseFresh(stored.bytes);
  const now = api.clock.now();
  if (served.definition.twoStepDelete !== undefined) return deleteInTwoSteps(api, served, { options, stored, object, now });
  const grace = beforeDelete(served, options, object, now);
  if (grace.kind === 'pending') return { type: 'object', code: waitingCode(options), served, stored };
  const finalizers = gcFinalizers(served, options, object);
  if (finalizers !== undefined) setFinalizers(object, finalizers);
  const held = (object.metadata.finalizers?.length ?? 0) > 0;
  let base = stored;
  if (grace.kind === 'set' || held) {
    if (grace.kind === 'none') markDeleting(object, now);
    const marked = await writeMark(api, served, { options, stored, object });
    if (marked === 'retry') return 'retry';
    if (held || (grace.kind === 'set' && grace.seconds > 0)) return { type: 'object', code: waitingCode(options), served, ...marked };
    base = marked.stored ?? stored;
  }
  return remove(api, served, { options, stored: base, object });
}

/** A deletion that has to wait is only accepted, where the client said in the old way that dependents go too. */
const waitingCode = ({ orphanDependents }: DeleteOptions): number => (orphanDependents === false ? 202 : 200);

interface Deletion {
  readonly options: DeleteOptions;
  readonly stored: Stored;
  readonly object: AnyObject;
}

async function writeMark(
  api: Api,
  served: ServedResource,
  deletion: Deletion,
): Promise<{ stored?: Stored; object?: KubeObject } | 'retry'> {
  const { options, stored, object } = deletion;
  if (encodeAt(served, object, stored.revision).equals(stored.bytes)) return { stored };
  if (options.dryRun) return { object };
  const written = await persistUpdate(api, served, stored, object);
  return written === 'retry' ? 'retry' : { stored: written };
}

async function remove(api: Api, served: ServedResource, deletion: Deletion): Promise<Answer | 'retry'> {
  const { options, stored, object } = deletion;
  let last: Stored | undefined;
  if (!options.dryRun) {
    const removed = await persistDelete(api, served, stored, object);
    if (removed === 'retry') return 'retry';
    last = removed;
  }
  if (served.definition.deleteAnswer === 'object') return { type: 'object', code: 200, served, object, ...(last && { stored: last }) };
  return success(served, object);
}

export function success(served: ServedResource, object: KubeObject): Answer {
  const { name, uid } = object.metadata;
  const details = { name, ...(served.group && { group: served.group }), kind: served.resource, uid };
  const value = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
  return { type: 'value', code: 200, schema: typeSchema('meta.v1.Status'), value: value as unknown as KubeObject };
}

/** Negative periods count as one second. */
const positive = (seconds: number): number => (seconds < 0 ? 1 : seconds);

function beforeDelete(served: ServedResource, options: DeleteOptions, object: AnyObject, now: Date): Grace {
  const { gracePeriod } = served.definition;
  if (gracePeriod === undefined) return { kind: 'none' };
  const { metadata } = object;
  const requested = options.gracePeriodSeconds === undefined ? undefined : positive(options.gracePeriodSeconds);
  if (metadata.deletionTimestamp !== undefined) return shortenGrace(metadata, requested, now);
  const seconds = gracePeriod(object, requested);
  if (seconds === undefined) return { kind: 'none' };
  metadata.deletionTimestamp = formatTime(new Date(now.getTime() + seconds * 1000));
  metadata.deletionGracePeriodSeconds = seconds;
  bumpGeneration(object);
  return { kind: 'set', seconds };
}

/** A period that runs can only be made shorter, and ends no earlier than now. */
function shortenGrace(metadata: AnyObject['metadata'], requested: number | undefined, now: Date): Grace {
  const running = positive(metadata.deletionGracePeriodSeconds ?? 0);
  if (running === 0) return { kind: 'none' };
  if (requested === undefined || requested >= running) return { kind: 'pending' };
  let end = Date.parse(metadata.deletionTimestamp!) - (running - requested) * 1000;
  let seconds = requested;
  if (end < now.getTime()) {
    end = now.getTime();
    // Whoever ends the object gracefully must still see that it is to end.
    if (seconds !== 0) seconds = 1;
  }
  metadata.deletionTimestamp = formatTime(new Date(end));
  metadata.deletionGracePeriodSeconds = seconds;
  return { kind: 'set', seconds };
}

function bumpGeneration(object: AnyObject): void {
  if ((object.metadata.generation ?? 0) > 0) object.metadata.generation = object.metadata.generation! + 1;
}

function markDeleting(object: AnyObject, now: Date): void {
  const { metadata } = object;
  if (metadata.deletionTimestamp === undefined) bumpGeneration(object);
  if (metadata.deletionTimestamp === undefined || Date.parse(metadata.deletionTimestamp) > now.getTime())
    metadata.deletionTimestamp = formatTime(now);
  metadata.deletionGracePeriodSeconds = 0;
}

function setFinalizers(object: AnyObject, finalizers: string[]): void {
  if (finalizers.length === 0) delete object.metadata.finalizers;
  else object.metadata.finalizers = finalizers;
}

/** The finalizers with those of garbage collection as the options want them, at the end; undefined when nothing changes. */
function gcFinalizers(served: ServedResource, options: DeleteOptions, object: AnyObject): string[] | undefined {
  const present = object.metadata.finalizers ?? [];
  const policy = propagation(options, served, present);
  const next = present.filter((name) => name !== ORPHAN && name !== FOREGROUND);
  if (policy === 'Orphan') next.push(ORPHAN);
  if (policy === 'Foreground') next.push(FOREGROUND);
  const before = new Set(present);
  const after = new Set(next);
  return before.size === after.size && [...after].every((name) => before.has(name)) ? undefined : next;
}

/** Options win over a finalizer that is there, which wins over the kind's default. */
function propagation(options: DeleteOptions, served: ServedResource, present: readonly string[]): string | undefined {
  if (served.definition.defaultPropagation === 'None') return undefined;
  if (options.orphanDependents !== undefined) return options.orphanDependents ? 'Orphan' : 'Background';
  if (options.propagationPolicy !== undefined) return options.propagationPolicy;
  const first = present.find((name) => name === ORPHAN || name === FOREGROUND);
  if (first !== undefined) return first === ORPHAN ? 'Orphan' : 'Foreground';
  return served.definition.defaultPropagation;
}

async function deleteInTwoSteps(api: Api, served: ServedResource, deletion: Deletion & { readonly now: Date }): Promise<Answer | 'retry'> {
  const { options, stored, object, now } = deletion;
  const { twoStepDelete } = served.definition;
  if (object.metadata.deletionTimestamp === undefined) {
    object.metadata.deletionTimestamp = formatTime(now);
    const finalizers = gcFinalizers(served, options, object);
    if (finalizers !== undefined) setFinalizers(object, finalizers);
    twoStepDelete!.begin(object);
    const marked = await writeMark(api, served, deletion);
    return marked === 'retry' ? 'retry' : { type: 'object', code: waitingCode(options), served, ...marked };
  }
  if (twoStepDelete!.held(object) || (object.metadata.finalizers?.length ?? 0) > 0)
    return { type: 'object', code: waitingCode(options), served, stored };
  const removed = await remove(api, served, deletion);
  return removed === 'retry' ? 'retry' : { type: 'object', code: 200, served, object };
}
