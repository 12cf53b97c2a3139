/**
 * Which fields one state of an object has added, removed or changed against another. Mirrors structured-merge-diff `typed/compare.go`.
 * This runs on every write, so equal parts are passed over without looking at their fields, and the sets are made on the way back up.
 */
import { isPlain, type Plain } from '../../machinery/api/plain.ts';
import { sameJson, sameTyped } from './equal.ts';
import { EMPTY_SET, type FieldSet, isMember } from './field-set.ts';
import { EMPTY, hasNameless, isEmptyObject, itemElement, membersOf, type Typed, type TypedList, type TypedStruct } from './typed.ts';

export interface Comparison {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

/** `printed`: built-in kinds, compared by what Go would print. `literal`: values as they are written. */
export type Reading = 'printed' | 'literal';

export interface States {
  readonly before: unknown;
  readonly after: unknown;
  readonly reading: Reading;
}

/** Members of `reset` may be left out of the result, with all that is below them. */
export function compare(type: Typed, { before, after, reading }: States, reset: FieldSet = EMPTY_SET): Comparison {
  // A write that changes nothing at all is rare: the root is not compared as a whole.
  const { added, removed, modified } = new Comparer(reading === 'printed').parts(type, before, after, reset);
  return { added: added ?? EMPTY_SET, removed: removed ?? EMPTY_SET, modified: modified ?? EMPTY_SET };
}

type Building = Record<string, FieldSet>;

/** What changed at one node and below it; undefined for nothing. */
class Changes {
  added: Building | undefined = undefined;
  removed: Building | undefined = undefined;
  modified: Building | undefined = undefined;

  put(change: keyof Comparison, element: string, set: FieldSet | undefined): void {
    if (set === undefined) return;
    this[change] ??= {};
    this[change][element] = set;
  }

  get any(): boolean {
    return this.added !== undefined || this.removed !== undefined || this.modified !== undefined;
  }
}

const NONE = new Changes();
const CHANGED_LEAF = new Changes();
CHANGED_LEAF.modified = EMPTY_SET as Building;
const LEAF: Typed = { kind: 'any' };

class Comparer {
  readonly #printed: boolean;

  constructor(printed: boolean) {
    this.#printed = printed;
  }

  /** Compares part by part. Nothing and empty are leaves, as atomic values are: that keeps them apart. */
  parts(type: Typed, before: unknown, after: unknown, reset: FieldSet): Changes {
    if (this.#isLeaf(type, before) && this.#isLeaf(type, after)) {
      return (this.#printed ? sameTyped(type, before, after) : sameJson(before, after)) ? NONE : CHANGED_LEAF;
    }
    const changes = new Changes();
    if (type.kind === 'struct') this.#struct(changes, type, [before, after], reset);
    else if (type.kind === 'map') {
      eachKey(plainOf(before), plainOf(after), (key, x, y) => this.#child(changes, `f:${key}`, type.of, [x, y]));
    } else if (type.kind === 'list') this.#list(changes, type, listOf(before), listOf(after));
    return changes.any ? changes : NONE;
  }

  #isLeaf(type: Typed, value: unknown): boolean {
    switch (type.kind) {
      case 'struct':
        return type.atomic || this.#isEmptyStruct(type, value);
      case 'map':
        return type.atomic || !isPlain(value) || isEmptyObject(value);
      case 'list':
        return type.relation === 'atomic' || !Array.isArray(value) || value.length === 0;
      default:
        return true;
    }
  }

  #isEmptyStruct({ schema }: TypedStruct, value: unknown): boolean {
    if (!isPlain(value)) return true;
    if (!this.#printed) return isEmptyObject(value);
    for (const { name, view } of membersOf(schema).list) if (view(value[name]) !== undefined) return false;
    return true;
  }

  #struct(changes: Changes, { schema }: TypedStruct, [before, after]: readonly [unknown, unknown], reset: FieldSet): void {
    const { inOrder, byName } = membersOf(schema);
    const b = plainOf(before);
    const a = plainOf(after);
    if (!this.#printed) {
      eachKey(b, a, (key, x, y) => {
        const member = byName.get(key);
        if (member !== undefined) this.#child(changes, member.element, member.type, [x, y]);
      });
      return;
    }
    const [wasThere, isThere] = [isPlain(before), isPlain(after)];
    for (const { name, element, type, view } of inOrder) {
      const x = wasThere ? view(b[name]) : undefined;
      const y = isThere ? view(a[name]) : undefined;
      if (x === y) continue;
      const inner = reset === EMPTY_SET ? undefined : reset[element];
      if (inner === undefined || !isMember(inner)) this.#child(changes, element, type, [x, y], inner);
      // What cannot be read as a whole is told from what has not changed.
      else if (hasNameless(type)) this.#child(changes, element, type, [x, y]);
    }
  }

