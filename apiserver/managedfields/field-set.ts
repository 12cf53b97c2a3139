/**
 * Sets of field paths, in the form they are stored in (FieldsV1). Mirrors structured-merge-diff `fieldpath.Set`.
 *
 * A set is a tree of path elements: `f:name` a member, `k:{"name":"x"}` a list item by its keys, `v:"x"` an item by its value. A node without
 * children is in the set; a node with children is in it only when it also has `.`:
 *
 *   {"f:data": {".": {}, "f:k": {}}, "f:spec": {"f:replicas": {}}}     is     .data  .data.k  .spec.replicas     but not     .spec
 *
 * Invariant: sets are values. No function changes its arguments; results share what is unchanged.
 */

export interface FieldSet {
  readonly [element: string]: FieldSet;
}

type Building = Record<string, FieldSet>;

const LEAF: FieldSet = Object.freeze({});
export const EMPTY_SET: FieldSet = LEAF;

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** True when the node itself, not only something below it, is in the set. */
export function isMember(node: FieldSet): boolean {
  return Object.hasOwn(node, '.') || isEmptySet(node);
}

export function hasChildren(node: FieldSet): boolean {
  for (const element in node) if (element !== '.') return true;
  return false;
}

/** What is in `a` and not in `b`, path by path: taking `.data` away leaves `.data.k`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return childrenWhere(a, (element, node) => {
    const other = own(b, element);
    return other === undefined ? node : nodeOf(isMember(node) && !isMember(other), difference(childrenOf(node), childrenOf(other)));
  });
}

/** What is in `a` and neither in `b` nor below a path of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return childrenWhere(a, (element, node) => {
    const other = own(b, element);
    if (other === undefined) return node;
    return isMember(other) ? undefined : nodeOf(isMember(node), recursiveDifference(childrenOf(node), childrenOf(other)));
  });
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return childrenWhere(a, (element, node) => {
    const other = own(b, element);
    if (other === undefined) return undefined;
    return nodeOf(isMember(node) && isMember(other), intersection(childrenOf(node), childrenOf(other)));
  });
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a)) return b;
  if (isEmptySet(b)) return a;
  const result: Building = { ...a };
  for (const element of Object.keys(b)) {
    const node = own(result, element);
    const other = b[element];
    result[element] = node === undefined ? other : nodeOf(isMember(node) || isMember(other), union(childrenOf(node), childrenOf(other)))!;
  }
  return result;
}

/** True when `set` has all paths of `part`. */
export function includes(set: FieldSet, part: FieldSet): boolean {
  for (const element in part) {
    if (element === '.') continue;
    const node = own(set, element);
    if (node === undefined || (isMember(part[element]) && !isMember(node)) || !includes(node, part[element])) return false;
  }
  return true;
}

/** True when exactly this path is in the set. */
export function hasPath(set: FieldSet, path: readonly string[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = own(node, element);
    if (node === undefined) return false;
  }
  return isMember(node);
}

/** The set of one path. */
export function setOfPath(path: readonly string[]): FieldSet {
  return path.reduceRight<FieldSet>((node, element) => ({ [element]: node }), LEAF);
}

export function setOfPaths(...paths: readonly (readonly string[])[]): FieldSet {
  return paths.map(setOfPath).reduce(union, EMPTY_SET);
}

/** The same set with the elements of every node in their order: itself where they are, as in everything that was stored. */
export function sorted(set: FieldSet): FieldSet {
  if (isSorted(set)) return set;
  const elements = Object.keys(set).sort(compareElements);
  const result: Building = {};
  for (const element of elements) result[element] = isEmptySet(set[element]) ? LEAF : sorted(set[element]);
  return result;
}

function isSorted(set: FieldSet): boolean {
  let before = '';
  for (const element in set) {
    if (element < before || !isSorted(set[element])) return false;
    before = element;
  }
  return true;
}

/** True when both hold the same paths, in whatever order. */
export function sameSet(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  let more = 0;
  for (const element in a) {
    if (!Object.hasOwn(b, element) || !sameSet(a[element], b[element])) return false;
    more++;
  }
  for (const _ in b) more--;
  return more === 0;
}

