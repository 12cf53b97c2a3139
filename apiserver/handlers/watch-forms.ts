/** How the events of one watch look: stored JSON, another served version, Table, metadata only, protobuf. */
import { encodeObject } from '../../machinery/api/json.ts';
import type { KubeObject } from '../../machinery/api/object.ts';
import { encodeProtobuf } from '../../machinery/api/protobuf.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import type { RequestContext } from '../http/context.ts';
import type { Negotiated } from '../http/negotiate.ts';
import { encodeOrdered } from '../http/respond.ts';
import { columnDefinitions, partialMetadata, tableRow } from '../http/tables.ts';
import { bookmarkMetadata, type EventType, jsonFrame, storedJsonForm, type WatchForm } from '../watch/form.ts';
import type { Api } from './api.ts';
import { type ServedResource, toServed } from './served.ts';

export function watchForm(api: Api, context: RequestContext, served: ServedResource, form: Negotiated): WatchForm {
  const protobuf = form.mediaType === 'application/vnd.kubernetes.protobuf';
  if (form.transform === 'Table') return tableForm(api, context, served, form);
  if (form.transform !== undefined)
    return form.transform === 'PartialObjectMetadataList' ? silentForm(served) : metadataForm(served, form.transformVersion, protobuf);
  if (protobuf) return protobufForm(served);
  const zero = (metadata: Record<string, unknown>): Buffer => encodeObject(served.schema, zeroObject(served, metadata));
  const plain = storedJsonForm(`json ${served.apiVersion}`, zero);
  if (served.conversion === undefined) return plain;
  return {
    ...plain,
    event: (type, object) => jsonFrame(type, encodeObject(served.schema, toServed(served, object.object))),
  };
}

/** What a bookmark is about: an object of the kind with nothing in it but where the stream is. */
const zeroObject = (served: ServedResource, metadata: Record<string, unknown>): KubeObject =>
  ({ kind: served.kind, apiVersion: served.apiVersion, metadata, ...served.definition.zero }) as unknown as KubeObject;

const errorFrame: WatchForm['error'] = (status) => jsonFrame('ERROR', Buffer.from(JSON.stringify(status)));

/** In JSON or protobuf: clients that only follow metadata ask for the latter. */
function metadataForm(served: ServedResource, version: string, protobuf: boolean): WatchForm {
  const apiVersion = `meta.k8s.io/${version}`;
  const schema = typeSchema('meta.v1.PartialObjectMetadata');
  const frame = (type: EventType | 'BOOKMARK', object: KubeObject): Buffer => {
    const shown = partialMetadata(served, object, apiVersion);
    return protobuf ? protobufFrame(type, encodeProtobuf(schema, shown as unknown as KubeObject)) : jsonFrame(type, encodeOrdered(shown));
  };
  return {
    id: `metadata ${version} ${served.apiVersion}${protobuf ? ' protobuf' : ''}`,
    event: (type, object) => frame(type, object.object),
    bookmark: (revision, end) => frame('BOOKMARK', { metadata: { ...bookmarkMetadata(revision, end) } } as unknown as KubeObject),
    error: protobuf ? protobufError : errorFrame,
  };
}

/** The List form on a watch is accepted and shows nothing. */
function silentForm(served: ServedResource): WatchForm {
  const nothing = Buffer.alloc(0);
  return { id: `silent ${served.apiVersion}`, event: () => nothing, bookmark: () => nothing, error: errorFrame };
}

/** Only the first event carries the columns. */
function tableForm(api: Api, context: RequestContext, served: ServedResource, form: Negotiated): WatchForm {
  const version = `meta.k8s.io/${form.transformVersion}`;
  const includeObject = context.info.query.get('includeObject') ?? '';
  const table = (object: KubeObject, first: boolean): Buffer =>
    encodeOrdered({
      kind: 'Table',
      apiVersion: version,
      metadata: { resourceVersion: object.metadata.resourceVersion },
      columnDefinitions: first ? columnDefinitions(served) : null,
      rows: [tableRow(served, object, { version, includeObject, now: api.clock.now() })],
    });
  /** The row of a bookmark is made of a zero object: it has no name to show, and always its metadata. */
  const bookmarkTable = (object: KubeObject, first: boolean): Buffer => {
    const { cells } = tableRow(
      served,
      { ...object, metadata: { ...object.metadata, name: '' } },
      { version, includeObject: 'None', now: api.clock.now() },
    );
    return encodeOrdered({
      kind: 'Table',
      apiVersion: version,
      metadata: { resourceVersion: object.metadata.resourceVersion },
      columnDefinitions: first ? columnDefinitions(served) : null,
      rows: [{ cells, object: includeObject === 'Object' ? object : partialMetadata(served, object, version) }],
    });
  };
  return {
    id: `table ${form.transformVersion} ${includeObject} ${served.apiVersion}`,
    firstDiffers: true,
    event: (type, object, first) => jsonFrame(type, table(object.object, first)),
    bookmark: (revision, end, first) => {
      return jsonFrame('BOOKMARK', bookmarkTable(zeroObject(served, bookmarkMetadata(revision, end)), first));
    },
    error: errorFrame,
  };
}

/** A frame is a big-endian length and a bare WatchEvent whose object is a whole envelope. */
function protobufFrame(type: string, object: Buffer): Buffer {
  const name = Buffer.from(type);
  const raw = Buffer.concat([Buffer.from([0x0a]), varint(object.length), object]);
  const event = Buffer.concat([Buffer.from([0x0a]), varint(name.length), name, Buffer.from([0x12]), varint(raw.length), raw]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

const protobufError: WatchForm['error'] = (status) =>
  protobufFrame('ERROR', encodeProtobuf(typeSchema('meta.v1.Status'), status as unknown as KubeObject));

function protobufForm(served: ServedResource): WatchForm {
  return {
    id: `protobuf ${served.apiVersion}`,
    event: (type, object) => protobufFrame(type, encodeProtobuf(served.schema, toServed(served, object.object))),
    bookmark: (revision, end) =>
      protobufFrame('BOOKMARK', encodeProtobuf(served.schema, zeroObject(served, bookmarkMetadata(revision, end)))),
    error: protobufError,
  };
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}
