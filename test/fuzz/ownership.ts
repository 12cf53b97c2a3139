/**
 * Ownership of objects of any built-in kind, against a small model of its own: the leaves of an object, each with its owners. A plain write gives what it
 * changes to its writer alone and leaves all else as it was; what an applier owns, taken out of the object and applied again, changes nothing.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parentEntries, scaleEntries } from '../../apiserver/managedfields/scale.ts';
import { OwnedObject } from '../../apiserver/managedfields/testing/owned-object.ts';
import { decodeObject } from '../../machinery/api/decode.ts';
import { encodeAny, encodeObject, parseJson } from '../../machinery/api/json.ts';
import { type Plain, setOwn } from '../../machinery/api/plain.ts';
import { builtinResources } from '../../machinery/api/schema/resources.ts';
import { type FieldSchema, type TypeRef, type TypeSchema, typeSchema } from '../../machinery/api/schema/schema.ts';
import { StatusError } from '../../machinery/api/status.ts';
import type { ManagedFieldsEntry } from '../../machinery/api/types/meta.v1.ts';
import { asParsed, filledDeployment, objectOf } from './arbitraries.ts';
import { accepted, type FuzzProperty, property } from './property.ts';

/** The text of a path to the text of the value there. Lists that cannot be read by key (a key twice, or none) make the whole object unfit. */
type Leaves = Map<string, string>;
class Unfit extends Error {}

const SERVER_KEPT = new Set([
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'generation',
  'managedFields',
  'resourceVersion',
]);

const NO_FIELD: Partial<FieldSchema> = {};

class LeafFinder {
  readonly leaves: Leaves = new Map();

  visit(type: TypeRef, value: unknown, path: readonly string[], field: Partial<FieldSchema> = NO_FIELD): void {
    if (value === undefined) return;
    if (type.kind === 'struct' && type.schema.custom === undefined && (field.mapType ?? type.schema.mapType) !== 'atomic') {
      for (const [name, member] of Object.entries(value ?? {})) this.#member(type.schema, [...path, `f:${name}`], member);
    } else if (type.kind === 'map' && field.mapType !== 'atomic') {
      for (const [name, member] of Object.entries(value ?? {})) this.visit(type.of, member, [...path, `f:${name}`]);
    } else if (type.kind === 'list' && (field.listType === 'map' || field.listType === 'set')) {
      this.#items(type.of, field, (value ?? []) as unknown[], path);
    } else this.leaves.set(JSON.stringify(path), encodeAny(value).toString());
  }

  #member(schema: TypeSchema, path: readonly string[], value: unknown): void {
    const name = path.at(-1)!.slice(2);
    if (path.length === 1 && (name === 'apiVersion' || name === 'kind')) return;
    if (path.length === 2 && path[0] === 'f:metadata' && SERVER_KEPT.has(name)) return;
    const field = schema.member(name)!;
    this.visit(field.type, value, path, field);
  }

  #items(of: TypeRef, field: Partial<FieldSchema>, items: readonly unknown[], path: readonly string[]): void {
    const seen = new Set<string>();
    for (const item of items) {
      const name = field.listType === 'set' ? `v:${encodeAny(item)}` : `k:${keyOf(of, field, item as Plain)}`;
      if (seen.has(name)) throw new Unfit(`${name} twice`);
      seen.add(name);
      if (field.listType === 'set') this.leaves.set(JSON.stringify([...path, name]), '');
      else this.visit(of, item, [...path, name]);
    }
  }
}

function keyOf(of: TypeRef, { listMapKeys = [] }: Partial<FieldSchema>, item: Plain): string {
  const entries = [...listMapKeys]
    .sort()
    .map((key) => [key, item[key] ?? (of.kind === 'struct' ? of.schema.member(key)?.default : undefined)]);
  if (entries.some(([, value]) => value === undefined)) throw new Unfit('a key is missing');
  return encodeAny(Object.fromEntries(entries)).toString();
}

function leavesOf(schema: TypeSchema, object: object): Leaves {
  const finder = new LeafFinder();
  finder.visit({ kind: 'struct', schema }, object, []);
  return finder.leaves;
}

/** True for a path that a fieldsV1 names. */
function names(fields: unknown, path: readonly string[]): boolean {
  const node = path.reduce<unknown>((at, element) => Object.getOwnPropertyDescriptor(at ?? {}, element)?.value, fields);
  return node !== undefined && (Object.keys(node as object).length === 0 || Object.hasOwn(node as object, '.'));
}

const ownersOf = ({ live }: OwnedObject, path: readonly string[]): string[] =>
  (live?.metadata.managedFields ?? []).filter((e) => names(e.fieldsV1, path)).map((e) => `${e.manager} ${e.operation}`);

/** As it is stored: printed, and read again. */
function stored(schema: TypeSchema, object: Plain): Plain {
  const { status: _, ...asked } = parseJson(encodeObject(schema, decodeObject(schema, object, { strict: false }).object)).value as Plain;
  return asked;
}

const KINDS = builtinResources()
  .filter((r) => typeSchema(r.type).member('metadata') !== undefined && r.verbs.includes('update'))
  .map((r) => r.type);
const writes = fc
  .constantFrom(...KINDS)
  .chain((type) =>
    fc
      .array(fc.tuple(fc.constantFrom('alpha', 'beta', 'gamma'), objectOf(typeSchema(type), 5)), { minLength: 2, maxLength: 5 })
      .map((steps) => ({ type, steps })),
  );

