/**
 * Applies a strategic merge patch: maps merge, lists with a merge key merge item by item, `$patch`, `$retainKeys`,
 * `$deleteFromPrimitiveList/…` and `$setElementOrder/…` direct it. Mirrors apimachinery `util/strategicpatch/patch.go` (mergeMap and
 * what it calls), which also combines two patches (`combine`) when a client computes a three-way patch.
 *
 * The patch is consumed: callers pass a copy. Of the original only the outermost map is changed; what the patch does not touch is shared by the result.
 */

import { deepEqual } from '../equality.ts';
import { getOwn, isPlain, type Plain, setOwn } from '../plain.ts';
import type { FieldSchema, TypeRef } from '../schema/schema.ts';
import { badRequest, type StatusError, unclassified } from '../status.ts';
import { goKindOf, goStringVerb, goText } from './go-text.ts';
import {
  badType,
  DIRECTIVE,
  deduplicate,
  elementKind,
  findByKey,
  isDeletion,
  keyOf,
  noMergeKey,
  partition,
  sameScalar,
  weave,
} from './strategic-lists.ts';

export const RETAIN_KEYS = '$retainKeys';
export const DELETE_FROM_LIST = '$deleteFromPrimitiveList';
export const SET_ORDER = '$setElementOrder';

export interface MergeMode {
  /** The original is itself a patch: directives and nulls are kept for the server. */
  readonly combine: boolean;
}

/** What the schema says about merging a member. */
export interface MergeRule {
  readonly type: TypeRef;
  readonly strategy: string;
  readonly retainKeys: boolean;
  readonly mergeKey: string;
}

const STRUCT_NAMES: Record<string, string> = {
  rawExtension: 'RawExtension',
  fieldsV1: 'FieldsV1',
  json: 'JSON',
  time: 'Time',
  quantity: 'Quantity',
};

/** Throws upstream's text when the schema does not know the member. */
export function lookUp(type: TypeRef, key: string): MergeRule {
  if (type.kind === 'map' || type.kind === 'list') {
    throw unclassified(`merging an object in json but data type is not struct, instead is: ${type.kind === 'map' ? 'map' : 'slice'}`);
  }
  const field: FieldSchema | undefined = type.kind === 'struct' ? type.schema.member(key) : undefined;
  if (field === undefined) {
    const struct =
      type.kind === 'struct' ? type.schema.name.slice(type.schema.name.lastIndexOf('.') + 1) : (STRUCT_NAMES[type.scalar] ?? type.scalar);
    throw unclassified(`unable to find api field in struct ${struct} for the json field ${JSON.stringify(key)}`);
  }
  const strategies = (field.patchStrategy ?? '').split(',').filter((strategy) => strategy !== '');
  return {
    type: field.type,
    strategy: strategies.find((strategy) => strategy !== 'retainKeys') ?? '',
    retainKeys: strategies.includes('retainKeys'),
    mergeKey: field.patchMergeKey ?? '',
  };
}

export function elementType(type: TypeRef): TypeRef {
  if (type.kind !== 'list') throw unclassified('merging an array in json but data type is not slice');
  return type.of;
}

export function mergeMap(original: Plain, patch: Plain, type: TypeRef, mode: MergeMode): Plain {
  if (Object.hasOwn(patch, DIRECTIVE)) return replaceOrDelete(patch);
  applyRetainKeys(original, patch, mode);
  for (const key of Object.keys(patch)) if (key.startsWith(SET_ORDER)) applyOrder(original, patch, { key, type, mode });
  for (const key of Object.keys(patch)) mergeMember(original, { key, value: patch[key] }, type, mode);
  return original;
}

function replaceOrDelete(patch: Plain): Plain {
  const directive = patch[DIRECTIVE];
  if (directive === 'replace') {
    delete patch[DIRECTIVE];
    return patch;
  }
  if (directive === 'delete') return {};
  throw unclassified(`unknown patch type: ${goStringVerb(directive)} in map: ${goText(patch)}`);
}

