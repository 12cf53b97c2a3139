/**
 * Ownership by plain writes (create, update, patch): who sets or changes a field owns it alone; who removes one takes it from everybody.
 * Mirrors apimachinery `managedfields` FieldManager.Update and the managers it is made of. Runs on every write.
 */
import type { KubeObject } from '../../machinery/api/object.ts';
import type { Plain } from '../../machinery/api/plain.ts';
import type { ManagedFieldsEntry } from '../../machinery/api/types/meta.v1.ts';
import type { Comparison } from './compare.ts';
import { sameJson } from './equal.ts';
import { isEmptySet, union } from './field-set.ts';
import {
  BadManagedFields,
  capUpdaters,
  decodeManagers,
  encodeManagers,
  identify,
  isReset,
  type ManagerName,
  type Managers,
  timeText,
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
  // The writer takes part like everybody else: what it changes it takes over, from itself too.
  const { comparison, conflicts } = assess(update, states, managers, '');
  takeOver(managers, conflicts);
  if (isUnchanged(comparison)) return;
  const changed = stripIdentity(union(comparison.modified, comparison.added));
  if (isEmptySet(changed)) return;
  const previous = managers.get(id);
  const set = previous === undefined ? changed : union(changed, previous.set);
  managers.set(id, { ...name, set, time: timeText(now) });
}

export function withoutOwnership(object: KubeObject): Plain {
  if (object.metadata.managedFields === undefined) return object as unknown as Plain;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...(object as unknown as Plain), metadata };
}
