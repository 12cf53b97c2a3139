/**
 * The one place that writes answers and errors: what a handler returned, in the form the client negotiated. Mirrors apiserver
 * `handlers/responsewriters`.
 *
 * Invariant: everything thrown becomes a Status; only what is no API error (a bug) is logged and answered 500.
 */
import { encodeObject, parseJson, prettyJson } from '../../machinery/api/json.ts';
import type { AnyObject, KubeObject } from '../../machinery/api/object.ts';
import { encodeProtobuf } from '../../machinery/api/protobuf.ts';
import { type TypeSchema, typeSchema } from '../../machinery/api/schema/schema.ts';
import { internalError, notAcceptable, StatusError, unclassified } from '../../machinery/api/status.ts';
import { formatYaml } from '../../machinery/api/yaml.ts';
import type { Answer } from '../handlers/answer.ts';
import type { Api } from '../handlers/api.ts';
import { parseFresh } from '../handlers/objects.ts';
import { type ServedResource, toServed } from '../handlers/served.ts';
import { type Stored, StoreFull } from '../storage/interface.ts';
import { takesGzip } from './compress.ts';
import type { RequestContext } from './context.ts';
import { listLength, sendList } from './list-body.ts';
import { errorMediaType, type MediaType, type Negotiated, wantsPretty } from './negotiate.ts';
import { partialMetadata, tableOf } from './tables.ts';

const NEWLINE = Buffer.from('\n');
const COMMA = Buffer.from(',');
const BRACE = Buffer.from('{');
/** Lists from this size on are sent in chunks. */
const STREAMED_BYTES = 64 * 1024;

export async function sendAnswer(api: Api, context: RequestContext, answer: Answer, form: Negotiated): Promise<void> {
  if (answer.type === 'sent') return;
  if (answer.type === 'raw') {
    for (const [name, value] of Object.entries(answer.headers ?? {})) context.reply.header(name, value);
    send(context, answer.code, answer.contentType, answer.body);
    return;
  }
  if (answer.type === 'list' && streams(context, answer, form)) return;
  const code = answer.type === 'list' ? 200 : answer.code;
  const body = encodeAnswer(api, context, answer, form);
  send(context, code, form.mediaType, body);
}

/** Sends a list that is large and is answered as it is stored; false for others. */
function streams(context: RequestContext, answer: Extract<Answer, { type: 'list' }>, form: Negotiated): boolean {
  const { served } = answer;
  const asStored = form.mediaType === 'application/json' && form.transform === undefined && !form.pretty && served.conversion === undefined;
  if (!asStored || context.audit !== undefined || takesGzip(context)) return false;
  const pieces = { head: listHead(answer), items: answer.items.map((stored) => stored.bytes), skip: served.storedHead.length };
  const length = listLength(pieces);
  if (length < STREAMED_BYTES) return false;
  setWarnings(context);
  context.reply.header('content-type', form.mediaType).header('cache-control', 'no-cache, private');
  sendList(context, pieces, length);
  return true;
}

function send(context: RequestContext, code: number, contentType: string, body: Buffer | string): void {
  const { reply } = context;
  setWarnings(context);
  if (contentType !== '') reply.header('content-type', contentType);
  // An empty buffer would be sent as application/octet-stream; on a 304 clients put that into their cached answer and can no longer read it.
  const bytes = body.length === 0 && contentType === '' ? undefined : typeof body === 'string' ? Buffer.from(body) : body;
  reply.code(code).header('cache-control', 'no-cache, private').send(bytes);
}

export function setWarnings(context: RequestContext): void {
  if (context.warnings.length === 0) return;
  context.reply.header(
    'warning',
    context.warnings.map((text) =>
      Buffer.from(`299 - "${text.replace(/[\\"]/g, '\\$&').replace(/[\u0000-\u001f\u007f]/g, '')}"`).toString('latin1'),
    ),
  );
}