/** `$retainKeys` clears what it does not name, and must name all that the patch sets. */
function applyRetainKeys(original: Plain, patch: Plain, mode: MergeMode): void {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return;
  const retained = patch[RETAIN_KEYS];
  delete patch[RETAIN_KEYS];
  if (mode.combine) {
    original[RETAIN_KEYS] ??= retained;
    return;
  }
  const wrong = (): StatusError => badRequest('invalid patch format of retainKeys');
  if (!Array.isArray(retained)) throw wrong();
  const names = new Set<unknown>(retained);
  for (const key of Object.keys(patch)) {
    if (patch[key] === null || key.startsWith(DELETE_FROM_LIST) || key.startsWith(SET_ORDER)) continue;
    if (!names.has(key)) throw wrong();
  }
  for (const key of Object.keys(original)) if (!names.has(key)) delete original[key];
}

interface OrderDirective {
  readonly key: string;
  readonly type: TypeRef;
  readonly mode: MergeMode;
}

/** Merges the list that `$setElementOrder/name` is about, and takes both out of the patch. */
function applyOrder(original: Plain, patch: Plain, { key, type, mode }: OrderDirective): void {
  const order = patch[key];
  const wrong = (): StatusError => badRequest('invalid patch format of setElementOrder list');
  if (mode.combine) {
    if (Object.hasOwn(original, key) && !deepEqual(original[key], order)) throw wrong();
    original[key] = order;
  }
  delete patch[key];
  if (!Array.isArray(order)) throw unclassified(`expected a []interface {}, but received a ${badType(order)}`);
  if (!key.startsWith(`${SET_ORDER}/`)) throw wrong();
  const name = key.slice(SET_ORDER.length + 1);
  const [live, listed] = [listMember(original, name), listMember(patch, name)];
  const rule = lookUp(type, name);
  checkOrder(listed ?? [], order, rule.mergeKey);
  if (live === undefined && listed === undefined) return;
  const before = live === undefined ? [] : [...live];
  const merged = live === undefined ? listed! : listed === undefined ? live : mergeList(live, listed, rule, { ...mode, deleting: false });
  const [named, others] = partition(merged, order, rule.mergeKey);
  elementKind(before, listed ?? []);
  setOwn(original, name, weave(named, others, { patch: order, live: before }, rule.mergeKey));
  delete patch[name];
}

function listMember(object: Plain, name: string): unknown[] | undefined {
  const value = getOwn(object, name);
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw unclassified(`expected a []interface {}, but received a ${badType(value)}`);
  return value;
}

/** The items of the patch must be among those of the order, in that order. */
function checkOrder(listed: readonly unknown[], order: readonly unknown[], mergeKey: string): void {
  if (listed.length === 0 || order.length === 0) return;
  const items = mergeKey === '' ? listed : listed.filter((item) => !isDeletion(item));
  let [at, seen] = [0, 0];
  while (at < items.length && seen < order.length) {
    const item = items[at];
    if (isPlain(item) && Object.hasOwn(item, DIRECTIVE)) {
      at++;
      continue;
    }
    const equal = mergeKey === '' ? sameScalar(item, order[seen]) : sameScalar(keyOf(item, mergeKey), keyOf(order[seen], mergeKey));
    if (equal) at++;
    seen++;
  }
  if (at < items.length && seen >= order.length) {
    throw unclassified(`The order in patch list:\n${goText(listed)}\n doesn't match ${SET_ORDER} list:\n${goText(order)}\n`);
  }
}

