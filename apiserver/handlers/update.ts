/**
 * PUT of an object or of a view of it (status, ephemeralcontainers, resize, finalize), and the read-modify-write that every update shares.
 * Mirrors apiserver `handlers/update.go`, `rest.BeforeUpdate` and `registry.Store.Update`.
 *
 * Invariant: a decision is taken on one stored version and written by compare-and-set on that version; when another write came first,
 * the whole of it is done again. An update that changes nothing writes nothing.
 */
import { deepClone } from '../../machinery/api/equality.ts';
import type { AnyObject, KubeObject } from '../../machinery/api/object.ts';
import { badRequest, notFound, unclassified } from '../../machinery/api/status.ts';
import { bodyType } from '../http/body.ts';
import type { RequestContext } from '../http/context.ts';
import { warn } from '../http/context.ts';
import { parseRevision } from '../http/list-options.ts';
import { type WriteOptions, writeOptions } from '../http/write-options.ts';
import type { StrategyContext, SubresourceStrategy } from '../registry/resource.ts';
import { missingVersion, nextGeneration, validateUpdate } from '../registry/validation/write.ts';
import type { Stored } from '../storage/interface.ts';
import type { Answer } from './answer.ts';
import { type Api, strategyContext } from './api.ts';
import { createDecoded, fillNamespace } from './create.ts';
import { decodeBody } from './decode.ts';
import { recordUpdate } from './field-ownership.ts';
import { dedupOwners } from './owners.ts';
import { changedBytes, encodeAt, groupResource, isUrgent, keyOf, modified, normalized, persistDelete, persistEncoded } from './persist.ts';
import { preconditionFailed } from './precondition.ts';
import { type ServedResource, toStored } from './served.ts';

export async function update(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  bodyType(context);
  const options = writeOptions(context, 'UpdateOptions');
  const { name, subresource } = context.info;
  const sent = await decodeBody(context, served, options.fieldValidation);
  fillNamespace(context, served, sent);
  requireName(sent, name);
  const object = toStored(served, sent);
  return change(api, context, {
    served,
    options,
    subresource,
    create: subresource === '' && served.definition.createOnUpdate,
    put: true,
    next: () => deepClone(object),
  });
}

export function requireName(object: KubeObject, name: string): void {
  const sent = object.metadata.name ?? '';
  if (sent === '') throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (sent !== name) throw badRequest(`the name of the object (${sent}) does not match the name on the URL (${name})`);
}

