/**
 * Computes strategic merge patches: what changes `original` into `modified`, with the directives that keep lists in order.
 * Mirrors the diff half of apimachinery `util/strategicpatch/patch.go`.
 */
import { compareBytes, getOwn, isPlain, type Plain, setOwn } from '../plain.ts';
import type { TypeRef } from '../schema/schema.ts';
import { goKindOf, goText } from './go-text.ts';
import { deduplicate, elementKind, inOrder, keyOf, sameScalar } from './strategic-lists.ts';
import { DELETE_FROM_LIST, elementType, lookUp, type MergeRule, RETAIN_KEYS, SET_ORDER } from './strategic-merge.ts';

export interface DiffMode {
  readonly ignoreDeletions: boolean;
  readonly ignoreChanges: boolean;
  readonly setOrder: boolean;
  /** Name all members of a map whose strategy is retainKeys. */
  readonly retainKeys?: boolean;
}

/** Exact equality of JSON values: an empty list is not a missing one. */
function identical(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => identical(item, b[i]));
  if (!isPlain(a) || !isPlain(b)) return sameScalar(a, b);
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && identical(a[key], b[key]));
}

export function diffMaps(original: Plain, modified: Plain, type: TypeRef, mode: DiffMode): Plain {
  const patch: Plain = {};
  for (const key of Object.keys(modified)) {
    const after = modified[key];
    if (!Object.hasOwn(original, key)) {
      if (!mode.ignoreChanges) setOwn(patch, key, after);
      continue;
    }
    const before = original[key];
    if (goKindOf(before) !== goKindOf(after)) {
      if (!mode.ignoreChanges) setOwn(patch, key, after);
    } else if (identical(before, after)) {
      // Even equal ones: lists may need their order said, and upstream repeats a map whose strategy is replace (the selector of a budget).
      if (Array.isArray(before) || isPlain(before)) diffMember(patch, { key, before, after }, type, mode);
    } else if (isPlain(after) || Array.isArray(after)) diffMember(patch, { key, before, after }, type, mode);
    else if (!mode.ignoreChanges) setOwn(patch, key, after);
  }
  if (!mode.ignoreDeletions) {
    for (const key of Object.keys(original)) if (!Object.hasOwn(modified, key)) setOwn(patch, key, null);
  }
  if (mode.retainKeys) addRetainKeys(patch, original, modified);
  return patch;
}

function addRetainKeys(patch: Plain, original: Plain, modified: Plain): void {
  const names = Object.keys(modified).filter((key) => modified[key] !== null);
  const shrinks = Object.keys(original).some((key) => original[key] !== null && !Object.hasOwn(modified, key));
  if (names.length > 0 && (Object.keys(patch).length > 0 || shrinks)) patch[RETAIN_KEYS] = names.sort(compareBytes);
}

interface Change {
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
}

function diffMember(patch: Plain, { key, before, after }: Change, type: TypeRef, mode: DiffMode): void {
  let rule: MergeRule;
  try {
    rule = lookUp(type, key);
  } catch (error) {
    if (identical(before, after)) return;
    throw error;
  }
  const inner: DiffMode = { ...mode, retainKeys: rule.retainKeys };
  if (Array.isArray(after) && rule.strategy === 'merge') {
    const { changes, deletions, order } = diffLists(before as unknown[], after, rule, inner);
    if (changes.length > 0) setOwn(patch, key, changes);
    if (deletions.length > 0) patch[`${DELETE_FROM_LIST}/${key}`] = deletions;
    if (order.length > 0) patch[`${SET_ORDER}/${key}`] = order;
  } else if (isPlain(after) && rule.strategy !== 'replace') {
    const changes = diffMaps(before as Plain, after, rule.type, inner);
    if (Object.keys(changes).length > 0) setOwn(patch, key, changes);
  } else if (!mode.ignoreChanges && (isPlain(after) || !identical(before, after))) setOwn(patch, key, after);
}

interface ListDiff {
  readonly changes: unknown[];
  readonly deletions: unknown[];
  readonly order: unknown[];
}

const NO_DIFF: ListDiff = { changes: [], deletions: [], order: [] };