function mergeMember(original: Plain, member: { key: string; value: unknown }, type: TypeRef, mode: MergeMode): void {
  const { value } = member;
  let { key } = member;
  const deleting = key.startsWith(DELETE_FROM_LIST);
  if (deleting) {
    if (mode.combine) {
      original[key] = value;
      return;
    }
    if (!key.startsWith(`${DELETE_FROM_LIST}/`)) throw badRequest('invalid patch format of primitive list');
    key = key.slice(DELETE_FROM_LIST.length + 1);
  }
  if (value === null) {
    delete original[key];
    if (mode.combine) setOwn(original, key, null);
    return;
  }
  const present = Object.hasOwn(original, key);
  if (!present || goKindOf(original[key]) !== goKindOf(value)) {
    if (!deleting) setOrDrop(original, key, value, mode);
  } else if (isPlain(value)) {
    const rule = lookUp(type, key);
    const merged = rule.strategy === 'replace' ? value : mergeMap({ ...(original[key] as Plain) }, value, rule.type, mode);
    setOwn(original, key, merged);
  } else if (Array.isArray(value)) {
    const rule = lookUp(type, key);
    setOwn(original, key, mergeList(original[key] as unknown[], value, rule, { ...mode, deleting }));
  } else setOwn(original, key, value);
}

/** A value with no counterpart is taken as it is, but for nulls and maps with a directive. */
function setOrDrop(original: Plain, key: string, value: unknown, mode: MergeMode): void {
  const kept = withoutDirectives(mode.combine ? value : withoutNulls(value));
  if (kept === DROPPED) delete original[key];
  else setOwn(original, key, kept);
}

const DROPPED = Symbol('dropped');

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isPlain(value)) return value;
  const result: Plain = {};
  for (const key of Object.keys(value)) if (value[key] !== null) setOwn(result, key, withoutNulls(value[key]));
  return result;
}

function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== DROPPED);
  if (!isPlain(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return DROPPED;
  const result: Plain = {};
  for (const key of Object.keys(value)) {
    const kept = withoutDirectives(value[key]);
    if (kept !== DROPPED) setOwn(result, key, kept);
  }
  return result;
}

function mergeList(original: unknown[], patch: unknown[], rule: MergeRule, mode: MergeMode & { deleting: boolean }): unknown[] {
  // A list of what to delete is one whatever the strategy of the field is.
  if (rule.strategy !== 'merge' && !mode.deleting) return patch;
  if (original.length === 0 && patch.length === 0) return original;
  let live = [...original];
  let listed = patch;
  let merged: unknown[];
  if (elementKind(original, patch) === 'scalar') {
    if (mode.deleting && !mode.combine) return original.filter((item) => !patch.some((other) => sameScalar(item, other)));
    merged = deduplicate([...original, ...patch]);
  } else {
    if (rule.mergeKey === '') throw unclassified('cannot merge lists without merge key for struct');
    [live, listed] = applyItemDirectives(live, patch, rule.mergeKey);
    merged = mergeItems([...live], listed, rule, mode);
  }
  const [named, others] = partition(merged, listed, rule.mergeKey);
  return weave(named, others, { patch: listed, live }, rule.mergeKey);
}

/** `$patch` in items: deletions are carried out, a replacement starts from nothing. */
function applyItemDirectives(original: unknown[], patch: readonly unknown[], mergeKey: string): [live: unknown[], listed: unknown[]] {
  const listed: unknown[] = [];
  let live = original;
  let replace = false;
  for (const item of patch as Plain[]) {
    if (!Object.hasOwn(item, DIRECTIVE)) {
      listed.push(item);
      continue;
    }
    switch (item[DIRECTIVE]) {
      case 'delete': {
        if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
        live = live.filter((other) => !(isPlain(other) && Object.hasOwn(other, mergeKey) && sameScalar(other[mergeKey], item[mergeKey])));
        break;
      }
      case 'replace':
        replace = true;
        break;
      case 'merge':
        throw unclassified('merging lists cannot yet be specified in the patch');
      default:
        throw unclassified(`unknown patch type: ${goStringVerb(item[DIRECTIVE])} in map: ${goText(item)}`);
    }
  }
  return replace ? [listed, []] : [live, listed];
}

function mergeItems(live: unknown[], listed: readonly unknown[], rule: MergeRule, mode: MergeMode): unknown[] {
  const of = elementType(rule.type);
  for (const item of listed as Plain[]) {
    const at = findByKey(live, rule.mergeKey, keyOf(item, rule.mergeKey));
    if (at >= 0) live[at] = mergeMap({ ...(live[at] as Plain) }, { ...item }, of, mode);
    else live.push(item);
  }
  return live;
}
