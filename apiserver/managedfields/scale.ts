/**
 * Ownership of the scale subresource: it is a view of one field of its parent, so its managers are those of that field, and what changes through
 * it is written back to the parent's entries. Mirrors apimachinery `managedfields/scalehandler.go`.
 */
import type { ManagedFieldsEntry } from '../../machinery/api/types/meta.v1.ts';
import { difference, hasPath, isEmptySet, setOfPath } from './field-set.ts';
import { decodeManagers, encodeManagers, type Managers } from './managers.ts';

const SCALE_VERSION = 'autoscaling/v1';
const REPLICAS_OF_SCALE = ['f:spec', 'f:replicas'];

export interface ScaledParent {
  readonly entries: readonly ManagedFieldsEntry[] | undefined;
  /** The version of the parent in the request. */
  readonly apiVersion: string;
  /** Where a version keeps the replicas: `['f:spec', 'f:replicas']`; null when it has no scale, undefined when there is no such version. */
  replicasPath(apiVersion: string): readonly string[] | null | undefined;
}

/** The entries of the Scale object. Throws BadManagedFields. */
export function scaleEntries(parent: ScaledParent): ManagedFieldsEntry[] | undefined {
  const managers: Managers = new Map();
  for (const [id, manager] of decodeManagers(parent.entries)) {
    const path = parent.replicasPath(manager.apiVersion);
    if (path === undefined || path === null || !hasPath(manager.set, path)) continue;
    managers.set(id, { ...manager, apiVersion: SCALE_VERSION, set: setOfPath(REPLICAS_OF_SCALE) });
  }
  return encodeManagers(managers);
}

/** The parent's entries after a write of its Scale left `written` there. */
export function parentEntries(parent: ScaledParent, written: readonly ManagedFieldsEntry[] | undefined): ManagedFieldsEntry[] | undefined {
  const before = decodeManagers(parent.entries);
  const scale = decodeManagers(written);
  const managers: Managers = new Map();
  for (const [id, manager] of before) {
    const path = parent.replicasPath(manager.apiVersion);
    if (path === undefined) continue;
    if (path === null || !hasPath(manager.set, path) || scale.delete(id)) {
      managers.set(id, manager);
      continue;
    }
    const rest = difference(manager.set, setOfPath(path));
    if (!isEmptySet(rest)) managers.set(id, { ...manager, set: rest });
  }
  const path = parent.replicasPath(parent.apiVersion);
  for (const [id, manager] of scale) {
    if (!hasPath(manager.set, REPLICAS_OF_SCALE) || !path) continue;
    // Kept under the identifier it has in the Scale: beside an entry of the same name that owns the rest of the parent.
    managers.set(id, { ...manager, apiVersion: parent.apiVersion, set: setOfPath(path), time: before.get(id)?.time });
  }
  return encodeManagers(managers);
}