function encodeAnswer(api: Api, context: RequestContext, answer: Exclude<Answer, { type: 'raw' | 'sent' }>, form: Negotiated): Buffer {
  if (
    answer.type === 'value' &&
    answer.table !== undefined &&
    form.transform !== undefined &&
    form.transform !== 'PartialObjectMetadataList'
  ) {
    const version = `meta.k8s.io/${form.transformVersion}`;
    if (form.transform === 'PartialObjectMetadata')
      return encodeMeta({ kind: 'PartialObjectMetadata', apiVersion: version, metadata: answer.value.metadata }, form);
    const includeObject = context.info.query.get('includeObject') ?? '';
    return encodeMeta(answer.table({ version, includeObject, now: api.clock.now() }), form);
  }
  if (form.transform !== undefined && answer.type !== 'value') return encodeTransformed(api, context, answer, form);
  if (answer.type === 'list') return encodeList(answer, form);
  if (answer.type === 'value') return encodeValue(answer.schema, answer.value, form);
  const { served } = answer;
  if (form.mediaType === 'application/json' && served.conversion === undefined) {
    const bytes = answer.stored?.bytes ?? encodeObject(served.schema, answer.object!);
    return finishJson(bytes, form.pretty);
  }
  return encodeValue(served.schema, toServed(served, answer.object ?? parseFresh(answer.stored!.bytes)), form);
}

export function encodeValue(schema: TypeSchema, value: KubeObject, form: { mediaType: MediaType; pretty: boolean }): Buffer {
  if (form.mediaType === 'application/vnd.kubernetes.protobuf') return encodeProtobuf(schema, value);
  const json = encodeObject(schema, value);
  return form.mediaType === 'application/yaml' ? yamlOf(json) : finishJson(json, form.pretty);
}

/** Go's encoder ends compact JSON with a newline and indented JSON without one. */
export function finishJson(json: Buffer, pretty: boolean): Buffer {
  return pretty ? prettyJson(json) : Buffer.concat([json, NEWLINE]);
}

const yamlOf = (json: Buffer): Buffer => Buffer.from(formatYaml(parseJson(json).value));

/** A list is put together from stored bytes: each item is its bytes without kind and apiVersion. */
function encodeList(answer: Extract<Answer, { type: 'list' }>, form: Negotiated): Buffer {
  const { served } = answer;
  if (form.mediaType === 'application/vnd.kubernetes.protobuf') {
    const items = answer.items.map((stored) => toServed(served, parseFresh(stored.bytes)));
    const value = { kind: listKind(served), apiVersion: served.apiVersion, metadata: answer.metadata, items };
    return encodeProtobuf(typeSchema(served.info.listType!), value as unknown as KubeObject);
  }
  const pieces: Buffer[] = [listHead(answer)];
  answer.items.forEach((stored, i) => {
    if (i > 0) pieces.push(COMMA);
    pieces.push(BRACE, listItem(served, stored));
  });
  pieces.push(Buffer.from(']}'));
  const json = Buffer.concat(pieces);
  return form.mediaType === 'application/yaml' ? yamlOf(json) : finishJson(json, form.pretty);
}

/** Up to the first item. */
const listHead = ({ served, metadata }: Extract<Answer, { type: 'list' }>): Buffer =>
  Buffer.from(
    `{"kind":${JSON.stringify(listKind(served))},"apiVersion":${JSON.stringify(served.apiVersion)},"metadata":${JSON.stringify(metadata)},"items":[`,
  );

const listKind = (served: ServedResource): string => served.info.listKind ?? `${served.kind}List`;

/** What follows `{"kind":…,"apiVersion":…,` in the object's bytes. */
function listItem(served: ServedResource, stored: Stored): Buffer {
  if (served.conversion === undefined) return stored.bytes.subarray(served.storedHead.length);
  const object = toServed(served, parseFresh(stored.bytes));
  const json = encodeObject(served.schema, object);
  return json.subarray(`{"kind":"${served.kind}","apiVersion":"${served.apiVersion}",`.length);
}