/** A patch may not move an object, and one of the whole cluster has no namespace whatever is sent. Told before anything about the name. */
export function requireNamespace(context: RequestContext, served: ServedResource, object: KubeObject): void {
  const sent = object.metadata.namespace ?? '';
  if (!served.namespaced) delete object.metadata.namespace;
  else if (sent !== '' && sent !== context.info.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

export interface ChangeRequest {
  readonly served: ServedResource;
  readonly options: WriteOptions;
  /** '' for the main resource. */
  readonly subresource: string;
  /** A missing object is created instead of 404. */
  readonly create: boolean;
  /** The object was sent whole: a uid in it is a precondition, a missing resourceVersion means unconditional. */
  readonly put: boolean;
  /** A missing resourceVersion is allowed whatever the kind says (scale). */
  readonly loose?: boolean;
  /** Ownership is recorded by `next` itself (server-side apply). */
  readonly owned?: boolean;
  /** The object as it should become, in the stored version: private, decoded. `live` is shared and must not be changed. */
  next(live: AnyObject | undefined, stored: Stored | undefined): KubeObject | Promise<KubeObject>;
}

/** Every update of one object, from reading the live version to the answer. */
export async function change(api: Api, context: RequestContext, request: ChangeRequest): Promise<Answer> {
  const { served } = request;
  const { namespace, name } = context.info;
  const key = keyOf(served.definition, served.namespaced ? namespace : '', name);
  for (let attempt = 0; ; attempt++) {
    if (attempt > 0) context.signal.throwIfAborted();
    const stored = api.store.get(key);
    if (stored === undefined) return createMissing(api, context, request);
    const result = await changeOnce(api, context, request, stored);
    if (result !== 'retry') return result;
  }
}

async function createMissing(api: Api, context: RequestContext, request: ChangeRequest): Promise<Answer> {
  const { served, options } = request;
  const { namespace, name } = context.info;
  if (!request.create) throw notFound(groupResource(served), name);
  const object = await request.next(undefined, undefined);
  const uid = object.metadata.uid ?? '';
  if (uid !== '' && request.put) throw uidConflict(served, context, [uid, '']);
  if (served.namespaced) object.metadata.namespace = namespace;
  const created = await createDecoded(api, context, served, { object, options, ...(request.owned && { owned: true }) });
  return { type: 'object', code: 201, served, ...created };
}

async function changeOnce(api: Api, context: RequestContext, request: ChangeRequest, stored: Stored): Promise<Answer | 'retry'> {
  const { served, options } = request;
  const { definition } = served;
  const old = api.cache.read(stored);
  const next = await request.next(old, stored);
  if (request.put) definition.strategy.default?.(next);
  const object = normalized(served, next);
  // An empty list is a word about ownership (forget it), though it would not be printed.
  if (next.metadata.managedFields !== undefined) object.metadata.managedFields = next.metadata.managedFields;
  dedupOwners(context, object, request.put ? '' : ' after mutating admission happens');
  checkPreconditions(context, request, object, old);
  const strategyFor = strategyContext(api, context, { dryRun: options.dryRun, subresource: request.subresource });
  const undo = prepare(api, request, [object, old], strategyFor);
  for (const text of definition.strategy.warnings?.(object, old) ?? []) warn(context, text);
  let kept = false;
  try {
    await definition.strategy.admitUpdate?.(object, old, strategyFor);
    if (isReleased(served, object, old)) return await removeFreed(api, request, [object, old], stored);
    const bytes = changedBytes(served, stored, object, { live: old, owned: request.owned });
    if (bytes === undefined) return { type: 'object', code: 200, served, stored };
    if (options.dryRun) return { type: 'object', code: 200, served, object: atRevision(served, object, stored.revision) };
    const written = await persistEncoded(api, stored, bytes, { fromReserve: isUrgent(served, object) });
    if (written === 'retry') return 'retry';
    kept = true;
    return { type: 'object', code: 200, served, stored: written };
  } finally {
    if (!kept) undo?.();
  }
}

function atRevision(served: ServedResource, object: KubeObject, revision: number): KubeObject {
  encodeAt(served, object, revision);
  return object;
}

function checkPreconditions(context: RequestContext, request: ChangeRequest, object: KubeObject, old: KubeObject): void {
  const { served, put } = request;
  const { name } = context.info;
  const uid = object.metadata.uid ?? '';
  if (put && uid !== '' && uid !== old.metadata.uid) throw uidConflict(served, context, [uid, old.metadata.uid ?? '']);
  const version = object.metadata.resourceVersion ?? '';
  if (version !== '' && parseRevision(version) === undefined) {
    const why = /^[0-9]+$/.test(version) ? 'value out of range' : 'invalid syntax';
    throw unclassified(`strconv.ParseUint: parsing ${JSON.stringify(version)}: ${why}`);
  }
  if (version === '' || Number(version) === 0) {
    if (put && !request.loose && !served.definition.unconditionalUpdate) throw missingVersion(served.definition, name);
    object.metadata.resourceVersion = old.metadata.resourceVersion ?? '';
  } else if (version !== old.metadata.resourceVersion) {
    throw modified(served, name);
  }
}

function uidConflict(served: ServedResource, { info }: RequestContext, [sent, live]: readonly [string, string]): Error {
  return preconditionFailed(served, info, `UID in precondition: ${sent}, UID in object meta: ${live}`);
}

/** BeforeUpdate: what the server owns stays, the kind prepares and validates. Returns how to give back what was allocated. */
function prepare(
  api: Api,
  request: ChangeRequest,
  [object, old]: readonly [KubeObject, KubeObject],
  strategyFor: StrategyContext,
): (() => void) | undefined {
  const { served, subresource } = request;
  const { definition } = served;
  const view = viewOf(served, subresource);
  keepServerFields(object, old);
  if (!request.owned) recordUpdate(api, served, { object, old, options: request.options, subresource });
  if (old.metadata.deletionTimestamp !== undefined) object.metadata.deletionTimestamp = old.metadata.deletionTimestamp;
  if (view === undefined) definition.strategy.prepareForUpdate?.(object, old, strategyFor);
  else view.prepareForUpdate(object, old, strategyFor);
  if (subresource === 'status') restoreGeneration(object, old);
  else nextGeneration(definition.generation, object, old);
  const undo = view === undefined ? definition.strategy.allocate?.(object, old, strategyFor) : undefined;
  try {
    validateUpdate(definition, [object, old], strategyFor, { namespaced: served.namespaced, ...(view && { view }) });
  } catch (error) {
    undo?.();
    throw error;
  }
  return undo;
}

export function viewOf(served: ServedResource, subresource: string): SubresourceStrategy | undefined {
  if (subresource === '') return undefined;
  return subresource === 'status' ? served.definition.status : served.definition.views?.[subresource];
}

function restoreGeneration(object: KubeObject, old: KubeObject): void {
  if (old.metadata.generation === undefined) delete object.metadata.generation;
  else object.metadata.generation = old.metadata.generation;
}

function keepServerFields(object: KubeObject, old: KubeObject): void {
  const { metadata } = object;
  const was = old.metadata;
  metadata.name = was.name ?? '';
  if (was.namespace !== undefined) metadata.namespace = was.namespace;
  if (!metadata.uid && was.uid) metadata.uid = was.uid;
  if (was.creationTimestamp) metadata.creationTimestamp = was.creationTimestamp;
  if (!metadata.deletionTimestamp && was.deletionTimestamp) metadata.deletionTimestamp = was.deletionTimestamp;
  if (metadata.deletionGracePeriodSeconds === undefined && was.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds = was.deletionGracePeriodSeconds;
  }
}

/** The update took away what held a deletion back: the object goes instead of being written. */
function isReleased(served: ServedResource, object: KubeObject, old: KubeObject): boolean {
  if (old.metadata.deletionTimestamp === undefined || (object.metadata.finalizers?.length ?? 0) > 0) return false;
  const { twoStepDelete } = served.definition;
  if (twoStepDelete !== undefined) return !twoStepDelete.held(object);
  return (old.metadata.deletionGracePeriodSeconds ?? 0) === 0;
}

/** The answer shows the object at the version it had. */
async function removeFreed(
  api: Api,
  request: ChangeRequest,
  [object, old]: readonly [KubeObject, KubeObject],
  stored: Stored,
): Promise<Answer | 'retry'> {
  const { served, options } = request;
  if (!options.dryRun) {
    // Watchers see the last state that was stored, not the update that freed it.
    const removed = await persistDelete(api, served, stored, deepClone(old));
    if (removed === 'retry') return 'retry';
  }
  return { type: 'object', code: 200, served, object: atRevision(served, object, stored.revision) };
}
