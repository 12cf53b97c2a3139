/**
 * What server-side apply does to values: which fields a configuration sets, how it is merged into the live object, and how fields that nobody
 * wants any more are taken out. Mirrors structured-merge-diff `typed/{tofieldset,merge,remove}.go`. Values are read as they are written.
 */
import { isPlain, type Plain, setOwn } from '../../machinery/api/plain.ts';
import { type FieldSet, hasChildren, isEmptySet, isMember, SetBuilder } from './field-set.ts';
import { EMPTY, isEmptyObject, itemElement, membersOf, type Typed, TypedError, type TypedList } from './typed.ts';

const LEAF_TYPE: Typed = { kind: 'any' };

/** The fields a configuration sets: its leaves, list items, and what it sets to nothing (`null`, `{}`). */
export function fieldsOf(type: Typed, value: unknown): FieldSet {
  const builder = new SetBuilder();
  const path: string[] = [];
  const visit = (inner: Typed, child: unknown): void => {
    switch (inner.kind) {
      case 'struct':
      case 'map':
        if (inner.atomic) break;
        if (isPlain(child)) for (const key of Object.keys(child)) member(inner, key, child[key]);
        return;
      case 'list':
        if (inner.relation === 'atomic') break;
        if (Array.isArray(child)) items(inner, child);
        return;
    }
    if (path.length > 0) builder.insert(path);
  };
  const member = (parent: Extract<Typed, { kind: 'struct' | 'map' }>, key: string, child: unknown): void => {
    const own = childType(parent, key);
    if (own !== undefined)
      inside(`f:${key}`, own, child, parent.kind === 'map' || child === null || (isPlain(child) && isEmptyObject(child)));
  };
  /** Of items that share a name only the name is a field. */
  const items = (list: TypedList, children: readonly unknown[]): void => {
    const elements = children.map((item) => elementOf(list, item));
    const seen = new Set<string>();
    const shared = new Set<string>();
    for (const element of elements) (seen.has(element) ? shared : seen).add(element);
    for (const [i, element] of elements.entries()) {
      inside(element, shared.has(element) ? LEAF_TYPE : list.of, children[i], !shared.has(element));
    }
  };
  const inside = (element: string, inner: Typed, child: unknown, itself: boolean): void => {
    path.push(element);
    visit(inner, child);
    if (itself) builder.insert(path);
    path.pop();
  };
  visit(type, value);
  return builder.set;
}

/** `config` laid over `live`; undefined means absent. Shares what it does not change. */
export function mergeTyped(type: Typed, live: unknown, config: unknown): unknown {
  switch (type.kind) {
    case 'struct':
    case 'map':
      if (type.atomic || (isEmptyMap(live) && isEmptyMap(config))) break;
      return mergeMembers(type, isPlain(live) ? live : EMPTY, isPlain(config) ? config : EMPTY);
    case 'list':
      if (type.relation === 'atomic' || (isEmptyList(live) && isEmptyList(config))) break;
      return mergeItems(type, Array.isArray(live) ? live : [], Array.isArray(config) ? config : []);
  }
  return config === undefined ? live : config;
}

function mergeMembers(type: Extract<Typed, { kind: 'struct' | 'map' }>, live: Plain, config: Plain): unknown {
  const result: Plain = {};
  const put = (key: string, before: unknown, applied: unknown): void => {
    const inner = childType(type, key);
    const merged = inner === undefined ? before : mergeTyped(inner, before, applied);
    if (merged !== undefined) setOwn(result, key, merged);
  };
  for (const key of Object.keys(live)) put(key, live[key], Object.hasOwn(config, key) ? config[key] : undefined);
  for (const key of Object.keys(config)) if (!Object.hasOwn(live, key)) put(key, undefined, config[key]);
  return isEmptyObject(result) ? undefined : result;
}

interface Indexed {
  readonly elements: readonly string[];
  /** The item of an element; undefined when several share it. */
  readonly items: ReadonlyMap<string, unknown>;
}

function index(type: TypedList, list: readonly unknown[]): Indexed {
  const items = new Map<string, unknown>();
  const elements = list.map((item) => {
    const element = itemElement(type, item);
    items.set(element, items.has(element) ? undefined : item);
    return element;
  });
  return { elements, items };
}

/**
 * The applied order wins; items that only the live list has keep their place relative to each other. Worked example: live [a b c d], applied
 * [d x a]: shared are d and a, in this order. a is not due yet: skipped; b, c are live only: taken; d is due: merged; then x, then a: [b c d x a].
 */
