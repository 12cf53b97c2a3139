/**
 * The view that ownership has of a type: what is one leaf (scalars, atomic lists and maps), what is owned part by part, and how list items are
 * named. Mirrors structured-merge-diff `schema` and `value`: the value of a built-in kind is what Go would print of it, so a struct that
 * cannot be left out is there even when nobody has set it, and an empty list that can be left out is not.
 */
import { quoteJson } from '../../machinery/api/json-encoder.ts';
import { isJsonNumber, numberText } from '../../machinery/api/json-number.ts';
import { isPlain, type Plain, setOwn } from '../../machinery/api/plain.ts';
import type { FieldSchema, Scalar, TypeRef, TypeSchema } from '../../machinery/api/schema/schema.ts';

export type ScalarCheck = 'string' | 'numeric' | 'boolean' | 'untyped';

export type Typed =
  | { readonly kind: 'scalar'; readonly check: ScalarCheck }
  /** One leaf, whatever it holds. */
  | { readonly kind: 'any' }
  | { readonly kind: 'struct'; readonly atomic: boolean; readonly schema: TypeSchema }
  | { readonly kind: 'map'; readonly atomic: boolean; readonly of: Typed }
  | { readonly kind: 'list'; readonly relation: 'atomic' | 'set' | 'map'; readonly keys: readonly ListKey[]; readonly of: Typed };

export type TypedList = Extract<Typed, { kind: 'list' }>;
export type TypedStruct = Extract<Typed, { kind: 'struct' }>;

interface ListKey {
  readonly name: string;
  /** Stands for the key where an item leaves it out. */
  readonly default: unknown;
  /** As Go would print it; undefined when Go would leave it out. */
  view(value: unknown): unknown;
}

export interface Member {
  readonly name: string;
  /** Its path element. */
  readonly element: string;
  readonly type: Typed;
  /** The value as Go would print it; undefined when Go would leave it out. */
  view(value: unknown): unknown;
}

/** What a value of the wrong shape is reported as; `path` is put in front by whoever knows it. */
export class TypedError extends Error {}

export interface StructMembers {
  /** As Go prints them. */
  readonly list: readonly Member[];
  /** In the order of their elements, which field sets are stored in. */
  readonly inOrder: readonly Member[];
  readonly byName: ReadonlyMap<string, Member>;
  readonly byElement: ReadonlyMap<string, Member>;
}

const structs = new WeakMap<TypeSchema, StructMembers>();

export function membersOf(schema: TypeSchema): StructMembers {
  let members = structs.get(schema);
  if (members === undefined) {
    const list = schema.members.map(memberOf);
    const inOrder = [...list].sort((a, b) => (a.element < b.element ? -1 : 1));
    const by = (key: 'name' | 'element'): ReadonlyMap<string, Member> => new Map(list.map((member) => [member[key], member]));
    members = { list, inOrder, byName: by('name'), byElement: by('element') };
    structs.set(schema, members);
  }
  return members;
}

export function typedStruct(schema: TypeSchema, mapType?: string): Typed {
  if (schema.custom !== undefined) return { kind: 'any' };
  return { kind: 'struct', atomic: (mapType ?? schema.mapType) === 'atomic', schema };
}

function memberOf(field: FieldSchema): Member {
  const { name, type } = field;
  return { name, element: `f:${name}`, type: typedField(field), view: viewOf(field, type) };
}

function typedField(field: FieldSchema): Typed {
  const { type } = field;
  switch (type.kind) {
    case 'struct':
      return typedStruct(type.schema, field.mapType);
    case 'map':
      return { kind: 'map', atomic: field.mapType === 'atomic', of: typedItem(type.of) };
    case 'list':
      return { kind: 'list', relation: field.listType ?? 'atomic', keys: keysOf(field, type.of), of: typedItem(type.of) };
    default:
      return typedScalar(type.scalar);
  }
}

/** Items and map values have no markers of their own. */
function typedItem(type: TypeRef): Typed {
  switch (type.kind) {
    case 'struct':
      return typedStruct(type.schema);
    case 'map':
      return { kind: 'map', atomic: false, of: typedItem(type.of) };
    case 'list':
      return { kind: 'list', relation: 'atomic', keys: [], of: typedItem(type.of) };
    default:
      return typedScalar(type.scalar);
  }
}

const CHECKS: Partial<Record<Scalar, ScalarCheck>> = {
  string: 'string',
  bytes: 'string',
  time: 'string',
  microTime: 'string',
  duration: 'string',
  bool: 'boolean',
  int32: 'numeric',
  int64: 'numeric',
  double: 'numeric',
  quantity: 'untyped',
  intOrString: 'untyped',
};

function typedScalar(scalar: Scalar): Typed {
  const check = CHECKS[scalar];
  return check === undefined ? { kind: 'any' } : { kind: 'scalar', check };
}

function keysOf(field: FieldSchema, of: TypeRef): readonly ListKey[] {
  if (field.listType !== 'map' || of.kind !== 'struct') return [];
  return [...(field.listMapKeys ?? [])].sort().map((name) => {
    const member = of.schema.member(name);
    return { name, default: member?.default, view: member === undefined ? (value) => value : viewOf(member, member.type) };
  });
}

