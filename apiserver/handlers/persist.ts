/**
 * The last step of every write: encode once with the revision the write gets, hand over to the store, map its refusals to Status errors.
 */
import { encodeObject } from '../../machinery/api/json.ts';
import { formatGroupResource, type KubeObject } from '../../machinery/api/object.ts';
import type { Plain } from '../../machinery/api/plain.ts';
import { printedForm } from '../../machinery/api/printed-form.ts';
import { encodeProtobuf } from '../../machinery/api/protobuf.ts';
import { alreadyExists, conflict, notFound, OBJECT_MODIFIED, StatusError, unclassified } from '../../machinery/api/status.ts';
import { mutant } from '../../machinery/process/mutants.ts';
import { sameButTimes } from '../managedfields/managers.ts';
import { keepSentEmpties } from '../managedfields/sent-empties.ts';
import { type ResourceDefinition, storageKey } from '../registry/resource.ts';
import { KeyExists, KeyMissing, RevisionConflict, type Store, type Stored, type WriteOptions } from '../storage/interface.ts';
import { withRevision } from '../watch/with-revision.ts';
import type { Api } from './api.ts';
import type { ServedResource } from './served.ts';

/** etcd's default request limit, which upstream's stores have. */
const MAX_STORED_BYTES = 1.5 * 1024 * 1024;
const TOO_LARGE = 'etcdserver: request is too large';

export const groupResource = (served: ServedResource): { group: string; resource: string } => ({
  group: served.group,
  resource: served.resource,
});

export function keyOf(definition: ResourceDefinition, namespace: string, name: string): string {
  return storageKey(definition.group, definition.resource, namespace, name);
}

/** The bytes of an object as they are stored at `revision`. Changes the object's resourceVersion. */
export function encodeAt(served: ServedResource, object: KubeObject, revision: number): Buffer {
  object.kind = served.definition.kind;
  object.apiVersion = served.storedApiVersion;
  object.metadata.resourceVersion = String(revision);
  delete object.metadata.selfLink;
  const bytes = encodeObject(served.storedSchema, object);
  if (bytes.length > MAX_STORED_BYTES) requireSmall(served, object);
  return bytes;
}

/** Upstream stores protobuf, which is smaller than JSON: what is near the limit is measured as upstream would. */
function requireSmall(served: ServedResource, object: KubeObject): void {
  if (encodeProtobuf(served.storedSchema, object).length > MAX_STORED_BYTES) throw unclassified(TOO_LARGE);
}

/** As encodeAt. Where it is ownership that makes the object too large, it goes; `owned` says that ownership is what was asked for (apply). */
function encodeFitting(served: ServedResource, object: KubeObject, revision: number, owned: boolean): Buffer {
  try {
    return encodeAt(served, object, revision);
  } catch (error) {
    const mayGo = !owned && object.metadata.managedFields !== undefined && error instanceof StatusError && error.message === TOO_LARGE;
    if (!mayGo) throw error;
    delete object.metadata.managedFields;
    return encodeAt(served, object, revision);
  }
}

/** The object as it would be read back: members that Go prints though nobody set them are there, empty ones are not. */
export function normalized(served: ServedResource, object: KubeObject): KubeObject {
  object.kind = served.definition.kind;
  object.apiVersion = served.storedApiVersion;
  const printed = printedForm(served.storedSchema, object);
  keepSentEmpties(served.storedSchema, object as unknown as Plain, printed as Plain);
  return printed as KubeObject;
}

export async function persistCreate(api: Api, served: ServedResource, object: KubeObject, owned = false): Promise<Stored> {
  const { namespace = '', name = '' } = object.metadata;
  const key = keyOf(served.definition, namespace, name);
  try {
    return await api.store.create(key, (revision) => encodeFitting(served, object, revision, owned));
  } catch (error) {
    if (!(error instanceof KeyExists)) throw error;
    throw existing(api, served, namespace, name);
  }
}

function existing(api: Api, served: ServedResource, namespace: string, name: string): StatusError {
  const error = alreadyExists(groupResource(served), name);
  const live = api.reader.get(served.definition.group, served.definition.resource, namespace, name);
  if (live?.metadata.deletionTimestamp === undefined) return error;
  const message = `object is being deleted: ${formatGroupResource(groupResource(served))} "${name}" already exists`;
  return new StatusError({ ...error.status, message });
}