function diffLists(original: unknown[], modified: unknown[], rule: MergeRule, mode: DiffMode): ListDiff {
  if (original.length === 0) return modified.length === 0 || mode.ignoreChanges ? NO_DIFF : { ...NO_DIFF, changes: modified };
  if (elementKind(original, modified) === 'scalar') return diffScalars(original, modified, mode);
  const { mergeKey } = rule;
  const { changes, deletions } = diffItems(original, modified, rule, mode);
  const all = [...inOrder(changes, modified, mergeKey), ...deletions];
  const sameOrder =
    original.length === modified.length && original.every((item, i) => sameScalar(keyOf(item, mergeKey), keyOf(modified[i], mergeKey)));
  const ordered = mode.setOrder && ((!mode.ignoreChanges && (all.length > 0 || !sameOrder)) || (!mode.ignoreDeletions && all.length > 0));
  const order = ordered ? modified.map((item) => ({ [mergeKey]: keyOf(item, mergeKey) })) : [];
  return { changes: all, deletions: [], order };
}

/** Sorted by Go's text of a value, as upstream walks both lists; its sort turns around what has the same text. */
function byText<T>(items: readonly T[], textFrom: (item: T) => unknown): { item: T; text: string }[] {
  const sorted = items.map((item, i) => ({ item, i, text: goText(textFrom(item)) }));
  return sorted.sort((a, b) => compareBytes(a.text, b.text) || b.i - a.i);
}

interface Walk<T> {
  both(before: T, after: T): void;
  added(after: T): void;
  removed(before: T): void;
}

/** Two sorted lists side by side. `seen` is called with every item that is looked at. */
function walkBoth<T>(
  before: { item: T; text: string }[],
  after: { item: T; text: string }[],
  walk: Walk<T>,
  seen: (item: T) => void,
): void {
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [old, now] = [before[i], after[j]];
    if (old !== undefined) seen(old.item);
    if (now !== undefined) seen(now.item);
    if (old !== undefined && now !== undefined && old.text === now.text) {
      walk.both(old.item, now.item);
      i++;
      j++;
    } else if (old === undefined || (now !== undefined && compareBytes(now.text, old.text) < 0)) {
      walk.added(now!.item);
      j++;
    } else {
      walk.removed(old.item);
      i++;
    }
  }
}

function diffItems(
  original: readonly unknown[],
  modified: readonly unknown[],
  rule: MergeRule,
  mode: DiffMode,
): { changes: unknown[]; deletions: unknown[] } {
  const { mergeKey } = rule;
  const of = elementType(rule.type);
  const changes: unknown[] = [];
  const deletions: unknown[] = [];
  const nameOf = (item: Plain): unknown => getOwn(item, mergeKey);
  const walk: Walk<Plain> = {
    both(before, after) {
      const change = diffMaps(before, after, of, mode);
      if (Object.keys(change).length > 0) changes.push({ ...change, [mergeKey]: nameOf(after) });
    },
    added(after) {
      if (!mode.ignoreChanges) changes.push(after);
    },
    removed(before) {
      if (!mode.ignoreDeletions) deletions.push({ $patch: 'delete', [mergeKey]: nameOf(before) });
    },
  };
  walkBoth(byText(original as Plain[], nameOf), byText(modified as Plain[], nameOf), walk, (item) => keyOf(item, mergeKey));
  return { changes, deletions };
}

function diffScalars(original: unknown[], modified: unknown[], mode: DiffMode): ListDiff {
  const itself = (item: unknown): unknown => item;
  const before = byText(original, itself);
  const changes: unknown[] = [];
  const deletions: unknown[] = [];
  const walk: Walk<unknown> = {
    both: () => {},
    added: (item) => void (mode.ignoreChanges || changes.push(item)),
    removed: (item) => void (mode.ignoreDeletions || deletions.push(item)),
  };
  walkBoth(before, byText(modified, itself), walk, () => {});
  // Upstream has sorted the list by now: one that is not in alphabetical order gets its order said although it is the same.
  const isChanged = !identical(
    before.map(({ item }) => item),
    modified,
  );
  const ordered = mode.setOrder && (deletions.length > 0 || (!mode.ignoreChanges && isChanged));
  return { changes: inOrder(changes, modified, ''), deletions: deduplicate(deletions), order: ordered ? modified : [] };
}
