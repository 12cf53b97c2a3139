/**
 * Managers and what they own, between `metadata.managedFields` and working form. Mirrors apimachinery `managedfields/internal/managedfields.go`.
 *
 * A manager is known by its identifier: name, operation, subresource and, for updates only, the version it wrote in.
 */
import { formatTime } from '../../machinery/api/time.ts';
import type { ManagedFieldsEntry } from '../../machinery/api/types/meta.v1.ts';
import { EMPTY_SET, type FieldSet, isEmptySet, isFieldSet, sameSet, sorted, union } from './field-set.ts';

export interface Manager {
  readonly name: string;
  readonly subresource: string;
  readonly applied: boolean;
  readonly apiVersion: string;
  readonly set: FieldSet;
  /** RFC 3339, as stored. */
  readonly time: string | undefined;
}

/** By identifier. */
export type Managers = Map<string, Manager>;

export type ManagerName = Omit<Manager, 'set' | 'time'>;

/** As upstream encodes it: conflicts and the merging of old entries are ordered by this text. */
export function identify({ name, subresource, applied, apiVersion }: ManagerName): string {
  const manager = name === '' ? '' : `"manager":${JSON.stringify(name)},`;
  const version = applied ? '' : `,"apiVersion":${JSON.stringify(apiVersion)}`;
  const part = subresource === '' ? '' : `,"subresource":${JSON.stringify(subresource)}`;
  return `{${manager}"operation":"${applied ? 'Apply' : 'Update'}"${version}${part}}`;
}

export class BadManagedFields extends Error {}

/** Throws BadManagedFields with upstream's text. Entries of the same identifier: the last counts. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[] | null | undefined): Managers {
  const managers: Managers = new Map();
  for (const [i, entry] of (entries ?? []).entries()) {
    const { manager = '', operation, apiVersion = '', fieldsType = '', fieldsV1, subresource = '', time } = entry ?? {};
    if (operation !== 'Apply' && operation !== 'Update') throw new BadManagedFields('operation must be `Apply` or `Update`');
    if (apiVersion === '') throw new BadManagedFields('apiVersion must not be empty');
    if (fieldsType === '') throw new BadManagedFields(`missing fieldsType in managed fields entry ${i}`);
    if (fieldsType !== 'FieldsV1') throw new BadManagedFields(`invalid fieldsType "${fieldsType}" in managed fields entry ${i}`);
    if (!isKnownSet(fieldsV1)) throw new BadManagedFields('error decoding set');
    const name: ManagerName = { name: manager, subresource, applied: operation === 'Apply', apiVersion };
    managers.set(identify(name), { ...name, set: (fieldsV1 as FieldSet | undefined) ?? EMPTY_SET, time: time ?? undefined });
  }
  return managers;
}

const isKnownSet = (fieldsV1: unknown): boolean => fieldsV1 === undefined || fieldsV1 === null || isFieldSet(fieldsV1);

/** In upstream's order: appliers first, then by time, then by name. undefined when there is none. */
export function encodeManagers(managers: Managers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()].sort(compareManagers).map(entryOf);
}

/** Member by member, in Go's order: this is made for every manager with every write. */
function entryOf({ name, applied, apiVersion, time, set, subresource }: Manager): ManagedFieldsEntry {
  const entry: ManagedFieldsEntry = {};
  if (name !== '') entry.manager = name;
  entry.operation = applied ? 'Apply' : 'Update';
  entry.apiVersion = apiVersion;
  if (time !== undefined) entry.time = time;
  entry.fieldsType = 'FieldsV1';
  entry.fieldsV1 = sorted(set) as NonNullable<ManagedFieldsEntry['fieldsV1']>;
  if (subresource !== '') entry.subresource = subresource;
  return entry;
}

function compareManagers(a: Manager, b: Manager): number {
  if (a.applied !== b.applied) return a.applied ? -1 : 1;
  return (
    (a.time === b.time ? 0 : seconds(a) - seconds(b)) ||
    compareText(a.name, b.name) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function seconds({ time }: Manager): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000);
}

export function withSet(manager: Manager, set: FieldSet): Manager {
  return { ...manager, set };
}

/** True for the two forms of managedFields that a client clears ownership with: `[]` and `[{}]`. */
export function isReset(entries: readonly ManagedFieldsEntry[] | null | undefined): boolean {
  if (!Array.isArray(entries)) return false;
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0] ?? {}).length === 0);
}

/** How many Update entries an object may have; the oldest are merged. Apply entries are not limited. */
const MAX_UPDATE_MANAGERS = 10;

/** Merges the oldest updaters of each version into `ancient-changes` until few enough are left. */
export function capUpdaters(managers: Managers): void {
  if (managers.size <= MAX_UPDATE_MANAGERS) return;
  const updaters = [...managers].filter(([, manager]) => !manager.applied);
  let count = updaters.length;
  if (count <= MAX_UPDATE_MANAGERS) return;
  updaters.sort(([a, x], [b, y]) => seconds(x) - seconds(y) || compareText(a, b));
  const firstOfVersion = new Map<string, string>();
  for (const [id, manager] of updaters) {
    if (count <= MAX_UPDATE_MANAGERS) return;
    const { apiVersion } = manager;
    const name: ManagerName = { name: 'ancient-changes', subresource: '', applied: false, apiVersion };
    const bucket = identify(name);
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, id);
      continue;
    }
    if (!managers.has(bucket)) {
      managers.set(bucket, { ...managers.get(first)!, ...name });
      managers.delete(first);
    }
    managers.set(bucket, { ...name, set: union(manager.set, managers.get(bucket)!.set), time: manager.time });
    managers.delete(id);
    count--;
  }
}

export function dropEmpty(managers: Managers): void {
  for (const [id, manager] of managers) if (isEmptySet(manager.set)) managers.delete(id);
}

/** True when the two differ at most in times. */
export function sameButTimes(a: readonly ManagedFieldsEntry[] | undefined, b: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.length !== b.length) return false;
  return a.every((entry, i) => {
    const other = b[i]!;
    return (
      entry.manager === other.manager &&
      entry.operation === other.operation &&
      entry.apiVersion === other.apiVersion &&
      entry.subresource === other.subresource &&
      sameSet((entry.fieldsV1 ?? EMPTY_SET) as FieldSet, (other.fieldsV1 ?? EMPTY_SET) as FieldSet)
    );
  });
}

export const timeText = (now: Date): string => formatTime(now);
