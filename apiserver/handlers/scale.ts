/**
 * The scale subresource: an autoscaling/v1 Scale made of the object and written back into its replica count. Mirrors kubernetes
 * `pkg/registry/apps/deployment/storage` ScaleREST. The write goes through the main resource's rules.
 */

import type { FieldError } from '../../machinery/api/field-error.ts';
import { encodeObject, parseJson } from '../../machinery/api/json.ts';
import { nameIsSubdomain } from '../../machinery/api/names.ts';
import type { AnyObject, KubeObject, ObjectMeta } from '../../machinery/api/object.ts';
import type { Plain } from '../../machinery/api/plain.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { conflict, invalid } from '../../machinery/api/status.ts';
import type { Scale } from '../../machinery/api/types/autoscaling.v1.ts';
import type { ManagedFieldsEntry } from '../../machinery/api/types/meta.v1.ts';
import { readBody } from '../http/body.ts';
import type { RequestContext } from '../http/context.ts';
import { type WriteOptions, writeOptions } from '../http/write-options.ts';
import { applyConfiguration } from '../managedfields/apply.ts';
import { parentEntries, type ScaledParent, scaleEntries } from '../managedfields/scale.ts';
import { trackUpdate } from '../managedfields/track.ts';
import { ageCell } from '../registry/tables/cells.ts';
import { kubeFinalizerErrors, metadataErrors } from '../registry/validation/metadata.ts';
import { nonNegative } from '../registry/validation/numbers.ts';
import type { Answer, TableMaker } from './answer.ts';
import type { Api } from './api.ts';
import { decodeApplied, readConfiguration, tellRepeated } from './apply.ts';
import { decodeBody } from './decode.ts';
import { parseFresh } from './objects.ts';
import { APPLY_PATCH, applyPatch, decodePatched, patchType } from './patch.ts';
import { type Patch, parsePatch } from './patch-body.ts';
import { storedVersion } from './persist.ts';
import type { ServedResource } from './served.ts';
import { change, requireName, requireNamespace } from './update.ts';

const expected = () => ({ group: 'autoscaling', version: 'v1', kind: 'Scale', schema: typeSchema('autoscaling.v1.Scale') });

export async function getScale(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const { namespace, name } = context.info;
  return answerOf(served, api.cache.read(storedVersion(api.store, served, namespace, name)), 200);
}

export async function putScale(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const options = writeOptions(context, 'UpdateOptions');
  const scale = (await decodeBody(context, expected(), options.fieldValidation)) as Scale & KubeObject;
  requireNamespace(context, served, scale);
  requireName(scale, context.info.name);
  return writeScale(api, context, served, {
    options,
    next: (live) => ({ scale, entries: trackScale(api, served, live, { scale, options }) }),
  });
}

export async function patchScale(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const type = patchType(context);
  const apply = type === APPLY_PATCH;
  const options = writeOptions(context, 'PatchOptions', apply);
  const bytes = await readBody(context);
  const { schema } = expected();
  if (apply) {
    return writeScale(api, context, served, {
      options,
      next: (live) => {
        const body = readConfiguration(bytes);
        const result = appliedScale(api, served, live, { config: body.config, options });
        tellRepeated(context, body, options);
        requireNamespace(context, served, result.scale);
        requireName(result.scale, context.info.name);
        requireUid(served, result.scale, live);
        return result;
      },
    });
  }
  let patch: Patch | undefined;
  return writeScale(api, context, served, {
    options,
    next: (live) => {
      patch ??= parsePatch(type, bytes, options.fieldValidation);
      const original = parseJson(encodeObject(schema, ownedScale(served, live))).value as object;
      const result = applyPatch({ schema }, original, patch);
      const scale = decodePatched(context, expected(), { ...result, patch, options }) as Scale & KubeObject;
      requireNamespace(context, served, scale);
      requireName(scale, context.info.name);
      requireUid(served, scale, live);
      return { scale, entries: trackScale(api, served, live, { scale, options }) };
    },
  });
}

