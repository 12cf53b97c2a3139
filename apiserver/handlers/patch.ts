/**
 * PATCH: JSON patch, merge patch, strategic merge patch; apply has a file of its own. Mirrors apiserver `handlers/patch.go`.
 * The patch is applied to the live object's JSON form in the served version, decoded like a body, then written like an update.
 */
import { decodeObject } from '../../machinery/api/decode.ts';
import { invalidValue } from '../../machinery/api/field-error.ts';
import { encodeAny, encodeObject, parseJson } from '../../machinery/api/json.ts';
import type { AnyObject, KubeObject } from '../../machinery/api/object.ts';
import { jsonPatch } from '../../machinery/api/patch/json.ts';
import { mergePatch } from '../../machinery/api/patch/merge.ts';
import { strategicMerge } from '../../machinery/api/patch/strategic.ts';
import { badRequest, invalid, requestEntityTooLarge, StatusError, unsupportedMediaType } from '../../machinery/api/status.ts';
import { readBody } from '../http/body.ts';
import { header, type RequestContext, warn } from '../http/context.ts';
import { type WriteOptions, writeOptions } from '../http/write-options.ts';
import type { Stored } from '../storage/interface.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import { apply } from './apply.ts';
import { parseFresh } from './objects.ts';
import { type ServedResource, toServed, toStored } from './served.ts';
import { change } from './update.ts';

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';
const PATCH_TYPES = [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH];
const MAX_OPERATIONS = 10_000;

/** A patch body, read once and applied as often as the write is retried. */
export interface Patch {
  readonly type: string;
  readonly body: unknown;
  readonly duplicates: readonly string[];
}

export async function patch(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const type = patchType(context);
  if (type === APPLY_PATCH) return apply(api, context, served);
  const options = writeOptions(context, 'PatchOptions');
  const bytes = await readBody(context);
  const parsed: { patch?: Patch } = {};
  return change(api, context, {
    served,
    options,
    subresource: context.info.subresource,
    create: false,
    put: false,
    next: (_live, stored) => {
      parsed.patch ??= parsePatch(type, bytes);
      return patched(context, served, { stored: stored!, patch: parsed.patch, options });
    },
  });
}

export function patchType(context: RequestContext): string {
  const type = (header(context, 'content-type') ?? '').split(';', 1)[0]!.trim();
  if (PATCH_TYPES.includes(type)) return type;
  const error = unsupportedMediaType('415: Unsupported Media Type');
  throw new StatusError({ ...error.status, details: {} });
}

/** Throws 400 with Go's words for a body that is no patch. */
export function parsePatch(type: string, bytes: Buffer): Patch {
  if (type === JSON_PATCH) {
    let value: unknown;
    try {
      value = parseJson(bytes).value;
    } catch (error) {
      throw badRequest(`error decoding patch: ${(error as Error).message}`);
    }
    const operations = value === null ? [] : value;
    if (!Array.isArray(operations)) {
      throw badRequest(`error decoding patch: json: cannot unmarshal ${shapeOf(value)} into Go value of type []handlers.jsonPatchOp`);
    }
    if (operations.length > MAX_OPERATIONS) {
      throw requestEntityTooLarge(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`);
    }
    return { type, body: operations, duplicates: [] };
  }
  try {
    const { value, duplicates } = parseJson(bytes);
    if (value === null) return { type, body: {}, duplicates };
    if (typeof value !== 'object' || Array.isArray(value)) {
      throw badRequest(`error decoding patch: json: cannot unmarshal ${shapeOf(value)} into Go value of type map[string]interface {}`);
    }
    return { type, body: value, duplicates };
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw badRequest(`error decoding patch: ${(error as Error).message}`);
  }
}

function shapeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
}

export interface PatchInput {
  readonly stored: Stored;
  readonly patch: Patch;
  readonly options: WriteOptions;
}

function patched(context: RequestContext, served: ServedResource, input: PatchInput): KubeObject {
  const live = toServed(served, parseFresh(input.stored.bytes)) as AnyObject;
  const original = served.conversion === undefined ? live : (parseJson(encodeObject(served.schema, live)).value as AnyObject);
  const result = applyPatch(served, original, input.patch);
  const object = decodePatched(context, served, { result, patch: input.patch, options: input.options });
  const stored = toStored(served, object);
  served.definition.strategy.default?.(stored);
  return stored;
}

/** Throws what the patch functions say, in upstream's words. */
export function applyPatch(served: { schema: ServedResource['schema'] }, original: object, patchBody: Patch): unknown {
  if (patchBody.type === JSON_PATCH) return jsonPatch(original, patchBody.body as never);
  if (patchBody.type === MERGE_PATCH) return mergePatch(original, patchBody.body);
  return strategicMerge(served.schema, original as never, patchBody.body as never);
}

export interface PatchedInput {
  readonly result: unknown;
  readonly patch: Patch;
  readonly options: WriteOptions;
}

/** A result that does not decode is a 422 about nothing in particular, with the whole object quoted. */
export function decodePatched(
  context: RequestContext,
  served: { schema: ServedResource['schema']; kind: string; apiVersion: string },
  input: PatchedInput,
): KubeObject {
  const { result, patch: patchBody, options } = input;
  let decoded: { object: unknown; unknownFields: string[] };
  const shown = patchBody.type === STRATEGIC_PATCH ? result : undefined;
  try {
    decoded = decodeObject(served.schema, result as never, { strict: true });
  } catch (error) {
    throw patchInvalid(result, (error as Error).message);
  }
  const strict = [
    ...decoded.unknownFields.map((field) => `unknown field "${field}"`),
    ...patchBody.duplicates.map((field) => `duplicate field "${field}"`),
  ];
  if (strict.length > 0 && options.fieldValidation === 'Strict') throw patchInvalid(result, `strict decoding error: ${strict.join(', ')}`);
  if (options.fieldValidation === 'Warn') for (const text of strict) warn(context, text);
  const object = decoded.object as KubeObject;
  object.kind = served.kind;
  object.apiVersion = served.apiVersion;
  object.metadata ??= {};
  void shown;
  return object;
}

function patchInvalid(result: unknown, why: string): StatusError {
  return invalid({ group: '', kind: '' }, '', [invalidValue('patch', encodeAny(result).toString('utf8'), why)]);
}
