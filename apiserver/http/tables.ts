/** Table and metadata-only forms of objects. Mirrors apiserver `handlers/response.go` and `printers.TableGenerator`. */
import type { AnyObject, KubeObject } from '../../machinery/api/object.ts';
import { badRequest } from '../../machinery/api/status.ts';
import type { ServedResource } from '../handlers/served.ts';

export interface TableOptions {
  /** `meta.k8s.io/v1`. */
  readonly version: string;
  readonly metadata: object;
  /** None, Metadata (also when empty) or Object. */
  readonly includeObject: string;
  readonly now: Date;
  readonly list: boolean;
}

/** Definitions of the columns; sent once per answer or stream. */
export function columnDefinitions(served: ServedResource): unknown[] {
  return served.definition.table.columns.map((column) => ({
    name: column.name,
    type: column.type,
    format: column.format,
    description: column.description,
    priority: column.priority,
  }));
}

export function tableOf(served: ServedResource, objects: readonly AnyObject[], options: TableOptions): Record<string, unknown> {
  const { table } = served.definition;
  const ordered = options.list ? tableOrder(served, objects) : objects;
  return {
    kind: 'Table',
    apiVersion: options.version,
    metadata: options.metadata,
    columnDefinitions: columnDefinitions(served),
    rows: ordered.length === 0 && table.emptyIsNull ? null : ordered.map((object) => tableRow(served, object, options)),
  };
}

/** Objects in the order of a Table's rows. */
export function tableOrder(served: ServedResource, objects: readonly AnyObject[]): readonly AnyObject[] {
  const { order } = served.definition.table;
  return order === undefined ? objects : [...objects].sort(order);
}

export function tableRow(
  served: ServedResource,
  object: KubeObject,
  options: { version: string; includeObject: string; now: Date },
): { cells: unknown[]; object: unknown } {
  const { table } = served.definition;
  const conditions = table.rowConditions?.(object);
  return { cells: table.cells(object, options.now), ...(conditions && { conditions }), object: rowObject(served, object, options) };
}

/** Throws 400 for anything but Metadata, Object, None and empty. */
export function requireIncludeObject(value: string): void {
  if (['', 'Metadata', 'Object', 'None'].includes(value)) return;
  const why = `includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`;
  throw badRequest(`Unable to convert to Table as requested: ${why}`);
}

function rowObject(served: ServedResource, object: KubeObject, options: { version: string; includeObject: string }): unknown {
  if (options.includeObject === 'None') return null;
  if (options.includeObject === 'Object') return object;
  return partialMetadata(served, object, options.version);
}

export function partialMetadata(served: ServedResource, object: KubeObject, version: string): Record<string, unknown> {
  return { kind: 'PartialObjectMetadata', apiVersion: version, metadata: shownMetadata(served, object.metadata) };
}

function shownMetadata(served: ServedResource, metadata: KubeObject['metadata']): KubeObject['metadata'] {
  const { hiddenAnnotations } = served.definition;
  const { annotations, ...others } = metadata;
  if (hiddenAnnotations === undefined || !annotations) return metadata;
  const shown = Object.entries(annotations).filter(([key]) => !hiddenAnnotations.includes(key));
  return shown.length === 0 ? others : { ...metadata, annotations: Object.fromEntries(shown) };
}
