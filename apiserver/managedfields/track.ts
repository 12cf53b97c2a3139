/**
 * Ownership by plain writes (create, update, patch): who sets or changes a field owns it alone; who removes one takes it from everybody.
 * Mirrors apimachinery `managedfields` FieldManager.Update and the managers it is made of. Runs on every write.
 */
import type { KubeObject } from '../../machinery/api/object.ts';
import type { Plain } from '../../machinery/api/plain.ts';
import type { ManagedFieldsEntry } from '../../machinery/api/types/meta.v1.ts';
import type { Comparison } from './compare.ts';
import { sameJson } from './equal.ts';
import { difference, EMPTY_SET, type FieldSet, includes, isEmptySet, union } from './field-set.ts';
import {
  BadManagedFields,
  capUpdaters,
  decodeManagers,
  encodeManagers,
  identify,
  isReset,
  type Manager,
  type ManagerName,
  type Managers,
  timeText,
  withSet,
} from './managers.ts';
import { assess, comparisonOf, isUnchanged, type OwnedType, type States, stripIdentity, takeOver } from './ownership.ts';
import { reconcile } from './reconcile.ts';
import { TypedError } from './typed.ts';

export interface TrackUpdate extends OwnedType {
  /** What is stored; undefined for a create. */
  readonly live: KubeObject | undefined;
  /** What is to be stored, defaulted. Its own managedFields are the client's wish. Not changed. */
  readonly object: KubeObject;
  readonly manager: string;
  readonly now: Date;
}

/** The managedFields of the object after the write; undefined for none. */
export function trackUpdate(update: TrackUpdate): ManagedFieldsEntry[] | undefined {
  const stored = update.live?.metadata.managedFields;
  const asStored = asksForNothing(update);
  // Objects that lost (or never had) their ownership stay without it until somebody applies.
  if (asStored && update.live !== undefined && stored === undefined) return undefined;
  let managers: Managers;
  try {
    const states = statesOf(update);
    const comparison = comparisonOf(update, states);
    if (asStored && update.live !== undefined && isUnchanged(comparison)) return stored;
    managers = startingManagers(update, asStored);
    reconcile(update, managers);
    if (managers.size === 0 && update.live !== undefined) return undefined;
    record(update, { ...states, comparison }, managers);
  } catch (error) {
    if (error instanceof TypedError) return undefined;
    throw error;
  }
  capUpdaters(managers);
  return encodeManagers(managers);
}

/** True when the client leaves ownership alone: it says nothing about it, sends back what is stored, or may not speak of it here. */
function asksForNothing({ live, object, subresource }: TrackUpdate): boolean {
  const wished = object.metadata.managedFields;
  return subresource !== '' || wished === undefined || wished === null || sameJson(wished, live?.metadata.managedFields);
}

/** The client may rewrite or clear ownership; what it sends wrongly counts as not sent. */
function startingManagers({ live, object }: TrackUpdate, asStored: boolean): Managers {
  const wished = object.metadata.managedFields;
  if (!asStored) {
    if (isReset(wished)) return new Map();
    const managers = decodeOrEmpty(wished);
    if (managers.size > 0) return managers;
  }
  return decodeOrEmpty(live?.metadata.managedFields);
}

function decodeOrEmpty(entries: readonly ManagedFieldsEntry[] | null | undefined): Managers {
  try {
    return decodeManagers(entries);
  } catch (error) {
    if (error instanceof BadManagedFields) return new Map();
    throw error;
  }
}

/** Changes `managers` to what they are after the update. */
export function recordUpdate(update: TrackUpdate, managers: Managers): void {
  const states = statesOf(update);
  record(update, { ...states, comparison: comparisonOf(update, states) }, managers);
}

function statesOf({ live, object, reading = 'printed' }: TrackUpdate): States {
  const before = withoutOwnership(live ?? { apiVersion: object.apiVersion, kind: object.kind, metadata: {} });
  return { before, after: withoutOwnership(object), reading };
}

function record(update: TrackUpdate, states: States & { comparison: Comparison }, managers: Managers): void {
  const { manager, apiVersion, subresource, now } = update;
  const name: ManagerName = { name: manager === '' ? 'unknown' : manager, subresource, applied: false, apiVersion };
  const id = identify(name);
  const { comparison, conflicts } = assess(update, states, managers, id);
  takeOver(managers, conflicts);
  if (isUnchanged(comparison)) return;
  const both = union(comparison.modified, comparison.added);
  const changed = stripIdentity(both);
  const kept = keptBy(managers.get(id), comparison.removed, changed === both ? EMPTY_SET : both);
  if (!isEmptySet(changed)) {
    managers.set(id, { ...name, set: includes(kept, changed) ? kept : union(changed, kept), time: timeText(now) });
  } else if (isEmptySet(kept)) managers.delete(id);
  else managers.set(id, withSet(managers.get(id)!, kept));
}

/** What the writer goes on to own beside what it has changed. What nobody owns it gives up, too, by changing it. */
function keptBy(writer: Manager | undefined, removed: FieldSet, identity: FieldSet): FieldSet {
  let { set } = writer ?? { set: EMPTY_SET };
  if (!isEmptySet(removed)) set = difference(set, removed);
  return isEmptySet(identity) ? set : difference(set, identity);
}

export function withoutOwnership(object: KubeObject): Plain {
  if (object.metadata.managedFields === undefined) return object as unknown as Plain;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...(object as unknown as Plain), metadata };
}
