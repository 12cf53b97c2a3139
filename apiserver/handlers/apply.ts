/**
 * Server-side apply: the body says what its manager wants to own. Mirrors apiserver `handlers/patch.go` applyPatcher. An object that is
 * missing is created.
 */
import { DecodeError, decodeObject } from '../../machinery/api/decode.ts';
import { isJsonNumber } from '../../machinery/api/json-number.ts';
import type { AnyObject, KubeObject } from '../../machinery/api/object.ts';
import { ConversionError, fromUnstructured } from '../../machinery/api/patch/unstructured.ts';
import { isPlain, type Plain } from '../../machinery/api/plain.ts';
import type { TypeSchema } from '../../machinery/api/schema/schema.ts';
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
  let body: AppliedBody | undefined;
  return change(api, context, {
    served,
    options,
    subresource,
    create: subresource === '',
    put: false,
    owned: true,
    next: (live) => {
      body ??= readConfiguration(bytes);
      if (live === undefined) refuseUid(context, served, body.config);
      const object = appliedObject(api, context, served, { config: body.config, live, options });
      tellRepeated(context, body, options);
      return object;
    },
  });
}

export interface AppliedBody {
  readonly config: Plain;
  /** Keys that are repeated, one line each. */
  readonly problems: readonly string[];
}

/** The body as YAML or JSON. */
export function readConfiguration(bytes: Buffer): AppliedBody {
  let read: ReturnType<typeof readYaml>;
  try {
    read = readYaml(bytes.toString('utf8'));
  } catch (error) {
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${(error as Error).message}`);
  }
  const config = read.value ?? {};
  if (isPlain(config)) return { config, problems: read.problems };
  const shape = Array.isArray(config) ? 'array' : typeof config === 'boolean' ? 'bool' : isJsonNumber(config) ? 'number' : 'string';
  const where = 'Go value of type map[string]interface {}';
  throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${shape} into ${where}`);
}

/** A repeated key is told of, or refused, only once the configuration is known to apply. */
export function tellRepeated(context: RequestContext, { problems }: AppliedBody, { fieldValidation }: WriteOptions): void {
  if (problems.length === 0 || fieldValidation === 'Ignore') return;
  if (fieldValidation === 'Strict') {
    const lines = problems.map((text) => `\n  ${text}`).join('');
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:${lines}`);
  }
  for (const text of problems) warn(context, text);
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
  const object = decodeApplied(served, result.object, config);
  requireNamespace(context, served, object);
  requireName(object, context.info.name);
  if (result.managedFields === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = result.managedFields;
  const stored = toStored(served, object);
  served.definition.strategy.default?.(stored);
  return stored;
}

/** What an apply makes as an object of its kind; 500 without a reason where that cannot be. */
export function decodeApplied(
  { schema, apiVersion, kind }: { schema: TypeSchema; apiVersion: string; kind: string },
  result: KubeObject,
  config: Plain,
): KubeObject {
  try {
    const value = fromUnstructured(schema, result as unknown as Plain);
    const object = decodeObject(schema, value, { strict: false }).object as unknown as KubeObject;
    return { ...object, kind, apiVersion, metadata: object.metadata ?? {} };
  } catch (error) {
    if (error instanceof DecodeError || error instanceof ConversionError) throw undecodable({ config, apiVersion, kind }, error.message);
    throw error;
  }
}
