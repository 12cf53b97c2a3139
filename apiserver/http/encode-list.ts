/**
 * Lists as bodies, in whatever form was negotiated: put together from stored bytes where they are answered as stored, else item by item, in slices,
 * so that a list of ten thousand objects as a Table holds up nobody else.
 */
import { encodeObject } from '../../machinery/api/json.ts';
import type { AnyObject, KubeObject } from '../../machinery/api/object.ts';
import { encodeProtobufList, encodeProtobufMessage } from '../../machinery/api/protobuf.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { notAcceptable } from '../../machinery/api/status.ts';
import { Gate } from '../../machinery/process/gate.ts';
import { inSlices } from '../../machinery/process/slices.ts';
import type { Answer } from '../handlers/answer.ts';
import type { Api } from '../handlers/api.ts';
import { parseFresh } from '../handlers/objects.ts';
import { type ServedResource, toServed } from '../handlers/served.ts';
import type { Stored } from '../storage/interface.ts';
import type { RequestContext } from './context.ts';
import { encodeMeta, encodeOrdered, finishJson, goPackage, yamlOf } from './encode.ts';
import type { Negotiated } from './negotiate.ts';
import { partialMetadata, tableOf, tableOrder, tableRow } from './tables.ts';

/** Lists of more objects than this are made few at a time: what they are made of takes some times as much memory as they do. */
const LARGE_LIST = 1000;
const LARGE_AT_ONCE = 2;
const large = new Gate(LARGE_AT_ONCE);

type ListAnswer = Extract<Answer, { type: 'list' }>;

const COMMA = Buffer.from(',');
const BRACE = Buffer.from('{');
const END = Buffer.from(']}');

/** Each item is its bytes without kind and apiVersion. */
export async function encodeList(api: Api, answer: ListAnswer, form: Negotiated): Promise<Buffer> {
  const { served } = answer;
  if (form.mediaType === 'application/vnd.kubernetes.protobuf') {
    const items = await inSlices(api.clock, answer.items, (stored) =>
      encodeProtobufMessage(served.schema, toServed(served, parseFresh(stored.bytes))),
    );
    const head = { kind: listKind(served), apiVersion: served.apiVersion, metadata: answer.metadata };
    return encodeProtobufList(typeSchema(served.info.listType!), head, items);
  }
  const items = await inSlices(api.clock, answer.items, (stored) => listItem(served, stored));
  const pieces: Buffer[] = [listHead(answer)];
  items.forEach((item, i) => {
    if (i > 0) pieces.push(COMMA);
    pieces.push(BRACE, item);
  });
  pieces.push(END);
  const json = Buffer.concat(pieces);
  return form.mediaType === 'application/yaml' ? yamlOf(json) : finishJson(json, form.pretty);
}

/** Up to the first item. */
export const listHead = ({ served, metadata }: ListAnswer): Buffer =>
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

/** As a Table or as metadata only. */
export async function encodeTransformedList(api: Api, context: RequestContext, answer: ListAnswer, form: Negotiated): Promise<Buffer> {
  if (answer.items.length <= LARGE_LIST) return encodeTransformedNow(api, context, answer, form);
  return large.run(async () => {
    context.signal.throwIfAborted();
    return encodeTransformedNow(api, context, answer, form);
  });
}

async function encodeTransformedNow(api: Api, context: RequestContext, answer: ListAnswer, form: Negotiated): Promise<Buffer> {
  const { served, metadata } = answer;
  const version = `meta.k8s.io/${form.transformVersion}`;
  if (form.transform === 'PartialObjectMetadata')
    throw notAcceptable(
      `you requested PartialObjectMetadata, but the requested object is a list (*${goPackage(served)}.${listKind(served)})`,
    );
  const objects: AnyObject[] = await inSlices(api.clock, answer.items, (stored) => api.cache.read(stored));
  if (form.transform === 'Table') {
    const options = { version, metadata, includeObject: context.info.query.get('includeObject') ?? '', now: api.clock.now(), list: true };
    if (objects.length === 0) return encodeMeta(tableOf(served, objects, options), form);
    const head = { ...tableOf(served, [], options), rows: [] };
    return withItems(api, { head, items: tableOrder(served, objects), make: (object) => tableRow(served, object, options) }, form);
  }
  const head = { kind: 'PartialObjectMetadataList', apiVersion: version, metadata };
  if (objects.length === 0) return encodeMeta({ ...head, items: null }, form);
  return withItems(api, { head: { ...head, items: [] }, items: objects, make: (object) => partialMetadata(served, object, version) }, form);
}

interface Items {
  /** Its last member is the empty list of what `make` makes of the items. */
  readonly head: Record<string, unknown>;
  readonly items: readonly AnyObject[];
  make(object: KubeObject): unknown;
}

async function withItems(api: Api, { head, items, make }: Items, form: Negotiated): Promise<Buffer> {
  if (form.mediaType !== 'application/json') {
    const member = Object.keys(head).at(-1)!;
    return encodeMeta({ ...head, [member]: await inSlices(api.clock, items, make) }, form);
  }
  const made = await inSlices(api.clock, items, (object) => encodeOrdered(make(object)));
  const opening = encodeOrdered(head);
  const pieces: Buffer[] = [opening.subarray(0, opening.length - END.length)];
  made.forEach((item, i) => {
    if (i > 0) pieces.push(COMMA);
    pieces.push(item);
  });
  pieces.push(END);
  return finishJson(Buffer.concat(pieces), form.pretty);
}
