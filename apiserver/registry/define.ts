/**
 * Makes a `ResourceDefinition` from what a kind says about itself, filling what most kinds share. Mirrors the defaults of
 * apiserver `registry/generic` Store.
 */
import type { KubeObject } from '../../machinery/api/object.ts';
import type { ResourceDefinition, Strategy } from './resource.ts';
import { ageCell } from './tables/cells.ts';
import { columnsOf } from './tables/columns.ts';

export type KindDefinition<T extends KubeObject> = Omit<
  ResourceDefinition<T>,
  'group' | 'version' | 'table' | 'generation' | 'createOnUpdate' | 'unconditionalUpdate' | 'strategy'
> & {
  /** '' when left out. */
  readonly group?: string;
  /** v1 when left out. */
  readonly version?: string;
  /** Plain when left out: stored as it was sent, but for status. */
  readonly strategy?: Strategy<T>;
  readonly generation?: ResourceDefinition<T>['generation'];
  readonly createOnUpdate?: boolean;
  readonly unconditionalUpdate?: boolean;
  readonly cells?: (object: T, now: Date) => unknown[];
  readonly order?: (a: T, b: T) => number;
  readonly emptyIsNull?: boolean;
  readonly rowConditions?: ResourceDefinition<T>['table']['rowConditions'];
};

export function defineKind<T extends KubeObject>(kind: KindDefinition<T>): ResourceDefinition {
  const { group = '', version = 'v1', cells, order, emptyIsNull, rowConditions, ...rest } = kind;
  const columns = columnsOf(group, kind.resource);
  const definition: ResourceDefinition<T> = {
    strategy: {},
    generation: 'none',
    createOnUpdate: false,
    unconditionalUpdate: true,
    ...rest,
    group,
    version,
    table: {
      columns,
      cells: cells ?? defaultCells(columns.at(-1)?.name === 'Created At'),
      ...(order && { order }),
      ...(emptyIsNull && { emptyIsNull }),
      ...(rowConditions && { rowConditions }),
    },
  };
  return definition as unknown as ResourceDefinition;
}

/** Name and creation time, or name and age. */
function defaultCells(asTime: boolean): (object: KubeObject, now: Date) => unknown[] {
  return (object, now) => [
    object.metadata.name ?? '',
    asTime ? (object.metadata.creationTimestamp ?? null) : ageCell(object.metadata.creationTimestamp, now),
  ];
}
