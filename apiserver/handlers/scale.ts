/**
 * The scale subresource: an autoscaling/v1 Scale made of the object and written back into its replica count. Mirrors kubernetes
 * `pkg/registry/apps/deployment/storage` ScaleREST. The write goes through the main resource's rules.
 */
import { type FieldError, invalidValue } from '../../machinery/api/field-error.ts';
import { encodeObject, parseJson } from '../../machinery/api/json.ts';
import type { AnyObject, KubeObject } from '../../machinery/api/object.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { badRequest, invalid } from '../../machinery/api/status.ts';
import type { Scale } from '../../machinery/api/types/autoscaling.v1.ts';
import { readBody } from '../http/body.ts';
import type { RequestContext } from '../http/context.ts';
import { type WriteOptions, writeOptions } from '../http/write-options.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import { decodeBody } from './decode.ts';
import { parseFresh } from './objects.ts';
import { APPLY_PATCH, applyPatch, decodePatched, type Patch, parsePatch, patchType } from './patch.ts';
import { storedVersion } from './persist.ts';
import type { ServedResource } from './served.ts';
import { change } from './update.ts';

const expected = () => ({ group: 'autoscaling', version: 'v1', kind: 'Scale', schema: typeSchema('autoscaling.v1.Scale') });

export async function getScale(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const { namespace, name } = context.info;
  return answerOf(served, api.cache.read(storedVersion(api.store, served, namespace, name)), 200);
}

export async function putScale(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const options = writeOptions(context, 'UpdateOptions');
  const scale = (await decodeBody(context, expected(), options.fieldValidation)) as Scale;
  const { name } = context.info;
  const sent = scale.metadata.name ?? '';
  if (sent === '') throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (sent !== name) throw badRequest(`the name of the object (${sent}) does not match the name on the URL (${name})`);
  return writeScale(api, context, served, { options, put: true, next: () => scale });
}

export async function patchScale(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const type = patchType(context);
  const apply = type === APPLY_PATCH;
  const options = writeOptions(context, 'PatchOptions', apply);
  const bytes = await readBody(context);
  if (apply) throw badRequest('server-side apply is not served on the scale subresource');
  let patch: Patch | undefined;
  const schema = typeSchema('autoscaling.v1.Scale');
  return writeScale(api, context, served, {
    options,
    put: false,
    next: (live) => {
      patch ??= parsePatch(type, bytes);
      const original = parseJson(encodeObject(schema, scaleOf(served, live))).value as object;
      const result = applyPatch({ schema }, original, patch);
      return decodePatched(context, expected(), { result, patch, options }) as Scale;
    },
  });
}

interface ScaleWrite {
  readonly options: WriteOptions;
  readonly put: boolean;
  next(live: AnyObject): Scale;
}

async function writeScale(api: Api, context: RequestContext, served: ServedResource, write: ScaleWrite): Promise<Answer> {
  const answer = await change(api, context, {
    served,
    options: write.options,
    subresource: '',
    ownedSubresource: 'scale',
    create: false,
    put: true,
    loose: true,
    next: (live, stored) => {
      const scale = write.next(live!);
      validate(scale);
      const object = parseFresh(stored!.bytes);
      object.metadata.resourceVersion = scale.metadata.resourceVersion ?? '';
      if (scale.metadata.uid) object.metadata.uid = scale.metadata.uid;
      served.definition.scale!.setReplicas(object, scale.spec?.replicas ?? 0);
      return object;
    },
  });
  if (answer.type !== 'object') return answer;
  return answerOf(served, answer.object ?? api.cache.read(answer.stored!), answer.code);
}

function validate(scale: Scale): void {
  const errors: FieldError[] = [];
  const replicas = scale.spec?.replicas ?? 0;
  if (replicas < 0) errors.push(invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0'));
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

function answerOf(served: ServedResource, object: KubeObject, code: number): Answer {
  return { type: 'value', code, schema: typeSchema('autoscaling.v1.Scale'), value: scaleOf(served, object) };
}
