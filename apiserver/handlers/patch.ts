/**
 * PATCH: JSON patch, merge patch, strategic merge patch; apply has a file of its own. Mirrors apiserver `handlers/patch.go`.
 * The patch is applied to the live object's JSON form in the served version, decoded like a body, then written like an update.
 */
import { type Decoded, decodeObject, strictProblems } from '../../machinery/api/decode.ts';
import { invalidValue } from '../../machinery/api/field-error.ts';
import { encodeObject, parseJson } from '../../machinery/api/json.ts';
import { type AnyObject, formatApiVersion, type KubeObject, parseApiVersion } from '../../machinery/api/object.ts';
import { jsonPatch } from '../../machinery/api/patch/json.ts';
import { mergePatch } from '../../machinery/api/patch/merge.ts';
import { mergeStrategically, strategicPatchInvalid } from '../../machinery/api/patch/strategic.ts';
import { fromUnstructured } from '../../machinery/api/patch/unstructured.ts';
import type { Plain } from '../../machinery/api/plain.ts';
import { readPlainly } from '../../machinery/api/reader.ts';
import { kindSchema } from '../../machinery/api/schema/schema.ts';
import { invalid, StatusError, unsupportedMediaType } from '../../machinery/api/status.ts';
import { mutant } from '../../machinery/process/mutants.ts';
import { readBody } from '../http/body.ts';
import { header, type RequestContext, warn } from '../http/context.ts';
import { encodeOrdered } from '../http/encode.ts';
import { type WriteOptions, writeOptions } from '../http/write-options.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import { apply } from './apply.ts';
import { NOT_AN_OBJECT, otherKindText } from './decode.ts';
import { JSON_PATCH, MERGE_PATCH, type Patch, parsePatch, STRATEGIC_PATCH } from './patch-body.ts';
import { type ServedResource, toServed, toStored } from './served.ts';
import { change, requireName, requireNamespace } from './update.ts';

export const APPLY_PATCH = 'application/apply-patch+yaml';
const PATCH_TYPES = [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH];

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
    next: (live) => {
      parsed.patch ??= parsePatch(type, bytes, options.fieldValidation);
      return patched(context, served, { live: live!, patch: parsed.patch, options });
    },
  });
}

export function patchType(context: RequestContext): string {
  const type = (header(context, 'content-type') ?? '').split(';', 1)[0]!.trim();
  if (PATCH_TYPES.includes(type)) return type;
  const error = unsupportedMediaType('415: Unsupported Media Type');
  throw new StatusError({ ...error.status, details: {} });
}

export interface PatchInput {
  /** In the stored version; shared: patches make copies. */
  readonly live: AnyObject;
  readonly patch: Patch;
  readonly options: WriteOptions;
}

function patched(context: RequestContext, served: ServedResource, input: PatchInput): KubeObject {
  const live = toServed(served, input.live) as AnyObject;
  const original = served.conversion === undefined ? live : (parseJson(encodeObject(served.schema, live)).value as AnyObject);
  const object = decodePatched(context, served, {
    ...applyPatch(served, original, input.patch),
    patch: input.patch,
    options: input.options,
  });
  requireNamespace(context, served, object);
  requireName(object, context.info.name);
  const stored = toStored(served, object);
  served.definition.strategy.default?.(stored);
  return stored;
}

export interface PatchResult {
  readonly result: unknown;
  /** The result as an object of its schema, where that is known already. */
  readonly object?: Plain | undefined;
}

/** Throws what the patch functions say, in upstream's words. */
export function applyPatch({ schema }: { schema: ServedResource['schema'] }, original: object, { type, body }: Patch): PatchResult {
  if (type === JSON_PATCH) return { result: jsonPatch(original, body as readonly unknown[]) };
  if (type === MERGE_PATCH && mutant('merge-patch.shallow')) return { result: Object.assign({}, original, body) };
  if (type === MERGE_PATCH) return { result: mergePatch(original, body) };
  const merged = mergeStrategically(schema, original, body as object);
  const object = readPlainly(schema, merged.object, true);
  return { result: object ?? merged.converted(), object };
}

export interface PatchedInput extends PatchResult {
  readonly patch: Patch;
  readonly options: WriteOptions;
}

/** The kind the result of a patch must decode as. */
export interface PatchedKind {
  readonly schema: ServedResource['schema'];
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A result that does not decode is a 422 about nothing in particular, with the whole object (or a strategic patch) quoted. */
export function decodePatched(context: RequestContext, expected: PatchedKind, input: PatchedInput): KubeObject {
  const { patch: body, options } = input;
  const refuse = (why: string): StatusError =>
    body.type === STRATEGIC_PATCH ? strategicPatchInvalid(body.body, why) : patchInvalid(input.result, why);
  const problems: string[] = [];
  let object: KubeObject;
  try {
    const decoded = decodeResult(expected, input);
    object = decoded.object as unknown as KubeObject;
    problems.push(...body.problems, ...strictProblems(decoded.unknownFields, []));
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw refuse((error as Error).message);
  }
  if (problems.length > 0 && options.fieldValidation === 'Strict') throw refuse(`strict decoding error: ${problems.join(', ')}`);
  if (options.fieldValidation === 'Warn') for (const text of problems) warn(context, text);
  object.kind = expected.kind;
  object.apiVersion = formatApiVersion(expected);
  object.metadata ??= {};
  return object;
}

/** Throws with the reason when the result is no object of the kind. */
function decodeResult(expected: PatchedKind, { result, object, patch: body }: PatchedInput): Decoded {
  if (object !== undefined) return { object, unknownFields: [] };
  if (body.type === STRATEGIC_PATCH)
    return decodeObject(expected.schema, fromUnstructured(expected.schema, result as Plain), { strict: true });
  if (Array.isArray(result))
    throw new Error(`couldn't get version/kind; json parse error: json: cannot unmarshal array into ${NOT_AN_OBJECT}`);
  const value = result as Plain;
  checkKind(expected, value);
  return isUnversioned(value) ? unversioned(value) : decodeObject(expected.schema, value, { strict: true });
}

/** A result without apiVersion is read as upstream's internal type, whose members have other names: nothing of it is known, the name least of all. */
const isUnversioned = (value: Plain): boolean => !value['apiVersion'];

const unversioned = (value: Plain): Decoded => ({
  object: {},
  unknownFields: Object.keys(value)
    .filter((key) => key !== 'kind' && key !== 'apiVersion')
    .sort(),
});

function checkKind(expected: PatchedKind, value: Record<string, unknown>): void {
  const apiVersion = formatApiVersion(expected);
  const kind = value['kind'] ?? expected.kind;
  const version = value['apiVersion'] ?? apiVersion;
  if (kind === expected.kind && version === apiVersion) return;
  const other = kindSchema({ ...parseApiVersion(String(version)), kind: String(kind) });
  if (other !== undefined) {
    decodeObject(other, value, { strict: false });
    throw new Error(otherKindText({ ...parseApiVersion(String(version)), kind: String(kind) }, expected));
  }
  throw new Error(`no kind "${kind}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`);
}

function patchInvalid(result: unknown, why: string): StatusError {
  return invalid({ group: '', kind: '' }, '', [invalidValue('patch', encodeOrdered(sortedTop(result)).toString('utf8'), why)]);
}

/** The patch libraries keep the top level as a sorted map and what lies below as it was. */
function sortedTop(result: unknown): unknown {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return result;
  return Object.fromEntries(Object.entries(result).sort(([a], [b]) => (a < b ? -1 : 1)));
}
