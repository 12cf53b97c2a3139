/**
 * Ownership that was written when a field was owned part by part, or by a client that knows no better, read by today's schema: what is one
 * leaf now is owned as a whole. Mirrors structured-merge-diff `typed/reconcile_schema.go`.
 */
import { EMPTY_SET, type FieldSet, hasChildren, isEmptySet } from './field-set.ts';
import { type Managers, withSet } from './managers.ts';
import { elementType } from './merge.ts';
import { type OwnedType, versionOf } from './ownership.ts';
import { type Typed, typedStruct } from './typed.ts';

/** Changes `managers`. Entries of versions that are gone are left for others to drop. */
export function reconcile(type: OwnedType, managers: Managers): void {
  for (const [id, manager] of managers) {
    const schema = manager.apiVersion === type.apiVersion ? type.schema : versionOf(type, manager.apiVersion)?.schema;
    if (schema === undefined) continue;
    const set = withWholeLeaves(typedStruct(schema), manager.set);
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

/** The same set where nothing changes: most of what was stored fits, and is seen with every write. */
function withWholeLeaves(type: Typed, set: FieldSet): FieldSet {
  if (isLeaf(type)) return hasChildren(set) ? EMPTY_SET : set;
  let result: Record<string, FieldSet> | undefined;
  for (const element in set) {
    const inner = isEmptySet(set[element]) ? undefined : elementType(type, element);
    if (inner === undefined) continue;
    const child = withWholeLeaves(inner, set[element]);
    if (child === set[element]) continue;
    result ??= { ...set };
    result[element] = child;
  }
  return result ?? set;
}
