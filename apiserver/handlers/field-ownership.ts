/**
 * The one place where writes meet the tracking of field ownership (managedFields). Mirrors apiserver `fieldmanager.FieldManager`.
 */
import type { KubeObject } from '../../machinery/api/object.ts';
import type { WriteOptions } from '../http/write-options.ts';
import type { Api } from './api.ts';
import type { ServedResource } from './served.ts';

/** Records who owns the fields of a new object. Called after defaulting, before admission. */
export function recordCreate(_api: Api, _served: ServedResource, object: KubeObject, _options: WriteOptions): void {
  delete object.metadata.managedFields;
}

export interface UpdateRecord {
  readonly object: KubeObject;
  readonly old: KubeObject;
  readonly options: WriteOptions;
  readonly subresource: string;
}

/** Records what an update changed. Called before the kind prepares the object. */
export function recordUpdate(_api: Api, _served: ServedResource, record: UpdateRecord): void {
  const { object, old } = record;
  if (old.metadata.managedFields === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = old.metadata.managedFields;
}