function encodeTransformed(
  api: Api,
  context: RequestContext,
  answer: Extract<Answer, { type: 'list' | 'object' }>,
  form: Negotiated,
): Buffer {
  const { served } = answer;
  const version = `meta.k8s.io/${form.transformVersion}`;
  const objects: AnyObject[] =
    answer.type === 'list' ? answer.items.map((s) => api.cache.read(s)) : [(answer.object ?? api.cache.read(answer.stored!)) as AnyObject];
  const isList = answer.type === 'list';
  let value: Record<string, unknown>;
  if (form.transform === 'Table') {
    const listMeta = isList ? answer.metadata : { resourceVersion: objects[0]!.metadata.resourceVersion };
    const includeObject = context.info.query.get('includeObject') ?? '';
    value = tableOf(served, objects, { version, metadata: listMeta, includeObject, now: api.clock.now(), list: isList });
  } else if (isList) {
    if (form.transform === 'PartialObjectMetadata')
      throw notAcceptable(
        `you requested PartialObjectMetadata, but the requested object is a list (*${goPackage(served)}.${listKind(served)})`,
      );
    const items = objects.map((object) => partialMetadata(served, object, version));
    value = { kind: 'PartialObjectMetadataList', apiVersion: version, metadata: answer.metadata, items: items.length === 0 ? null : items };
  } else {
    if (form.transform === 'PartialObjectMetadataList')
      throw notAcceptable(
        `you requested PartialObjectMetadataList, but the requested object is not a list (*${goPackage(served)}.${served.kind})`,
      );
    value = partialMetadata(served, objects[0]!, version);
  }
  return encodeMeta(value, form);
}

const goPackage = (served: ServedResource): string => (served.group === '' ? 'core' : served.group.split('.', 1)[0]!);

/** Tables and metadata-only answers: their member order is Go's by construction. */
export function encodeMeta(value: Record<string, unknown>, form: { mediaType: MediaType; pretty: boolean }): Buffer {
  if (form.mediaType === 'application/vnd.kubernetes.protobuf')
    return encodeProtobuf(typeSchema(`meta.v1.${String(value['kind'])}`), value as unknown as KubeObject);
  const json = encodeOrdered(value);
  return form.mediaType === 'application/yaml' ? yamlOf(json) : finishJson(json, form.pretty);
}

/** JSON in the members' own order with Go's escapes. */
export function encodeOrdered(value: unknown): Buffer {
  let big = false;
  const text = JSON.stringify(value, (_key, member) => {
    if (typeof member !== 'bigint') return member;
    big = true;
    return `\u0000${member}`;
  });
  const numbers = big ? text.replace(/"\\u0000(-?\d+)"/g, '$1') : text;
  return Buffer.from(numbers.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`));
}

/** Writes whatever was thrown. */
export function sendError(api: { logger: Api['logger'] }, context: RequestContext, error: unknown): void {
  const status = toStatusError(api, context, error);
  const media = errorMediaType(context.headers.accept);
  const pretty = wantsPretty(context) || status.code === 406;
  const retryAfter = status.status.details?.retryAfterSeconds;
  if (retryAfter !== undefined && retryAfter > 0) context.reply.header('retry-after', String(retryAfter));
  const body = encodeValue(typeSchema('meta.v1.Status'), status.status as unknown as KubeObject, { mediaType: media, pretty });
  send(context, status.code, media, body);
}

function toStatusError(api: { logger: Api['logger'] }, context: RequestContext, error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  if (error instanceof StoreFull) return unclassified('etcdserver: mvcc: database space exceeded');
  api.logger.error({ err: error, method: context.method, path: context.info.path }, 'request failed');
  return internalError(error instanceof Error ? error.message : String(error), { cause: error });
}
