/** How the events of one watch look: stored JSON, another served version, Table, metadata only, protobuf. */
import { encodeObject } from '../../machinery/api/json.ts';
import type { KubeObject } from '../../machinery/api/object.ts';
import { encodeProtobuf, encodeProtobufEvent } from '../../machinery/api/protobuf.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import type { RequestContext } from '../http/context.ts';
import { encodeOrdered } from '../http/encode.ts';
import type { Negotiated } from '../http/negotiate.ts';
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
    return protobuf
      ? encodeProtobufEvent(type, encodeProtobuf(schema, shown as unknown as KubeObject))
      : jsonFrame(type, encodeOrdered(shown));
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
  const table = (object: KubeObject, first: boolean, row: object): Buffer =>
    encodeOrdered({
      kind: 'Table',
      apiVersion: version,
      metadata: { resourceVersion: object.metadata.resourceVersion },
      columnDefinitions: first ? columnDefinitions(served) : null,
      rows: [row],
    });
  const rowOf = (object: KubeObject, include: string) =>
    tableRow(served, object, { version, includeObject: include, now: api.clock.now() });
  /** The row of a bookmark is made of a zero object: it has no name to show, and always its metadata. */
  const bookmarkRow = (object: KubeObject): object => {
    const { cells } = rowOf({ ...object, metadata: { ...object.metadata, name: '' } }, 'None');
    return { cells, object: includeObject === 'Object' ? object : partialMetadata(served, object, version) };
  };
  return {
    id: `table ${form.transformVersion} ${includeObject} ${served.apiVersion}`,
    firstDiffers: true,
    event: (type, { object }, first) => jsonFrame(type, table(object, first, rowOf(object, includeObject))),
    bookmark: (revision, end, first) => {
      const object = zeroObject(served, bookmarkMetadata(revision, end));
      return jsonFrame('BOOKMARK', table(object, first, bookmarkRow(object)));
    },
    error: errorFrame,
  };
}

const protobufError: WatchForm['error'] = (status) =>
  encodeProtobufEvent('ERROR', encodeProtobuf(typeSchema('meta.v1.Status'), status as unknown as KubeObject));

function protobufForm(served: ServedResource): WatchForm {
  return {
    id: `protobuf ${served.apiVersion}`,
    event: (type, object) => encodeProtobufEvent(type, encodeProtobuf(served.schema, toServed(served, object.object))),
    bookmark: (revision, end) =>
      encodeProtobufEvent('BOOKMARK', encodeProtobuf(served.schema, zeroObject(served, bookmarkMetadata(revision, end)))),
    error: protobufError,
  };
}