  #list(changes: Changes, type: TypedList, before: readonly unknown[], after: readonly unknown[]): void {
    const b = this.#itemsByElement(type, before);
    const a = this.#itemsByElement(type, after);
    for (const [element, items] of b) this.#items(changes, type, element, [items, a.get(element) ?? []]);
    for (const [element, items] of a) if (!b.has(element)) this.#items(changes, type, element, [[], items]);
  }

  /** Items of one name. Several of them, which a set or keyed list should not have, count as one value. */
  #items(changes: Changes, type: TypedList, element: string, [before, after]: readonly [readonly unknown[], readonly unknown[]]): void {
    if (before.length <= 1 && after.length <= 1) {
      this.#child(changes, element, type.of, [before[0], after[0]]);
    } else if (before.length >= 2 && after.length >= 2) {
      if (!sameJson(before, after)) changes.put('modified', element, EMPTY_SET);
    } else if (before.length >= 2) {
      if (after.length === 1) this.#child(changes, element, type.of, [undefined, after[0]]);
      changes.put('removed', element, EMPTY_SET);
    } else {
      if (before.length === 1) this.#child(changes, element, type.of, [before[0], undefined]);
      changes.put('added', element, EMPTY_SET);
    }
  }

  #itemsByElement(type: TypedList, items: readonly unknown[]): Map<string, unknown[]> {
    const byElement = new Map<string, unknown[]>();
    for (const item of items) {
      const element = itemElement(type, item, this.#printed);
      const known = byElement.get(element);
      if (known === undefined) byElement.set(element, [item]);
      else known.push(item);
    }
    return byElement;
  }

  /** undefined means absent. */
  #child(changes: Changes, element: string, type: Typed, [before, after]: readonly [unknown, unknown], reset = EMPTY_SET): void {
    if (before === undefined) {
      if (after !== undefined) changes.put('added', element, this.#whole(type, after));
    } else if (after === undefined) changes.put('removed', element, this.#whole(type, before));
    else if (before !== after && !sameJson(before, after)) {
      const { added, removed, modified } = this.parts(type, before, after, reset);
      changes.put('added', element, added);
      changes.put('removed', element, removed);
      changes.put('modified', element, modified);
    }
  }

  /** The set of a value that is new or gone: itself and all its parts. */
  #whole(type: Typed, value: unknown): FieldSet {
    if (this.#isLeaf(type, value)) return EMPTY_SET;
    const set: Building = { '.': EMPTY_SET };
    let empty = true;
    const put = (element: string, inner: Typed, part: unknown): void => {
      if (part === undefined) return;
      set[element] = this.#whole(inner, part);
      empty = false;
    };
    if (type.kind === 'struct') this.#eachMember(type, value as Plain, put);
    else if (type.kind === 'map') for (const key of Object.keys(value as Plain)) put(`f:${key}`, type.of, (value as Plain)[key]);
    else if (type.kind === 'list')
      for (const [element, items] of this.#itemsByElement(type, listOf(value))) put(element, items.length === 1 ? type.of : LEAF, items[0]);
    return empty ? EMPTY_SET : set;
  }

  #eachMember({ schema }: TypedStruct, object: Plain, visit: (element: string, type: Typed, part: unknown) => void): void {
    const { inOrder, byName } = membersOf(schema);
    if (this.#printed) {
      for (const { name, element, type, view } of inOrder) visit(element, type, view(object[name]));
      return;
    }
    for (const key of Object.keys(object)) {
      const member = byName.get(key);
      if (member !== undefined) visit(member.element, member.type, object[key]);
    }
  }
}

function eachKey(before: Plain, after: Plain, visit: (key: string, before: unknown, after: unknown) => void): void {
  for (const key of Object.keys(before)) visit(key, before[key], Object.hasOwn(after, key) ? after[key] : undefined);
  for (const key of Object.keys(after)) if (!Object.hasOwn(before, key)) visit(key, undefined, after[key]);
}

const plainOf = (value: unknown): Plain => (isPlain(value) ? value : EMPTY);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
