/**
 * From the bytes of a request to an object of the served kind: group and kind are checked, unknown and duplicate fields treated as
 * fieldValidation asks. Mirrors apiserver `handlers.CreateNamedResource` up to admission, and the codec's error texts.
 */
import { decodeObject, strictProblems } from '../../machinery/api/decode.ts';
import { formatApiVersion, type KubeObject, parseApiVersion } from '../../machinery/api/object.ts';
import { kindSchema, type TypeSchema } from '../../machinery/api/schema/schema.ts';
import { badRequest } from '../../machinery/api/status.ts';
import { BodySyntaxError, bodyType, type ParsedBody, parseBody, quoteBody, readBody } from '../http/body.ts';
import { type RequestContext, warn } from '../http/context.ts';
import type { FieldValidation } from '../http/write-options.ts';
import { isFormerKind } from './former-kinds.ts';

/** The kind a body must be of. */
export interface ExpectedKind {
  /** Former versions whose bodies are read as well. */
  readonly formerVersions?: readonly string[];
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: TypeSchema;
}

const SCHEME = 'scheme "pkg/runtime/scheme.go:111"';
export const NOT_AN_OBJECT =
  'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

export async function decodeBody(context: RequestContext, expected: ExpectedKind, fieldValidation: FieldValidation): Promise<KubeObject> {
  const type = bodyType(context);
  const bytes = await readBody(context);
  return decodeBytes(context, bytes, { type, expected, fieldValidation });
}

export interface DecodeRules {
  readonly type: string;
  readonly expected: ExpectedKind;
  readonly fieldValidation: FieldValidation;
}

export function decodeBytes(context: RequestContext, bytes: Buffer, rules: DecodeRules): KubeObject {
  const { expected } = rules;
  let body: ParsedBody;
  try {
    body = parseBody(bytes, rules.type, { apiVersion: formatApiVersion(expected), kind: expected.kind });
  } catch (error) {
    if (error instanceof BodySyntaxError) throw unrecognized(expected, syntaxText(error.message, rules.type), bytes);
    throw error;
  }
  const value = checkEnvelope(body.value, expected, bytes);
  const decoded = decodeValue(value, expected);
  const strict = [
    ...body.problems,
    ...strictProblems(decoded.unknownFields, body.duplicates, rules.type === 'application/json' ? () => bytes.toString('utf8') : undefined),
  ];
  if (strict.length > 0 && rules.fieldValidation === 'Strict') {
    const why =
      body.problems.length > 0 ? `yaml: unmarshal errors:${body.problems.map((line) => `\n  ${line}`).join('')}` : strict.join(', ');
    throw badRequest(`${cannotBeHandled(expected.kind, expected.version, expected.kind)}strict decoding error: ${why}`);
  }
  if (rules.fieldValidation === 'Warn') for (const text of strict) warn(context, text);
  return decoded.object;
}

const syntaxText = (message: string, type: string): string =>
  type !== 'application/json' ? message : `couldn't get version/kind; json parse error: ${message}`;

function unrecognized(expected: ExpectedKind, why: string, bytes: Buffer): Error {
  return badRequest(`the object provided is unrecognized (must be of type ${expected.kind}): ${why} (${quoteBody(bytes)})`);
}

const cannotBeHandled = (kind: string, version: string, as: string): string =>
  `${kind} in version "${version}" cannot be handled as a ${as}: `;

/** Shape and field checks; a wrong shape is a 400 with Go's words. */
export function decodeValue(value: Record<string, unknown>, expected: ExpectedKind): { object: KubeObject; unknownFields: string[] } {
  try {
    const { object, unknownFields } = decodeObject(expected.schema, value, { strict: true });
    const typed = object as unknown as KubeObject;
    typed.kind = expected.kind;
    typed.apiVersion = formatApiVersion(expected);
    typed.metadata ??= {};
    return { object: typed, unknownFields };
  } catch (error) {
    throw badRequest(`${cannotBeHandled(expected.kind, expected.version, expected.kind)}${(error as Error).message}`);
  }
}

/** kind and apiVersion of the body against those of the URL; either may be missing. */
function checkEnvelope(value: unknown, expected: ExpectedKind, bytes: Buffer): Record<string, unknown> {
  if (value === null || value === undefined) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    const shape = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    throw unrecognized(expected, syntaxText(`json: cannot unmarshal ${shape} into ${NOT_AN_OBJECT}`, 'application/json'), bytes);
  }
  const object = value as Record<string, unknown>;
  for (const member of ['apiVersion', 'kind']) {
    const sent = object[member];
    if (sent === undefined || sent === null || typeof sent === 'string') continue;
    const shape = Array.isArray(sent) ? 'array' : typeof sent === 'boolean' ? 'bool' : typeof sent;
    throw unrecognized(
      expected,
      syntaxText(`json: cannot unmarshal ${shape} into Go struct field .${member} of type string`, 'application/json'),
      bytes,
    );
  }
  if (object['apiVersion'] === '/') object['apiVersion'] = '';
  const apiVersion = (object['apiVersion'] as string | undefined) ?? '';
  if (apiVersion.split('/').length > 2) throw unrecognized(expected, `unexpected GroupVersion string: ${apiVersion}`, bytes);
  checkKind(expected, (object['kind'] as string) || expected.kind, (object['apiVersion'] as string) || formatApiVersion(expected));
  return object;
}

function checkKind(expected: ExpectedKind, kind: string, apiVersion: string): void {
  const served = formatApiVersion(expected);
  if (kind === expected.kind && (apiVersion === served || expected.formerVersions?.includes(apiVersion))) return;
  const { group, version } = parseApiVersion(apiVersion);
  if (kindSchema({ group, version, kind }) === undefined) {
    if (kind === expected.kind && isFormerKind(apiVersion, kind)) throw mismatch(apiVersion, served);
    throw badRequest(
      `${cannotBeHandled(kind, version, expected.kind)}no kind "${kind}" is registered for version "${apiVersion}" in ${SCHEME}`,
    );
  }
  if (kind === expected.kind && (group === expected.group || isSameKind(expected.group, group))) throw mismatch(apiVersion, served);
  throw badRequest(`${cannotBeHandled(kind, version, expected.kind)}${otherKindText({ version, kind }, expected)}`);
}

/** A body of one known kind where another is wanted. */
export const otherKindText = (sent: { version: string; kind: string }, expected: { group: string; kind: string }): string =>
  `converting (${sent.version}.${sent.kind}) to (${internalPackage(expected.group)}.${expected.kind}): unknown conversion`;

const mismatch = (sent: string, served: string): Error =>
  badRequest(`the API version in the data (${sent}) does not match the expected API version (${served})`);

/** Events are one kind that two groups serve. */
const SHARED_GROUPS = new Set(['', 'events.k8s.io']);

const isSameKind = (group: string, other: string): boolean => SHARED_GROUPS.has(group) && SHARED_GROUPS.has(other);

function internalPackage(group: string): string {
  return group === '' ? 'core' : group.split('.', 1)[0]!;
}
