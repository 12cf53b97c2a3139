/**
 * Lists in a strategic merge patch: finding items by merge key, keeping a sensible order. What a patch lists comes in the patch's order (or that
 * of `$setElementOrder`); what only the live object has keeps its place relative to the items both know.
 * Mirrors the list half of apimachinery `util/strategicpatch/patch.go`.
 */
import { isPlain } from '../plain.ts';
import { unclassified } from '../status.ts';
import { goText, goTypeOf } from './go-text.ts';

export const DIRECTIVE = '$patch';

/** Equality of Go interface values: same type, same scalar. Lists and maps are never equal. */
export function sameScalar(a: unknown, b: unknown): boolean {
  if (typeof a === 'object' && a !== null) return false;
  return a === b;
}

export const noMergeKey = (item: unknown, mergeKey: string) =>
  unclassified(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);

/** 'map' or 'scalar', the same for all items. Throws upstream's text when items differ in type, or are lists. */
export function elementKind(...lists: readonly (readonly unknown[])[]): 'map' | 'scalar' {
  let first: string | undefined;
  for (const list of lists) {
    for (const item of list) {
      const type = goTypeOf(item);
      if (type === '[]interface {}' && first === undefined) throw unclassified('lists of lists are not supported');
      if (first !== undefined && type !== first) throw unclassified(`list element types are not identical: ${goText(lists)}`);
      first = type;
    }
  }
  if (first === undefined) throw unclassified('no elements in any of the given slices');
  return first.startsWith('map') ? 'map' : 'scalar';
}

export function findByKey(list: readonly unknown[], mergeKey: string, value: unknown): number {
  return list.findIndex((item, i) => {
    if (!isPlain(item)) throw unclassified(`value for key ${i} is not a map.`);
    return Object.hasOwn(item, mergeKey) && sameScalar(item[mergeKey], value);
  });
}

/** %s of reflect.TypeOf. */
export const badType = (value: unknown): string => (value === null ? '%!s(<nil>)' : goTypeOf(value));

export function keyOf(item: unknown, mergeKey: string): unknown {
  if (!isPlain(item)) throw unclassified(`expected a map[string]interface {}, but received a ${badType(item)}`);
  if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
  return item[mergeKey];
}

/** Where an item stands in an order, -1 when it does not. */
function indexIn(order: readonly unknown[], item: unknown, mergeKey: string): number {
  if (mergeKey === '') return order.findIndex((other) => sameScalar(other, item));
  return findByKey(order, mergeKey, keyOf(item, mergeKey));
}

/** Splits into the items `by` names and the others, both in their order. */
export function partition(items: readonly unknown[], by: readonly unknown[], mergeKey: string): [named: unknown[], others: unknown[]] {
  const named: unknown[] = [];
  const others: unknown[] = [];
  for (const item of items) (indexIn(by, item, mergeKey) >= 0 ? named : others).push(item);
  return [named, others];
}

export const isDeletion = (item: unknown): boolean => isPlain(item) && item[DIRECTIVE] === 'delete';

/** In the given order; items that are deletions go last. */
export function inOrder(items: readonly unknown[], order: readonly unknown[], mergeKey: string): unknown[] {
  if (mergeKey !== '') for (const item of order) keyOf(item, mergeKey);
  const kept = items.filter((item) => !isDeletion(item)).map((item) => ({ item, at: indexIn(order, item, mergeKey) }));
  kept.sort((a, b) => (a.at < 0 || b.at < 0 ? 0 : a.at - b.at));
  return [...kept.map(({ item }) => item), ...items.filter(isDeletion)];
}

export interface Orders {
  /** The order the patch asks for. */
  readonly patch: readonly unknown[];
  /** The order of the live list. */
  readonly live: readonly unknown[];
}

/** Patch items and live-only items in one list: a live-only item goes first only where it stood before the patch item already. */
export function weave(patchItems: readonly unknown[], liveOnly: readonly unknown[], orders: Orders, mergeKey: string): unknown[] {
  const left = inOrder(liveOnly, orders.live, mergeKey);
  const right = inOrder(patchItems, orders.patch, mergeKey);
  const result: unknown[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i >= left.length) result.push(right[j++]);
    else if (j >= right.length) result.push(left[i++]);
    else {
      const [l, r] = [indexIn(orders.live, left[i], mergeKey), indexIn(orders.live, right[j], mergeKey)];
      result.push(l >= 0 && r >= 0 && l < r ? left[i++] : right[j++]);
    }
  }
  return result;
}

/** Without repetitions, as upstream does it: a repeated scalar is replaced by the last one. */
export function deduplicate(items: readonly unknown[]): unknown[] {
  const list = [...items];
  for (let i = 0; i < list.length - 1; i++) {
    for (let j = i + 1; j < list.length; j++) {
      if (!sameScalar(list[i], list[j])) continue;
      list[j] = list[list.length - 1];
      list.pop();
      j--;
    }
  }
  return list;
}
