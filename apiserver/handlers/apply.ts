/**
 * Server-side apply: the body says what its manager wants to own. Mirrors apiserver `handlers/patch.go` applyPatcher. An object that is
 * missing is created.
 */
import { DecodeError, decodeObject } from '../../machinery/api/decode.ts';
import type { AnyObject, KubeObject } from '../../machinery/api/object.ts';
import { ConversionError, fromUnstructured } from '../../machinery/api/patch/unstructured.ts';
import { isPlain, type Plain } from '../../machinery/api/plain.ts';
import { badRequest, conflict } from '../../machinery/api/status.ts';
import { readYaml } from '../../machinery/api/yaml.ts';
import { readBody } from '../http/body.ts';
import { type RequestContext, warn } from '../http/context.ts';
import { type WriteOptions, writeOptions } from '../http/write-options.ts';
import { undecodable } from '../managedfields/apply.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import { applied } from './field-ownership.ts';
import { groupResource } from './persist.ts';
import { type ServedResource, toServed, toStored } from './served.ts';
import { change, requireName, requireNamespace } from './update.ts';

export async function apply(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const options = writeOptions(context, 'PatchOptions', true);
  const bytes = await readBody(context);
  const { subresource } = context.info;
  let config: Plain | undefined;
  return change(api, context, {
    served,
    options,
    subresource,
    create: subresource === '',
    put: false,
    owned: true,
    next: (live) => {
      config ??= readConfiguration(context, bytes, options);
      if (live === undefined) refuseUid(context, served, config);
      return appliedObject(api, context, served, { config, live, options });
    },
  });
}

/** The body as YAML or JSON. A repeated key is refused only when asked to be strict. */
export function readConfiguration(context: RequestContext, bytes: Buffer, options: WriteOptions): Plain {
  let read: ReturnType<typeof readYaml>;
  try {
    read = readYaml(bytes.toString('utf8'));
  } catch (error) {
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${(error as Error).message}`);
  }
  if (read.problems.length > 0 && options.fieldValidation === 'Strict') {
    const lines = read.problems.map((text) => `\n  ${text}`).join('');
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:${lines}`);
  }
  if (options.fieldValidation === 'Warn') for (const text of read.problems) warn(context, text);
  const value = read.value ?? {};
  if (!isPlain(value))
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into Go value of type map[string]interface {}`,
    );
  return value;
}

function refuseUid(context: RequestContext, served: ServedResource, config: Plain): void {
  const uid = isPlain(config['metadata']) ? config['metadata']['uid'] : undefined;
  if (typeof uid !== 'string' || uid === '') return;
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  throw conflict(groupResource(served), context.info.name, why);
}

interface ApplyInput {
  readonly config: Plain;
  /** In the stored version. */
  readonly live: AnyObject | undefined;
  readonly options: WriteOptions;
}

/** The live object with what the configuration says, in the stored version. */
export function appliedObject(api: Api, context: RequestContext, served: ServedResource, input: ApplyInput): KubeObject {
  const { config, options } = input;
  const live = input.live === undefined ? undefined : toServed(served, input.live);
  const result = applied(api, served, { config, live, options, subresource: context.info.subresource });
  let object: KubeObject;
  try {
    const value = fromUnstructured(served.schema, result.object as unknown as Plain);
    object = decodeObject(served.schema, value, { strict: false }).object as unknown as KubeObject;
  } catch (error) {
    if (error instanceof DecodeError || error instanceof ConversionError)
      throw undecodable({ config, apiVersion: served.apiVersion, kind: served.kind }, error.message);
    throw error;
  }
  object.kind = served.kind;
  object.apiVersion = served.apiVersion;
  object.metadata ??= {};
  if (live !== undefined || object.metadata.name) requireName(object, context.info.name);
  requireNamespace(context, served, object);
  if (live === undefined) requireName(object, context.info.name);
  if (result.managedFields === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = result.managedFields;
  const stored = toStored(served, object);
  served.definition.strategy.default?.(stored);
  return stored;
}