/** All paths of the set, as texts of upstream's form (`.spec.containers[name="a"].image`) and in its order: what is here before what is below. */
export function pathTexts(set: FieldSet): string[] {
  const texts: string[] = [];
  const visit = (node: FieldSet, text: string): void => {
    const elements = Object.keys(node)
      .filter((element) => element !== '.')
      .sort(compareElements);
    for (const element of elements) if (isMember(node[element])) texts.push(text + elementText(element));
    for (const element of elements) visit(node[element], text + elementText(element));
  };
  visit(set, '');
  return texts;
}

/** `.name`, `[name="x"]`, `[="x"]`, `[0]`. */
export function elementText(element: string): string {
  const content = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${content}`;
    case 'k': {
      const keys = JSON.parse(content) as Record<string, unknown>;
      return `[${Object.entries(keys)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',')}]`;
    }
    case 'v':
      return `[=${content}]`;
    default:
      return `[${content}]`;
  }
}

/** True for what can be stored as FieldsV1: objects of objects whose names are path elements. */
export function isFieldSet(value: unknown): value is FieldSet {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  for (const element in value) if (!isElement(element) || !isFieldSet((value as Building)[element])) return false;
  return true;
}

/** Elements with a value in them that were found right: few texts (`k:{"type":"Ready"}`), many objects that have them. */
const knownElements = new Set<string>();
const MAX_KNOWN_ELEMENTS = 10_000;

function isElement(element: string): boolean {
  if (element === '.') return true;
  if (element[1] !== ':') return false;
  if (element[0] === 'f' || knownElements.has(element)) return true;
  if (!isValueElement(element)) return false;
  if (knownElements.size >= MAX_KNOWN_ELEMENTS) knownElements.clear();
  knownElements.add(element);
  return true;
}

function isValueElement(element: string): boolean {
  switch (element[0]) {
    case 'i':
      return /^-?\d+$/.test(element.slice(2));
    case 'k':
    case 'v':
      try {
        const content: unknown = JSON.parse(element.slice(2));
        return element[0] === 'v' || (typeof content === 'object' && content !== null && !Array.isArray(content));
      } catch {
        return false;
      }
    default:
      return false;
  }
}

/** Collects paths one by one. */
export class SetBuilder {
  readonly #root: Building = {};
  /** `path` may be changed by the caller afterwards. */
  insert(path: readonly string[]): void {
    let node = this.#root;
    for (let i = 0; i < path.length; i++) {
      const element = path[i];
      const last = i === path.length - 1;
      const existing = own(node, element) as Building | undefined;
      if (existing === undefined) {
        const child: Building = {};
        node[element] = child;
        node = child;
        (last ? this.#leaves : this.#unmarked).add(child);
      } else if (last) {
        if (this.#unmarked.delete(existing)) existing['.'] = LEAF;
      } else {
        if (this.#leaves.delete(existing)) existing['.'] = LEAF;
        node = existing;
      }
    }
  }
  /** Inner nodes that are not in the set themselves. */
  readonly #unmarked = new Set<Building>();
  /** Nodes of the set that have no children yet. (Asking a node whether it is empty costs as much as it has children.) */
  readonly #leaves = new Set<Building>();
  get set(): FieldSet {
    return this.#root;
  }
}

function own(set: FieldSet, element: string): FieldSet | undefined {
  return Object.hasOwn(set, element) ? set[element] : undefined;
}

function childrenOf(node: FieldSet): FieldSet {
  if (!Object.hasOwn(node, '.')) return node;
  const { '.': _, ...children } = node;
  return children;
}

function nodeOf(member: boolean, children: FieldSet): FieldSet | undefined {
  if (isEmptySet(children)) return member ? LEAF : undefined;
  return member ? { '.': LEAF, ...children } : children;
}

function childrenWhere(set: FieldSet, keep: (element: string, node: FieldSet) => FieldSet | undefined): FieldSet {
  const result: Building = {};
  for (const element of Object.keys(set)) {
    if (element === '.') continue;
    const node = keep(element, set[element]);
    if (node !== undefined) result[element] = node;
  }
  return result;
}

/** Names before keys before values, as upstream writes them. */
function compareElements(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
