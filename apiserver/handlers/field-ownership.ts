/**
 * The one place where writes meet the tracking of field ownership (managedFields). Mirrors apiserver `fieldmanager.FieldManager`.
 */
import { deepClone } from '../../machinery/api/equality.ts';
import { type KubeObject, parseApiVersion } from '../../machinery/api/object.ts';
import type { Plain } from '../../machinery/api/plain.ts';
import type { ManagedFieldsEntry } from '../../machinery/api/types/meta.v1.ts';
import type { WriteOptions } from '../http/write-options.ts';
import { type Applied, applyConfiguration } from '../managedfields/apply.ts';
import { EMPTY_SET } from '../managedfields/field-set.ts';
import type { OtherVersion, OwnedType } from '../managedfields/ownership.ts';
import { resetFields } from '../managedfields/reset-fields.ts';
import { trackUpdate } from '../managedfields/track.ts';
import type { Api } from './api.ts';
import { type ServedResource, toServed, toStored } from './served.ts';

function ownedType(api: Api, served: ServedResource, subresource: string): OwnedType {
  return {
    otherVersion: (apiVersion) => otherVersion(api, served, apiVersion),
    schema: served.schema,
    apiVersion: served.apiVersion,
    subresource,
    resetFields: resetFields(served.group, served.resource, subresource),
  };
}

/** Another served version of the same stored object (autoscaling/v1 beside autoscaling/v2). */
function otherVersion(api: Api, served: ServedResource, apiVersion: string): OtherVersion | undefined {
  const { group, version } = parseApiVersion(apiVersion);
  const other = api.catalog.known(group, version, served.resource);
  // A version of another group (events) counts as one that is gone.
  if (other === undefined || other.definition !== served.definition || group !== served.group) return undefined;
  const convert = (from: ServedResource, to: ServedResource, object: Plain): Plain =>
    toServed(to, toStored(from, deepClone(object) as unknown as KubeObject)) as unknown as Plain;
  return {
    schema: other.schema,
    fromRequested: (object) => convert(served, other, object),
    toRequested: (object) => convert(other, served, object),
  };
}

function setEntries(object: KubeObject, entries: ManagedFieldsEntry[] | undefined): void {
  if (entries === undefined || entries.length === 0) delete object.metadata.managedFields;
  else object.metadata.managedFields = entries;
}

/** Records who owns the fields of a new object. Called after defaulting, before admission. */
export function recordCreate(api: Api, served: ServedResource, object: KubeObject, options: WriteOptions): void {
  const seen = toServed(served, object);
  const { fieldManager: manager } = options;
  setEntries(object, trackUpdate({ ...ownedType(api, served, ''), live: undefined, object: seen, manager, now: api.clock.now() }));
}

/** Records who sent an object that is answered and not stored. */
export function recordAnswered(
  api: Api,
  of: Pick<OwnedType, 'apiVersion' | 'schema' | 'subresource'>,
  object: KubeObject,
  manager: string,
): void {
  const owned: OwnedType = { ...of, otherVersion: () => undefined, resetFields: EMPTY_SET };
  setEntries(object, trackUpdate({ ...owned, live: undefined, object, manager, now: api.clock.now() }));
}

export interface UpdateRecord {
  readonly object: KubeObject;
  readonly old: KubeObject;
  readonly options: Pick<WriteOptions, 'fieldManager'>;
  readonly subresource: string;
}

/** Records what an update changed. Called after defaulting, before the kind prepares the object. */
export function recordUpdate(api: Api, served: ServedResource, record: UpdateRecord): void {
  const { object, old, options, subresource } = record;
  const live = toServed(served, old);
  const seen = toServed(served, object);
  setEntries(
    object,
    trackUpdate({ ...ownedType(api, served, subresource), live, object: seen, manager: options.fieldManager, now: api.clock.now() }),
  );
}

export interface ApplyRecord {
  readonly config: Plain;
  /** In the served version; undefined when the apply creates. */
  readonly live: KubeObject | undefined;
  readonly options: WriteOptions;
  readonly subresource: string;
}

/** Merges an applied configuration into the live object. Throws StatusError for conflicts and configurations that do not fit. */
export function applied(api: Api, served: ServedResource, record: ApplyRecord): Applied {
  const { config, live, options, subresource } = record;
  return applyConfiguration({
    ...ownedType(api, served, subresource),
    kind: served.kind,
    live,
    config,
    manager: options.fieldManager,
    force: options.force,
    now: api.clock.now(),
  });
}
