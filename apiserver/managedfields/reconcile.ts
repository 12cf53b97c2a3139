/**
 * Ownership that was written when a field was owned part by part, or by a client that knows no better, read by today's schema: what is one
 * leaf now is owned as a whole. Mirrors structured-merge-diff `typed/reconcile_schema.go`.
 */
import type { TypeSchema } from '../../machinery/api/schema/schema.ts';
import { EMPTY_SET, type FieldSet, hasChildren } from './field-set.ts';
import { type Managers, withSet } from './managers.ts';
import { elementType } from './merge.ts';
import { type OwnedType, versionOf } from './ownership.ts';
import { type Typed, typedStruct } from './typed.ts';

/** Sets that fit a schema already: those of stored objects are seen with every write. */
const fitting = new WeakMap<FieldSet, TypeSchema>();

/** Changes `managers`. Entries of versions that are gone are left for others to drop. */
export function reconcile(type: OwnedType, managers: Managers): void {
  for (const [id, manager] of managers) {
    const schema = manager.apiVersion === type.apiVersion ? type.schema : versionOf(type, manager.apiVersion)?.schema;
    if (schema === undefined || fitting.get(manager.set) === schema) continue;
    const set = withWholeLeaves(typedStruct(schema), manager.set);
    fitting.set(set, schema);
    if (set !== manager.set) managers.set(id, withSet(manager, set));
  }
}

function isLeaf(type: Typed): boolean {
  switch (type.kind) {
    case 'struct':
    case 'map':
      return type.atomic;
    case 'list':
      return type.relation === 'atomic';
    default:
      return type.kind === 'any';
  }
}

/** The same set where nothing changes. */
function withWholeLeaves(type: Typed, set: FieldSet): FieldSet {
  if (isLeaf(type)) return hasChildren(set) ? EMPTY_SET : set;
  let result: Record<string, FieldSet> | undefined;
  for (const element of Object.keys(set)) {
    const inner = element === '.' ? undefined : elementType(type, element);
    if (inner === undefined) continue;
    const child = withWholeLeaves(inner, set[element]!);
    if (child === set[element]) continue;
    result ??= { ...set };
    result[element] = child;
  }
  return result ?? set;
}