/** A patch names the subresource where a PUT names the resource. */
function requireUid(served: ServedResource, scale: Scale, live: KubeObject): void {
  const uid = scale.metadata.uid ?? '';
  if (uid === '' || uid === live.metadata.uid) return;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`;
  throw conflict({ group: served.group, resource: `${served.resource}/scale` }, live.metadata.name ?? '', why);
}

interface WrittenScale {
  readonly scale: Scale;
  /** Ownership of the Scale after the write. */
  readonly entries: ManagedFieldsEntry[] | undefined;
}

interface ScaleWrite {
  readonly options: WriteOptions;
  next(live: AnyObject): WrittenScale;
}

async function writeScale(api: Api, context: RequestContext, served: ServedResource, write: ScaleWrite): Promise<Answer> {
  const answer = await change(api, context, {
    served,
    options: write.options,
    subresource: '',
    create: false,
    put: true,
    loose: true,
    owned: true,
    next: (live, stored) => {
      const { scale, entries } = write.next(live!);
      validate(context, scale);
      const object = parseFresh(stored!.bytes);
      object.metadata.resourceVersion = scale.metadata.resourceVersion ?? '';
      if (scale.metadata.uid) object.metadata.uid = scale.metadata.uid;
      served.definition.scale!.setReplicas(object, scale.spec?.replicas ?? 0);
      const owners = parentEntries(parentOf(served, live!), entries);
      if (owners === undefined) delete object.metadata.managedFields;
      else object.metadata.managedFields = owners;
      return object;
    },
  });
  if (answer.type !== 'object') return answer;
  return answerOf(served, answer.object ?? api.cache.read(answer.stored!), answer.code);
}

const REPLICAS = ['f:spec', 'f:replicas'];

function parentOf(served: ServedResource, live: KubeObject): ScaledParent {
  return {
    entries: live.metadata.managedFields,
    apiVersion: served.apiVersion,
    replicasPath: (apiVersion) => (apiVersion === served.apiVersion ? REPLICAS : undefined),
  };
}

/** The Scale with the owners of its replicas, as patches see it. */
function ownedScale(served: ServedResource, live: KubeObject): Scale & KubeObject {
  const scale = scaleOf(served, live);
  const entries = scaleEntries(parentOf(served, live));
  if (entries !== undefined) scale.metadata.managedFields = entries;
  return scale;
}

function trackScale(
  api: Api,
  served: ServedResource,
  live: KubeObject,
  { scale, options }: { scale: Scale & KubeObject; options: WriteOptions },
): ManagedFieldsEntry[] | undefined {
  const { schema } = expected();
  return trackUpdate({
    schema,
    apiVersion: 'autoscaling/v1',
    subresource: 'scale',
    live: ownedScale(served, live),
    object: scale,
    manager: options.fieldManager,
    now: api.clock.now(),
  });
}

function appliedScale(
  api: Api,
  served: ServedResource,
  live: KubeObject,
  { config, options }: { config: Plain; options: WriteOptions },
): WrittenScale {
  const { schema } = expected();
  const { object, managedFields } = applyConfiguration({
    schema,
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    subresource: 'scale',
    live: ownedScale(served, live),
    config,
    manager: options.fieldManager,
    force: options.force,
    now: api.clock.now(),
  });
  const scale = decodeApplied({ schema, apiVersion: 'autoscaling/v1', kind: 'Scale' }, object, config);
  return { scale: scale as Scale & KubeObject, entries: managedFields };
}

/** Metadata that a Scale is sent with is checked, though only its version and uid count. */
function validate(context: RequestContext, scale: Scale): void {
  const errors: FieldError[] = [];
  const metadata = { ...scale.metadata, namespace: scale.metadata.namespace || context.info.namespace };
  metadataErrors(metadata as ObjectMeta, true, nameIsSubdomain, errors);
  kubeFinalizerErrors(metadata.finalizers, errors);
  nonNegative(scale.spec?.replicas, 'spec.replicas', errors);
  if (errors.length > 0) throw invalid({ group: 'autoscaling', kind: 'Scale' }, scale.metadata.name ?? '', errors);
}

function scaleOf(served: ServedResource, object: KubeObject): Scale & KubeObject {
  const definition = served.definition.scale!;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: definition.replicas(object) },
    status: { replicas: definition.statusReplicas(object), selector: definition.selector(object) },
  } as unknown as Scale & KubeObject;
}

const SCALE_COLUMNS = [
  { name: 'Name', type: 'string', description: 'Name of the object that is scaled' },
  { name: 'Desired', type: 'integer', description: 'Replicas that are asked for' },
  { name: 'Available', type: 'integer', description: 'Replicas that there are' },
  { name: 'Age', type: 'string', description: 'Time since the object was created' },
].map(({ name, type, description }) => ({ name, type, format: '', description, priority: 0 }));

function tableOfScale(scale: Scale & KubeObject, options: Parameters<TableMaker>[0]): Record<string, unknown> {
  const { metadata, spec, status } = scale;
  const { version, includeObject, now } = options;
  const whole = includeObject === 'Object' ? scale : { kind: 'PartialObjectMetadata', apiVersion: version, metadata };
  const cells = [metadata.name ?? '', spec?.replicas ?? 0, status?.replicas ?? 0, ageCell(metadata.creationTimestamp, now)];
  return {
    kind: 'Table',
    apiVersion: version,
    metadata: { resourceVersion: metadata.resourceVersion },
    columnDefinitions: SCALE_COLUMNS,
    rows: [{ cells, object: includeObject === 'None' ? null : whole }],
  };
}

function answerOf(served: ServedResource, object: KubeObject, code: number): Answer {
  const scale = scaleOf(served, object);
  return {
    type: 'value',
    code,
    schema: typeSchema('autoscaling.v1.Scale'),
    value: scale,
    table: (options) => tableOfScale(scale, options),
  };
}
