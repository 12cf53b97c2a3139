/**
 * Takes out of a merged object what its applier set the last time and does not set any more, unless somebody else owns it. Mirrors the prune
 * functions of structured-merge-diff `merge/update.go`.
 */
import type { Plain } from '../../machinery/api/plain.ts';
import { difference, EMPTY_SET, type FieldSet, intersection, isEmptySet, union } from './field-set.ts';
import type { Manager, Managers } from './managers.ts';
import { fieldsOf, removeFields, withNamedParents } from './merge.ts';
import { type OwnedType, versionOf } from './ownership.ts';
import { type Typed, typedStruct } from './typed.ts';

interface Pruning {
  readonly merged: Plain;
  /** With the applier's new set in it. */
  readonly managers: Managers;
  /** The applier's entry before. */
  readonly last: Manager | undefined;
}

export function prune(type: OwnedType, { merged, managers, last }: Pruning): Plain {
  if (last === undefined || isEmptySet(last.set)) return merged;
  const version = versionOf(type, last.apiVersion);
  if (version === undefined) return merged;
  const typed = typedStruct(version.schema);
  const whole = version.fromRequested(merged);
  const lastSet = withNamedParents(typed, last.set);
  const without = asObject(removeFields(typed, whole, lastSet));
  const pruned = addBackOwned(type, { whole, pruned: without, version: last.apiVersion }, managers);
  return version.toRequested(addBackDangling(typed, { whole, pruned }, lastSet));
}

/** Restores what any manager (the applier's new configuration included) owns. */
function addBackOwned(type: OwnedType, start: { whole: Plain; pruned: Plain; version: string }, managers: Managers): Plain {
  const owned = new Map<string, FieldSet>();
  for (const { apiVersion, set } of managers.values()) owned.set(apiVersion, union(owned.get(apiVersion) ?? EMPTY_SET, set));
  let { pruned } = start;
  // The version it was pruned in comes first: what others need for their conversion may be in it.
  const versions = [start.version, ...[...owned.keys()].filter((version) => version !== start.version)];
  const from = versionOf(type, start.version)!;
  for (const apiVersion of versions) {
    const set = owned.get(apiVersion);
    const to = versionOf(type, apiVersion);
    if (set === undefined || to === undefined) continue;
    const same = apiVersion === start.version;
    const through = (object: Plain): Plain => (same ? object : to.fromRequested(from.toRequested(object)));
    const restored = restore(typedStruct(to.schema), { whole: through(start.whole), pruned: through(pruned) }, set);
    pruned = same ? restored : from.fromRequested(to.toRequested(restored));
  }
  return pruned;
}

/** `whole` without what is in neither `pruned` nor `kept`. */
function restore(type: Typed, { whole, pruned }: { whole: Plain; pruned: Plain }, kept: FieldSet): Plain {
  const remaining = union(withNamedParents(type, fieldsOf(type, pruned)), withNamedParents(type, kept));
  return asObject(removeFields(type, whole, difference(withNamedParents(type, fieldsOf(type, whole)), remaining)));
}

/** Restores what nobody owned: only what the applier itself had is removed. */
function addBackDangling(type: Typed, { whole, pruned }: { whole: Plain; pruned: Plain }, last: FieldSet): Plain {
  const gone = difference(withNamedParents(type, fieldsOf(type, whole)), withNamedParents(type, fieldsOf(type, pruned)));
  return asObject(removeFields(type, whole, intersection(gone, last)));
}

function asObject(value: unknown): Plain {
  return (value ?? {}) as Plain;
}