/** What became of a compare-and-set: the new version, or `retry` when another write came first. */
export type CasResult = Stored | 'retry';

export async function persistUpdate(api: Api, served: ServedResource, expected: Stored, object: KubeObject): Promise<CasResult> {
  const options = { fromReserve: isUrgent(served, object) };
  return cas(() => api.store.update(expected.key, expected.revision, (revision) => encodeAt(served, object, revision), options));
}

/** What goes on when the store is full: the steps of a deletion, and heartbeats, without which nodes and leaders would be taken for dead. */
export function isUrgent(served: ServedResource, object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined || served.definition.isHeartbeat === true;
}

/** As persistUpdate, of what is encoded already, at whatever revision. */
export async function persistEncoded(api: Api, expected: Stored, bytes: Buffer, options: WriteOptions): Promise<CasResult> {
  const result = await cas(() => api.store.update(expected.key, expected.revision, (revision) => withRevision(bytes, revision), options));
  const newest = mutant('patch.retry-overwrites') ? api.store.get(expected.key) : undefined;
  return result === 'retry' && newest ? persistEncoded(api, newest, bytes, options) : result;
}

export async function persistDelete(api: Api, served: ServedResource, expected: Stored, object: KubeObject): Promise<CasResult> {
  const result = await cas(() => api.store.delete(expected.key, expected.revision, (revision) => encodeAt(served, object, revision)));
  if (result !== 'retry') served.definition.strategy.release?.(object);
  return result;
}

async function cas(write: () => Promise<Stored>): Promise<CasResult> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof RevisionConflict || error instanceof KeyMissing) return 'retry';
    throw error;
  }
}

/** `"time":"2026-01-01T00:00:00Z",`: by how much a dated entry is longer than one without a time. */
const TIME_LENGTH = 30;

/**
 * The object's bytes at the revision of `old`; undefined when writing them would change nothing but times in managedFields. Ownership that is
 * only dated anew is dated back. `live` is `old` as an object; `owned` as for encodeFitting.
 */
export function changedBytes(
  served: ServedResource,
  old: Stored,
  object: KubeObject,
  { live, owned = false }: { readonly live: KubeObject; readonly owned?: boolean | undefined },
): Buffer | undefined {
  // A link is not stored, but what brings one is a change: its times count.
  const isLinked = (object.metadata.selfLink ?? '') !== '';
  const bytes = encodeFitting(served, object, old.revision, owned);
  if (bytes.equals(old.bytes)) return undefined;
  if (isLinked) return bytes;
  const { managedFields } = object.metadata;
  const stored = live.metadata.managedFields;
  if (managedFields === undefined || stored === undefined || (bytes.length - old.bytes.length) % TIME_LENGTH !== 0) return bytes;
  if (!sameTail(bytes, old.bytes)) return bytes;
  const isDatedAnew = managedFields.some(({ time }, i) => time !== stored[i]?.time);
  if (!isDatedAnew || !sameButTimes(managedFields, stored)) return bytes;
  object.metadata.managedFields = stored;
  if (encodeAt(served, object, old.revision).equals(old.bytes)) return undefined;
  object.metadata.managedFields = managedFields;
  return bytes;
}

const FIELDS_TYPE = Buffer.from('"fieldsType":"FieldsV1"');

/** False when the two differ behind the times of managedFields, the last of which stands before the last of these words. */
function sameTail(bytes: Buffer, old: Buffer): boolean {
  const length = old.length - Math.max(0, old.lastIndexOf(FIELDS_TYPE));
  return length <= bytes.length && bytes.compare(old, old.length - length, old.length, bytes.length - length) === 0;
}

export function storedVersion(store: Store, served: ServedResource, namespace: string, name: string): Stored {
  const stored = store.get(keyOf(served.definition, served.namespaced ? namespace : '', name));
  if (stored === undefined) throw notFound(groupResource(served), name);
  return stored;
}

export const modified = (served: ServedResource, name: string): StatusError => conflict(groupResource(served), name, OBJECT_MODIFIED);
