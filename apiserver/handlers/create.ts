/**
 * POST to a collection. Mirrors apiserver `handlers/create.go` and `rest.BeforeCreate`:
 * decode → default → namespace → mutating admission → prepare → validate → store.
 */
import { formatGroupResource, type KubeObject } from '../../machinery/api/object.ts';
import { badRequest, internalError, isReason, StatusError, unclassified } from '../../machinery/api/status.ts';
import { formatTime } from '../../machinery/api/time.ts';
import { mutant } from '../../machinery/process/mutants.ts';
import { bodyType } from '../http/body.ts';
import type { RequestContext } from '../http/context.ts';
import { warn } from '../http/context.ts';
import { type WriteOptions, writeOptions } from '../http/write-options.ts';
import { initialGeneration, validateCreate } from '../registry/validation/write.ts';
import type { Answer } from './answer.ts';
import { type Api, strategyContext } from './api.ts';
import { decodeBody } from './decode.ts';
import { recordCreate } from './field-ownership.ts';
import { requireLiveNamespace } from './namespace-lifecycle.ts';
import { dedupOwners } from './owners.ts';
import { encodeAt, groupResource, persistCreate } from './persist.ts';
import { type ServedResource, toStored } from './served.ts';

const GENERATED_SUFFIX = 5;
const MAX_GENERATED_NAME = 63;
/** How often a taken generated name is drawn anew. */
const NAME_ATTEMPTS = 8;

export async function create(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  bodyType(context);
  const options = writeOptions(context, 'CreateOptions');
  const sent = await decodeBody(context, served, options.fieldValidation);
  fillNamespace(context, served, sent);
  if (isRevisionSet(sent.metadata.resourceVersion) && !options.dryRun)
    throw unclassified('resourceVersion should not be set on objects to be created');
  delete sent.metadata.deletionTimestamp;
  delete sent.metadata.deletionGracePeriodSeconds;
  const object = toStored(served, sent);
  const stored = await createDecoded(api, context, served, { object, options });
  return { type: 'object', code: 201, served, ...stored };
}

/** `0`, empty and what is no number count as not set. */
const isRevisionSet = (version: string | undefined): boolean => /^[0-9]*[1-9][0-9]*$/.test(version ?? '');

/** The URL decides the namespace; the body may only repeat it. */
export function fillNamespace(context: RequestContext, served: ServedResource, object: KubeObject): void {
  const { namespace } = context.info;
  if (!served.namespaced) {
    delete object.metadata.namespace;
    return;
  }
  const sent = object.metadata.namespace ?? '';
  if (sent !== '' && sent !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  if (namespace === '.' || namespace === '..') throw internalError(`invalid resource name "${namespace}": [may not be '${namespace}']`);
  object.metadata.namespace = namespace;
}

export interface CreateInput {
  /** Decoded, in the stored version, private. */
  readonly object: KubeObject;
  readonly options: WriteOptions;
  /** Ownership is already recorded (server-side apply). */
  readonly owned?: boolean;
}

/** Everything after decoding; also for what PUT and apply create. */
export async function createDecoded(api: Api, context: RequestContext, served: ServedResource, input: CreateInput) {
  const { object, options } = input;
  const { definition } = served;
  const { strategy } = definition;
  const strategyFor = strategyContext(api, context, { dryRun: options.dryRun });
  strategy.default?.(object);
  const namespace = object.metadata.namespace ?? '';
  dedupOwners(context, object, '');
  if (!input.owned) recordCreate(api, served, object, options);
  requireLiveNamespace(api, served, namespace, object.metadata.name ?? '');
  await strategy.admit?.(object, strategyFor);
  const asked = object.metadata.name ?? '';
  const base = object.metadata.generateName ?? '';
  for (let attempt = 1; ; attempt++) {
    if (asked === '' && base !== '') object.metadata.name = generatedName(api, base);
    try {
      if (attempt === 1) beforeCreate(api, served, object, strategyFor.now);
      const undo = await finishCreate(served, object, strategyFor);
      return await writeNew(api, context, served, { object, options, undo, owned: input.owned === true });
    } catch (error) {
      if (!isReason(error, 'AlreadyExists') || base === '') throw error;
      if (asked !== '' || attempt >= NAME_ATTEMPTS || mutant('create.name-drawn-once')) throw nameTaken(served, object.metadata.name ?? '');
    }
  }
}

/** What the server owns of a new object's metadata. */
function beforeCreate(api: Api, served: ServedResource, object: KubeObject, now: Date): void {
  const { metadata } = object;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  metadata.creationTimestamp = formatTime(now);
  metadata.uid = api.random.uuid();
  initialGeneration(served.definition.generation, object);
}

async function finishCreate(
  served: ServedResource,
  object: KubeObject,
  strategyFor: ReturnType<typeof strategyContext>,
): Promise<(() => void) | undefined> {
  const { definition } = served;
  const { strategy } = definition;
  strategy.prepareForCreate?.(object, strategyFor);
  const undo = strategy.allocate?.(object, undefined, strategyFor);
  try {
    validateCreate(definition, object, strategyFor, served.namespaced);
    await strategy.admitValidated?.(object, strategyFor);
  } catch (error) {
    undo?.();
    throw error;
  }
  return undo;
}

async function writeNew(
  api: Api,
  context: RequestContext,
  served: ServedResource,
  write: { object: KubeObject; options: WriteOptions; undo: (() => void) | undefined; owned: boolean },
) {
  const { object, options, undo } = write;
  try {
    for (const text of served.definition.strategy.warnings?.(object, undefined) ?? []) warn(context, text);
    if (options.dryRun && !mutant('create.trial-stored')) return { object: dryRunCreate(api, served, object) };
    const stored = await persistCreate(api, served, object, write.owned);
    return { stored };
  } catch (error) {
    undo?.();
    throw error;
  } finally {
    if (options.dryRun) undo?.();
  }
}

/** As the object would be answered; nothing is stored, so it has no resourceVersion. */
function dryRunCreate(api: Api, served: ServedResource, object: KubeObject): KubeObject {
  const { namespace = '', name = '' } = object.metadata;
  if (api.reader.get(served.definition.group, served.definition.resource, namespace, name) !== undefined) {
    const message = `${formatGroupResource(groupResource(served))} "${name}" already exists`;
    throw new StatusError({ status: 'Failure', message, reason: 'AlreadyExists', details: detailsOf(served, name), code: 409 });
  }
  encodeAt(served, object, 0);
  delete object.metadata.resourceVersion;
  return object;
}

const detailsOf = (served: ServedResource, name: string) => ({ name, ...(served.group && { group: served.group }), kind: served.resource });

function generatedName(api: Api, base: string): string {
  return base.slice(0, MAX_GENERATED_NAME - GENERATED_SUFFIX) + api.random.suffix(GENERATED_SUFFIX);
}

function nameTaken(served: ServedResource, name: string): StatusError {
  const message = `${formatGroupResource(groupResource(served))} "${name}" already exists, the server was not able to generate a unique name for the object`;
  return new StatusError({
    status: 'Failure',
    message,
    reason: 'AlreadyExists',
    details: { ...detailsOf(served, name), retryAfterSeconds: 1 },
    code: 409,
  });
}
