/**
 * The core of both ways to write: what a change from one state to another means for everyone's ownership. Mirrors structured-merge-diff
 * `merge/update.go`.
 */
import type { Plain } from '../../machinery/api/plain.ts';
import type { TypeSchema } from '../../machinery/api/schema/schema.ts';
import { type Comparison, compare, type Reading } from './compare.ts';
import { difference, type FieldSet, intersection, isEmptySet, recursiveDifference, union } from './field-set.ts';
import { dropEmpty, type Managers, withSet } from './managers.ts';
import { printedView, typedStruct } from './typed.ts';

/** A served version of the kind, and the way between it and the version of the request. Both functions return private copies. */
export interface OtherVersion {
  readonly schema: TypeSchema;
  fromRequested(object: Plain): Plain;
  toRequested(object: Plain): Plain;
}

/** What is written, in the version of the request. */
export interface OwnedType {
  readonly schema: TypeSchema;
  /** `apps/v1`. */
  readonly apiVersion: string;
  /** '' for the main resource. */
  readonly subresource: string;
  /** Custom resources are read as they are written; built-in kinds (the default) as Go prints them. */
  readonly reading?: Reading;
  /** Fields that this way of writing throws away (`status` of the main resource): nobody owns them by it. */
  readonly resetFields?: FieldSet;
  /** Other versions that entries may be in; undefined for one that does not exist (any more): its entries are dropped. */
  otherVersion?(apiVersion: string): OtherVersion | undefined;
}

export interface Change {
  readonly comparison: Comparison;
  /** By manager: the fields it owns that the change sets or alters. */
  readonly conflicts: ReadonlyMap<string, FieldSet>;
}

export interface States {
  readonly before: Plain;
  readonly after: Plain;
  readonly reading: Reading;
}

/** What changed, as seen in the version of the request. */
export function comparisonOf(type: OwnedType, states: States): Comparison {
  return withoutReset(type, compare(typedStruct(type.schema), states, type.resetFields));
}

/**
 * What the change means for the managers. Drops those of versions that are gone, and takes from all but the writer what is gone.
 * `comparison` may be given where it is known already.
 */
export function assess(type: OwnedType, states: States & { comparison?: Comparison }, managers: Managers, writer: string): Change {
  const own = states.comparison ?? comparisonOf(type, states);
  const comparisons = new Map<string, Comparison | undefined>([[type.apiVersion, own]]);
  const comparisonIn = (apiVersion: string): Comparison | undefined => {
    if (!comparisons.has(apiVersion)) comparisons.set(apiVersion, compareIn(type, apiVersion, states));
    return comparisons.get(apiVersion);
  };
  const conflicts = new Map<string, FieldSet>();
  /** By version: what the change sets or alters. */
  const sets = new Map<string, FieldSet>();
  for (const [id, manager] of managers) {
    if (id === writer) continue;
    const seen = comparisonIn(manager.apiVersion);
    if (seen === undefined) {
      managers.delete(id);
      continue;
    }
    let set = sets.get(manager.apiVersion);
    if (set === undefined) {
      set = union(seen.modified, seen.added);
      sets.set(manager.apiVersion, set);
    }
    const conflict = intersection(manager.set, set);
    if (!isEmptySet(conflict)) conflicts.set(id, conflict);
  }
  // Ownership of what is gone ends, in each manager's own version.
  for (const [id, manager] of managers) {
    const seen = id === writer ? undefined : comparisonIn(manager.apiVersion);
    if (seen !== undefined && !isEmptySet(seen.removed)) managers.set(id, withSet(manager, difference(manager.set, seen.removed)));
  }
  return { comparison: own, conflicts };
}

/** Takes from the managers what they are in conflict about, and forgets those who own nothing any more. */
export function takeOver(managers: Managers, conflicts: ReadonlyMap<string, FieldSet>): void {
  for (const [id, conflict] of conflicts) {
    const manager = managers.get(id)!;
    managers.set(id, withSet(manager, difference(manager.set, conflict)));
  }
  dropEmpty(managers);
}

/**
 * A version of the kind, the requested one among them. What goes into a conversion is whole, as Go's structs are, also where it has been pruned
 * down to nothing; so is what comes out.
 */
export function versionOf(type: OwnedType, apiVersion: string): OtherVersion | undefined {
  const same = (object: Plain): Plain => object;
  if (apiVersion === type.apiVersion) return { schema: type.schema, fromRequested: same, toRequested: same };
  const other = type.otherVersion?.(apiVersion);
  if (other === undefined || type.reading === 'literal') return other;
  const whole = (schema: TypeSchema, object: Plain): Plain => printedView(typedStruct(schema), object) as Plain;
  return {
    schema: other.schema,
    fromRequested: (object) => whole(other.schema, other.fromRequested(whole(type.schema, object))),
    toRequested: (object) => whole(type.schema, other.toRequested(whole(other.schema, object))),
  };
}

function compareIn(type: OwnedType, apiVersion: string, states: States): Comparison | undefined {
  const other = versionOf(type, apiVersion);
  if (other === undefined) return undefined;
  const seen = { before: other.fromRequested(states.before), after: other.fromRequested(states.after), reading: type.reading ?? 'printed' };
  return withoutReset(type, compare(typedStruct(other.schema), seen, type.resetFields));
}

function withoutReset({ resetFields }: OwnedType, comparison: Comparison): Comparison {
  if (resetFields === undefined || isEmptySet(resetFields)) return comparison;
  return {
    added: recursiveDifference(comparison.added, resetFields),
    removed: recursiveDifference(comparison.removed, resetFields),
    modified: recursiveDifference(comparison.modified, resetFields),
  };
}

export function isUnchanged({ added, removed, modified }: Comparison): boolean {
  return isEmptySet(added) && isEmptySet(removed) && isEmptySet(modified);
}

const METADATA_OF_NO_ONE = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
];

/** Identity and what the server keeps about an object belongs to no manager. */
const NEVER_OWNED: FieldSet = {
  'f:apiVersion': {},
  'f:kind': {},
  'f:metadata': { '.': {}, ...Object.fromEntries(METADATA_OF_NO_ONE.map((name) => [`f:${name}`, {}])) },
};

/** The same set where there is nothing of it. */
export function stripIdentity(set: FieldSet): FieldSet {
  for (const element in NEVER_OWNED) if (Object.hasOwn(set, element)) return difference(set, NEVER_OWNED);
  return set;
}
