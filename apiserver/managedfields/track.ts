/**
 * Ownership by plain writes (create, update, patch): who sets or changes a field owns it alone; who removes one takes it from everybody.
 * Mirrors apimachinery `managedfields` FieldManager.Update and the managers it is made of. Runs on every write.
 */
import type { KubeObject } from '../../machinery/api/object.ts';
import type { Plain } from '../../machinery/api/plain.ts';
import type { ManagedFieldsEntry } from '../../machinery/api/types/meta.v1.ts';
import { isEmptySet, recursiveDifference, union } from './field-set.ts';
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
import { assess, isUnchanged, type OwnedType, stripIdentity, takeOver } from './ownership.ts';
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
  const { managers, asStored } = startingManagers(update);
  // Objects that lost (or never had) their ownership stay without it until somebody applies.
  if (managers.size === 0 && update.live !== undefined) return undefined;
  const before = new Map(managers);
  try {
    recordUpdate(update, managers);
  } catch (error) {
    if (error instanceof TypedError) return undefined;
    throw error;
  }
  if (asStored && before.size === managers.size && [...before].every(([id, manager]) => managers.get(id) === manager)) return stored;
  capUpdaters(managers);
  return encodeManagers(managers);
}

/** The client may rewrite or clear ownership; what it sends wrongly, or leaves out, counts as not sent. */
function startingManagers({ live, object, subresource }: TrackUpdate): { managers: Managers; asStored: boolean } {
  const stored = live?.metadata.managedFields;
  const wished = object.metadata.managedFields;
  if (subresource === '' && wished !== stored) {
    if (isReset(wished)) return { managers: new Map(), asStored: false };
    const managers = decodeOrEmpty(wished);
    if (managers.size > 0) return { managers, asStored: false };
  }
  return { managers: decodeOrEmpty(stored), asStored: true };
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
  const { live, object, manager, apiVersion, subresource, now, resetFields } = update;
  const name: ManagerName = { name: manager === '' ? 'unknown' : manager, subresource, applied: false, apiVersion };
  const id = identify(name);
  const reading = update.reading ?? 'printed';
  const before = withoutOwnership(live ?? { apiVersion: object.apiVersion, kind: object.kind, metadata: {} });
  // The writer takes part like everybody else: what it changes it takes over, from itself too.
  const { comparison, conflicts } = assess(update, { before, after: withoutOwnership(object), reading }, managers, '');
  takeOver(managers, conflicts);
  if (isUnchanged(comparison)) return;
  let changed = union(comparison.modified, comparison.added);
  if (resetFields !== undefined) changed = recursiveDifference(changed, resetFields);
  changed = stripIdentity(changed);
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