const ZEROS: Record<Scalar, unknown> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  bytes: null,
  any: null,
  time: null,
  microTime: null,
  duration: '0s',
  quantity: '0',
  intOrString: 0,
  rawExtension: null,
  fieldsV1: null,
  json: null,
};

const OMITTED_WHEN_ZERO: ReadonlySet<Scalar> = new Set<Scalar>(['string', 'bool', 'int32', 'int64', 'double', 'bytes', 'any']);

function viewOf(field: FieldSchema, type: TypeRef): (value: unknown) => unknown {
  if (field.pointer) return field.omitEmpty ? (value) => value ?? undefined : (value) => value ?? null;
  if (field.omitZero) return (value) => (isZero(value) ? undefined : value);
  const zero = zeroOf(type);
  const canBeLeftOut =
    field.omitEmpty && (type.kind === 'list' || type.kind === 'map' || (type.kind === 'scalar' && OMITTED_WHEN_ZERO.has(type.scalar)));
  return canBeLeftOut ? (value) => (isZero(value) ? undefined : value) : (value) => value ?? zero;
}

function zeroOf(type: TypeRef): unknown {
  if (type.kind === 'struct') return type.schema.custom === undefined ? EMPTY : null;
  return type.kind === 'scalar' ? ZEROS[type.scalar] : null;
}

export const EMPTY: Plain = Object.freeze({});

function isZero(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === 0n || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isPlain(value) && isEmptyObject(value);
}

export function isEmptyObject(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

const nameless = new WeakMap<TypeSchema, boolean>();

/** Whether a value of the type can have a list item that has no name (see `itemElement`). */
export function hasNameless(type: Typed): boolean {
  if (type.kind === 'map') return hasNameless(type.of);
  if (type.kind === 'list') return hasNameless(type.of) || !alwaysNamed(type);
  if (type.kind !== 'struct') return false;
  let known = nameless.get(type.schema);
  if (known === undefined) {
    nameless.set(type.schema, false); // for types that contain themselves
    known = membersOf(type.schema).list.some((member) => hasNameless(member.type));
    nameless.set(type.schema, known);
  }
  return known;
}

function alwaysNamed({ relation, keys, of }: TypedList): boolean {
  if (relation === 'map') return of.kind === 'struct' && keys.some((key) => (key.view(undefined) ?? key.default) !== undefined);
  return relation === 'atomic' || of.kind === 'scalar';
}

/** The object as Go would print it: a copy with every member that cannot be left out, without those that would be. */
export function printedView(type: Typed, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  switch (type.kind) {
    case 'struct': {
      if (!isPlain(value)) return value;
      const result: Plain = {};
      for (const { name, type: inner, view } of membersOf(type.schema).list) {
        const member = view(value[name]);
        if (member !== undefined) result[name] = printedView(inner, member);
      }
      return result;
    }
    case 'map': {
      if (!isPlain(value)) return value;
      const result: Plain = {};
      for (const key of Object.keys(value)) setOwn(result, key, printedView(type.of, value[key]));
      return result;
    }
    case 'list':
      return Array.isArray(value) ? value.map((item) => printedView(type.of, item)) : value;
    default:
      return value;
  }
}

/**
 * The path element of a list item. `printed` reads keys as Go would print them: an empty one that can be left out counts as left out.
 * Throws TypedError when the item cannot have one.
 */
export function itemElement(list: TypedList, item: unknown, printed = false): string {
  return list.relation === 'set' ? valueElement(item) : keyElement(list.keys, item, printed);
}

function keyElement(keys: readonly ListKey[], item: unknown, printed: boolean): string {
  if (item === null || item === undefined) throw new TypedError('associative list with keys may not have a null element');
  if (!isPlain(item)) throw new TypedError('associative list with keys may not have non-map elements');
  let text = '';
  for (const key of keys) {
    const own = Object.hasOwn(item, key.name) ? item[key.name] : undefined;
    const value = (printed ? key.view(own) : own) ?? (own === null && !printed ? null : key.default);
    // A key that is left out is no part of the name (ResourceClaim status.devices: shareID).
    if (value === undefined) continue;
    text += `${text === '' ? '' : ','}${quoteJson(key.name)}:${scalarText(value)}`;
  }
  if (text === '') {
    const names = keys.map(({ name }) => quoteJson(name)).join(' ');
    throw new TypedError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return `k:{${text}}`;
}

function valueElement(item: unknown): string {
  if (item === null || item === undefined) throw new TypedError("associative list without keys has an element that's an explicit null");
  if (Array.isArray(item)) throw new TypedError('not supported: associative list with lists as elements');
  if (isPlain(item)) throw new TypedError("associative list without keys has an element that's a map type");
  return `v:${scalarText(item)}`;
}

function scalarText(value: unknown): string {
  if (typeof value === 'string') return quoteJson(value);
  return isJsonNumber(value) ? numberText(value) : (JSON.stringify(value) ?? 'null');
}
