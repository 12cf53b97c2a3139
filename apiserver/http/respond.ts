/**
 * The one place that writes answers and errors: what a handler returned, in the form the client negotiated. Mirrors apiserver
 * `handlers/responsewriters`.
 *
 * Invariant: everything thrown becomes a Status; only what is no API error (a bug) is logged and answered 500.
 */
import { encodeObject } from '../../machinery/api/json.ts';
import type { AnyObject, KubeObject } from '../../machinery/api/object.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { internalError, notAcceptable, StatusError, unclassified } from '../../machinery/api/status.ts';
import type { Answer } from '../handlers/answer.ts';
import type { Api } from '../handlers/api.ts';
import { parseFresh } from '../handlers/objects.ts';
import { toServed } from '../handlers/served.ts';
import { StoreFull } from '../storage/interface.ts';
import { takesGzip } from './compress.ts';
import type { RequestContext } from './context.ts';
import { encodeMeta, encodeValue, finishJson, goPackage } from './encode.ts';
import { encodeList, encodeTransformedList, listHead } from './encode-list.ts';
import { listLength, sendList } from './list-body.ts';
import { errorMediaType, type Negotiated, wantsPretty } from './negotiate.ts';
import { partialMetadata, tableOf } from './tables.ts';

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
  const encoded = encodeAnswer(api, context, answer, form);
  const body = encoded instanceof Promise ? await encoded : encoded;
  // Large answers take their time: it may have run out, or the client has gone.
  if (context.reply.sent || context.answering || context.signal.aborted) return;
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
  context.memory?.answer(context, bytes?.length ?? 0);
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

function encodeAnswer(
  api: Api,
  context: RequestContext,
  answer: Exclude<Answer, { type: 'raw' | 'sent' }>,
  form: Negotiated,
): Buffer | Promise<Buffer> {
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
  if (answer.type === 'list')
    return form.transform === undefined ? encodeList(api, answer, form) : encodeTransformedList(api, context, answer, form);
  if (form.transform !== undefined && answer.type === 'object') return encodeTransformed(api, context, answer, form);
  if (answer.type === 'value') return encodeValue(answer.schema, answer.value, form);
  const { served } = answer;
  if (form.mediaType === 'application/json' && served.conversion === undefined) {
    const bytes = answer.stored?.bytes ?? encodeObject(served.schema, answer.object!);
    return finishJson(bytes, form.pretty);
  }
  return encodeValue(served.schema, toServed(served, answer.object ?? parseFresh(answer.stored!.bytes)), form);
}

function encodeTransformed(api: Api, context: RequestContext, answer: Extract<Answer, { type: 'object' }>, form: Negotiated): Buffer {
  const { served } = answer;
  const version = `meta.k8s.io/${form.transformVersion}`;
  const object = (answer.object ?? api.cache.read(answer.stored!)) as AnyObject;
  if (form.transform === 'Table') {
    const metadata = { resourceVersion: object.metadata.resourceVersion };
    const includeObject = context.info.query.get('includeObject') ?? '';
    return encodeMeta(tableOf(served, [object], { version, metadata, includeObject, now: api.clock.now(), list: false }), form);
  }
  if (form.transform === 'PartialObjectMetadataList')
    throw notAcceptable(
      `you requested PartialObjectMetadataList, but the requested object is not a list (*${goPackage(served)}.${served.kind})`,
    );
  return encodeMeta(partialMetadata(served, object, version), form);
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
