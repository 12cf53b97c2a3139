/**
 * Which fields one state of an object has added, removed or changed against another. Mirrors structured-merge-diff `typed/compare.go`.
 * This runs on every write, so equal parts are passed over without looking at their fields.
 */
import { isPlain, type Plain } from '../../machinery/api/plain.ts';
import { sameJson, sameTyped } from './equal.ts';
import { type FieldSet, SetBuilder } from './field-set.ts';
import { EMPTY, isEmptyObject, itemElement, type Member, membersOf, type Typed, type TypedList, type TypedStruct } from './typed.ts';

export interface Comparison {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

/** `printed`: built-in kinds, compared by what Go would print. `literal`: values as they are written. */
export type Reading = 'printed' | 'literal';

export function compare(type: Typed, before: unknown, after: unknown, reading: Reading): Comparison {
  const comparer = new Comparer(reading === 'printed');
  comparer.node(type, before, after);
  return { added: comparer.added.set, removed: comparer.removed.set, modified: comparer.modified.set };
}

class Comparer {
  readonly added = new SetBuilder();
  readonly removed = new SetBuilder();
  readonly modified = new SetBuilder();
  readonly #printed: boolean;
  readonly #path: string[] = [];

  constructor(printed: boolean) {
    this.#printed = printed;
  }

  /** undefined means absent. */
  node(type: Typed, before: unknown, after: unknown): void {
    if (before === after || (before !== undefined && after !== undefined && sameJson(before, after))) return;
    const leaf = !this.#parts(type, before, after);
    if (before === undefined) this.added.insert(this.#path);
    else if (after === undefined) this.removed.insert(this.#path);
    else if (leaf && !(this.#printed ? sameTyped(type, before, after) : sameJson(before, after))) this.modified.insert(this.#path);
  }

  /** Compares part by part; false for what is one leaf. Nothing and empty are leaves too: that keeps them apart. */
  #parts(type: Typed, before: unknown, after: unknown): boolean {
    switch (type.kind) {
      case 'struct':
        if (type.atomic || (this.#isEmptyStruct(type, before) && this.#isEmptyStruct(type, after))) return false;
        this.#struct(type, before, after);
        return true;
      case 'map':
        if (type.atomic || (isEmptyMap(before) && isEmptyMap(after))) return false;
        this.#map(type.of, isPlain(before) ? before : EMPTY, isPlain(after) ? after : EMPTY);
        return true;
      case 'list':
        if (type.relation === 'atomic' || (isEmptyList(before) && isEmptyList(after))) return false;
        this.#list(type, Array.isArray(before) ? before : [], Array.isArray(after) ? after : []);
        return true;
      default:
        return false;
    }
  }

  #isEmptyStruct({ schema }: TypedStruct, value: unknown): boolean {
    if (!isPlain(value)) return true;
    if (!this.#printed) return isEmptyObject(value);
    for (const { name, view } of membersOf(schema).list) if (view(value[name]) !== undefined) return false;
    return true;
  }

  #struct({ schema }: TypedStruct, before: unknown, after: unknown): void {
    const { list, byName } = membersOf(schema);
    const b = isPlain(before) ? before : EMPTY;
    const a = isPlain(after) ? after : EMPTY;
    if (!this.#printed) {
      this.#literalStruct(byName, b, a);
      return;
    }
    for (const member of list) {
      const x = b === EMPTY ? (isPlain(before) ? member.view(undefined) : undefined) : member.view(b[member.name]);
      const y = a === EMPTY ? (isPlain(after) ? member.view(undefined) : undefined) : member.view(a[member.name]);
      if (x !== y) this.#child(member.element, member.type, x, y);
    }
  }

  #literalStruct(members: ReadonlyMap<string, Member>, before: Plain, after: Plain): void {
    this.#eachKey(before, after, (key, x, y) => {
      const member = members.get(key);
      if (member !== undefined) this.#child(member.element, member.type, x, y);
    });
  }

  #map(of: Typed, before: Plain, after: Plain): void {
    this.#eachKey(before, after, (key, x, y) => this.#child(`f:${key}`, of, x, y));
  }

  #eachKey(before: Plain, after: Plain, visit: (key: string, before: unknown, after: unknown) => void): void {
    for (const key of Object.keys(before)) visit(key, before[key], Object.hasOwn(after, key) ? after[key] : undefined);
    for (const key of Object.keys(after)) if (!Object.hasOwn(before, key)) visit(key, undefined, after[key]);
  }

  #list(type: TypedList, before: readonly unknown[], after: readonly unknown[]): void {
    const b = this.#itemsByElement(type, before);
    const a = this.#itemsByElement(type, after);
    for (const [element, items] of b) this.#items(type, element, items, a.get(element) ?? []);
    for (const [element, items] of a) if (!b.has(element)) this.#items(type, element, [], items);
  }

  /** Items of one name. Several of them, which a set or keyed list should not have, count as one value. */
  #items(type: TypedList, element: string, before: readonly unknown[], after: readonly unknown[]): void {
    if (before.length <= 1 && after.length <= 1) {
      this.#child(element, type.of, before[0], after[0]);
    } else if (before.length >= 2 && after.length >= 2) {
      if (!sameJson(before, after)) this.#at(element, () => this.modified.insert(this.#path));
    } else if (before.length >= 2) {
      if (after.length === 1) this.#child(element, type.of, undefined, after[0]);
      this.#at(element, () => this.removed.insert(this.#path));
    } else {
      if (before.length === 1) this.#child(element, type.of, before[0], undefined);
      this.#at(element, () => this.added.insert(this.#path));
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

  #child(element: string, type: Typed, before: unknown, after: unknown): void {
    this.#path.push(element);
    this.node(type, before, after);
    this.#path.pop();
  }

  #at(element: string, insert: () => void): void {
    this.#path.push(element);
    insert();
    this.#path.pop();
  }
}

function isEmptyMap(value: unknown): boolean {
  return !isPlain(value) || isEmptyObject(value);
}

function isEmptyList(value: unknown): boolean {
  return !Array.isArray(value) || value.length === 0;
}