function checkWrite(schema: TypeSchema, object: OwnedObject, manager: string, next: Plain): void {
  // What Go prints of an object in which nothing is set is there before anybody writes.
  const before = leavesOf(schema, object.live ?? stored(schema, {}));
  const owners = new Map([...before.keys()].map((path) => [path, ownersOf(object, JSON.parse(path))]));
  const after = leavesOf(schema, stored(schema, next));
  object.put(manager, next);
  for (const [text, value] of after) {
    const path = JSON.parse(text);
    const expected = before.get(text) === value ? owners.get(text)! : [`${manager} Update`];
    assert.deepEqual(ownersOf(object, path), expected, `${manager} wrote ${text}`);
  }
  for (const text of before.keys()) {
    if (!after.has(text)) assert.deepEqual(ownersOf(object, JSON.parse(text)), [], `${text} is gone and still owned`);
  }
}

/** What a fieldsV1 names, taken out of the object. */
function extract(fields: Plain, value: unknown): unknown {
  const elements = Object.keys(fields).filter((element) => element !== '.');
  if (elements.length === 0) return value;
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const element = elements.find((e) => (e.startsWith('v:') ? JSON.parse(e.slice(2)) === item : hasKeys(item, JSON.parse(e.slice(2)))));
      return element === undefined ? [] : [element.startsWith('v:') ? item : extract(fields[element] as Plain, item)];
    });
  }
  const result: Plain = {};
  for (const element of elements) {
    const name = element.slice(2);
    const member = Object.getOwnPropertyDescriptor(value, name)?.value;
    if (member !== undefined) setOwn(result, name, extract(fields[element] as Plain, member));
  }
  return result;
}
const hasKeys = (item: unknown, keys: Plain): boolean => Object.entries(keys).every(([key, value]) => (item as Plain)[key] === value);

const entry = fc.record({
  manager: fc.constantFrom('a', 'b', 'c'),
  // Updaters are known by the version they wrote in, which is that of the Scale there: upstream takes them for others.
  operation: fc.constant('Apply'),
  apiVersion: fc.constant('apps/v1'),
  fieldsType: fc.constant('FieldsV1'),
  fieldsV1: fc.constantFrom(
    { 'f:spec': { 'f:replicas': {} } },
    { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } },
    { 'f:spec': { 'f:paused': {} } },
  ),
});

export const ownershipProperties: readonly FuzzProperty[] = [
  property(
    'a write of any kind gives what it changes to its writer alone, and nothing else changes hands',
    writes,
    ({ type, steps }) => {
      const schema = typeSchema(type);
      const object = new OwnedObject(type);
      for (const [manager, body] of steps) {
        // The first write of all that has something to own is what starts the tracking.
        if (object.live !== undefined && object.live.metadata.managedFields === undefined) return;
        const next = stored(schema, body as Plain);
        const managedFields = object.live?.metadata.managedFields;
        const metadata = { ...(next['metadata'] as object), name: 'a', ...(managedFields && { managedFields }) };
        try {
          checkWrite(schema, object, manager, { ...next, metadata });
        } catch (error) {
          if (error instanceof Unfit) return;
          throw error;
        }
      }
    },
    { runs: 300 },
  ),
  property(
    'what an applier owns, taken out of the object and applied again, changes nothing',
    fc.tuple(filledDeployment, filledDeployment, fc.boolean()),
    ([base, config, force]) => {
      const object = new OwnedObject('apps.v1.Deployment').put('alpha', asParsed(base) as Plain);
      if (accepted(() => object.apply('beta', asParsed(config) as Plain, { force }), StatusError) === undefined) return;
      const own = object.live!.metadata.managedFields?.find((e) => e.operation === 'Apply');
      if (own === undefined) return;
      const before = [object.live, object.owners].map((part) => JSON.stringify(part));
      object.apply('beta', extract(own.fieldsV1 as Plain, object.live) as Plain);
      assert.deepEqual(
        [object.live, object.owners].map((part) => JSON.stringify(part)),
        before,
      );
    },
    { runs: 200 },
  ),
  property(
    'ownership seen through a Scale and written back unchanged is what it was',
    fc.uniqueArray(entry, { maxLength: 5, selector: (e) => `${e.manager} ${e.operation}` }),
    (entries) => {
      const parent = {
        entries: entries as ManagedFieldsEntry[],
        apiVersion: 'apps/v1',
        replicasPath: (version: string) => (version === 'apps/v1' ? ['f:spec', 'f:replicas'] : undefined),
      };
      const text = (of: readonly ManagedFieldsEntry[] | undefined): string[] => (of ?? []).map((e) => JSON.stringify(e)).sort();
      const seen = scaleEntries(parent);
      assert.equal(seen?.length ?? 0, entries.filter((e) => 'f:replicas' in e.fieldsV1['f:spec']).length);
      const sortedKeys = (e: ManagedFieldsEntry): ManagedFieldsEntry => Object.fromEntries(Object.entries(e).sort()) as ManagedFieldsEntry;
      assert.deepEqual(text(parentEntries(parent, seen)?.map(sortedKeys)), text(parent.entries.map(sortedKeys)));
    },
  ),
];