function mergeItems(type: TypedList, live: readonly unknown[], config: readonly unknown[]): unknown {
  const l = index(type, live);
  const c = index(type, config);
  const shared = c.elements.filter((element) => l.items.has(element));
  const merged = new Set<string>();
  const out: unknown[] = [];
  let due = shared.shift();
  const take = (element: string, before: unknown, applied: unknown): void => {
    const item = mergeTyped(type.of, before, applied);
    if (item !== undefined) out.push(item);
    if (c.items.has(element)) merged.add(element);
  };
  let i = 0;
  let j = 0;
  while (i < l.elements.length || j < c.elements.length) {
    const mine = l.elements[i];
    const applied = c.elements[j];
    if (i < l.elements.length && mine === applied) {
      take(mine, l.items.get(mine), c.items.get(mine));
      i++;
      j++;
      due = shared.shift();
      continue;
    }
    if (i < l.elements.length && j < c.elements.length && c.items.has(mine) && due !== undefined && due !== mine) {
      i++;
      continue;
    }
    if (i < l.elements.length && !c.items.has(mine)) {
      take(mine, live[i], undefined);
      i++;
      continue;
    }
    if (i < l.elements.length && merged.has(mine)) i++;
    if (j < c.elements.length) {
      take(applied, l.items.get(applied), c.items.get(applied));
      j++;
      if (due === applied) due = shared.shift();
    }
  }
  return out.length === 0 ? undefined : out;
}

/** The value without the fields of the set. What becomes empty becomes null. */
export function removeFields(type: Typed, value: unknown, fields: FieldSet): unknown {
  if (isEmptySet(fields)) return value;
  switch (type.kind) {
    case 'struct':
    case 'map': {
      if (type.atomic || !isPlain(value)) return null;
      const result: Plain = {};
      for (const key of Object.keys(value)) {
        const kept = removeChild(childType(type, key), value[key], own(fields, `f:${key}`));
        if (kept !== undefined) setOwn(result, key, kept);
      }
      return isEmptyObject(result) ? null : result;
    }
    case 'list': {
      if (type.relation === 'atomic' || !Array.isArray(value)) return null;
      const items = value
        .map((item) => removeChild(type.of, item, own(fields, itemElement(type, item))))
        .filter((item) => item !== undefined);
      return items.length === 0 ? null : items;
    }
    default:
      return null;
  }
}

/** undefined when the child goes as a whole. */
function removeChild(type: Typed | undefined, value: unknown, node: FieldSet | undefined): unknown {
  if (node === undefined || type === undefined) return value;
  if (isMember(node)) return undefined;
  return hasChildren(node) ? removeFields(type, value, node) : value;
}

/**
 * The set with every declared struct member on the way to its paths: `.spec.replicas` adds `.spec`. Keys of maps and list items are not added.
 */
export function withNamedParents(type: Typed | undefined, set: FieldSet): FieldSet {
  const result: Record<string, FieldSet> = {};
  for (const element of Object.keys(set)) {
    if (element === '.') {
      result['.'] = set['.'];
      continue;
    }
    const node = set[element];
    const inner = withNamedParents(elementType(type, element), node);
    const named = type?.kind === 'struct' && membersOf(type.schema).byElement.has(element);
    result[element] = named && hasChildren(inner) && !Object.hasOwn(inner, '.') ? { '.': {}, ...inner } : inner;
  }
  return result;
}

/** Stands for an item that has no name: it is no field of anybody, but the list is there. */
const NAMELESS = '?:';

/** What was applied has been validated; a half pruned object may hold items that have no name any more. */
function elementOf(list: TypedList, item: unknown): string {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (error instanceof TypedError) return NAMELESS;
    throw error;
  }
}

export function elementType(type: Typed | undefined, element: string): Typed | undefined {
  if (type?.kind === 'struct') return membersOf(type.schema).byElement.get(element)?.type;
  if (type?.kind === 'map') return element.startsWith('f:') ? type.of : undefined;
  return type?.kind === 'list' && element.startsWith('k:') ? type.of : undefined;
}

/** The type of a member; undefined where the struct does not have it. */
function childType(type: Extract<Typed, { kind: 'struct' | 'map' }>, key: string): Typed | undefined {
  return type.kind === 'map' ? type.of : membersOf(type.schema).byName.get(key)?.type;
}

function own(set: FieldSet, element: string): FieldSet | undefined {
  return Object.hasOwn(set, element) ? set[element] : undefined;
}

function isEmptyMap(value: unknown): boolean {
  return !isPlain(value) || isEmptyObject(value);
}

function isEmptyList(value: unknown): boolean {
  return !Array.isArray(value) || value.length === 0;
}
