/**
 * Server-side apply: idempotent; ownership is never lost or invented. Several managers apply, force, update and give up; after each write what is
 * owned is compared with the object and with what the writer sent.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { OwnedObject } from '../../apiserver/managedfields/testing/owned-object.ts';
import { encodeObject } from '../../machinery/api/json.ts';
import type { Plain } from '../../machinery/api/plain.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { StatusError } from '../../machinery/api/status.ts';
import type { ManagedFieldsEntry } from '../../machinery/api/types/meta.v1.ts';
import { asParsed, filledDeployment as deployment, jsonValue } from './arbitraries.ts';
import { accepted, type FuzzProperty, property } from './property.ts';

const TYPE = 'apps.v1.Deployment';
const managers = ['alpha', 'beta', 'gamma'];

type Write =
  | { readonly kind: 'apply'; readonly manager: string; readonly force: boolean; readonly config: Plain }
  | { readonly kind: 'put'; readonly manager: string; readonly object: Plain };
const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({
    kind: fc.constant('apply' as const),
    manager: fc.constantFrom(...managers),
    force: fc.boolean(),
    config: deployment,
  }),
  fc.record({ kind: fc.constant('put' as const), manager: fc.constantFrom(...managers), object: deployment }),
);

function run(object: OwnedObject, w: Write): boolean {
  return (
    accepted(() => {
      // A PUT of an object read before: with the ownership that is stored.
      if (w.kind === 'put') object.put(w.manager, withStoredOwnership(asParsed(w.object), object));
      else object.apply(w.manager, asParsed(w.config), { force: w.force });
      return true;
    }, StatusError) ?? false
  );
}

function withStoredOwnership(next: Plain, object: OwnedObject): Plain {
  const managedFields = object.live?.metadata.managedFields;
  return managedFields === undefined ? next : { ...next, metadata: { ...(next['metadata'] as object), managedFields } };
}

const entriesOf = (object: OwnedObject): readonly ManagedFieldsEntry[] => object.live?.metadata.managedFields ?? [];
const schema = typeSchema(TYPE);
/** As it is printed, without times: a write that moves only them is dropped before it is stored. */
function snapshot({ live }: OwnedObject): string {
  if (live === undefined) return '';
  return encodeObject(schema, JSON.parse(JSON.stringify(live, (key, value) => (key === 'time' ? undefined : value)))).toString();
}

type Path = readonly string[];
/** Paths of the leaves and marked items of a fieldsV1. */
function pathsOf(fields: unknown, path: Path = []): Path[] {
  return Object.entries(fields ?? {}).flatMap(([key, inner]) => {
    if (key === '.') return [path];
    const here = [...path, key];
    return Object.keys(inner as object).length === 0 ? [here] : pathsOf(inner, here);
  });
}

/** Structs that Go prints even when nothing is set in them. */
const ALWAYS_PRINTED = new Set(['f:resources', 'f:strategy', 'f:template', 'f:metadata', 'f:spec', 'f:status']);

/**
 * Maps and lists that are a path of their own: whoever first wrote one still owns it when others emptied it, and Go does not print an empty one
 * (structured-merge-diff takes only the members away).
 */
const MAY_BE_EMPTIED = new Set(['f:labels', 'f:annotations', 'f:finalizers', 'f:matchLabels', 'f:env', 'f:ports', 'f:containers']);

/** Whether a path of a fieldsV1 leads to something in the object. */
function leads(value: unknown, path: Path): boolean {
  const [key, ...rest] = path;
  if (key === undefined || (rest.length === 0 && (ALWAYS_PRINTED.has(key) || MAY_BE_EMPTIED.has(key)))) return true;
  if (typeof value !== 'object' || value === null) return false;
  if (key.startsWith('f:')) {
    const member = Object.getOwnPropertyDescriptor(value, key.slice(2));
    return member !== undefined && leads(member.value, rest);
  }
  const wanted = JSON.parse(key.slice(2));
  if (key.startsWith('v:')) return Array.isArray(value) && value.includes(wanted);
  const keys = Object.entries(wanted as Plain);
  const item = (value as Plain[]).find((i) => keys.every(([k, v]) => i[k] === v));
  return item !== undefined && leads(item, rest);
}

/** Leaves that were sent with a value: each must be owned by its applier. */
function sentLeaves(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  if (!Array.isArray(value)) return Object.entries(value).flatMap(([k, v]) => sentLeaves(v, [...path, `f:${k}`]));
  const field = path.at(-1);
  if (field === 'f:args') return value.length === 0 ? [] : [path];
  if (field === 'f:finalizers') return value.map((v) => [...path, `v:${JSON.stringify(v)}`]);
  return value.flatMap((item) => sentLeaves(item, [...path, `k:${JSON.stringify({ name: (item as { name: string }).name })}`]));
}

function checkOwnership(object: OwnedObject, w: Write): void {
  for (const { manager, operation, fieldsV1 } of entriesOf(object)) {
    assert.ok(managers.includes(String(manager)) || manager === 'before-first-apply', `${manager} is invented`);
    for (const path of pathsOf(fieldsV1))
      assert.ok(leads(object.live, path), `${manager} ${operation} owns ${path.join(' ')}, which is not there`);
  }
  if (w.kind !== 'apply') return;
  const own = entriesOf(object).find((e) => e.manager === w.manager && e.operation === 'Apply');
  const owned = new Set(pathsOf(own?.fieldsV1).map((p) => p.join('\u0000')));
  for (const path of sentLeaves(w.config)) {
    assert.ok(owned.has(path.join('\u0000')), `${w.manager} lost ${path.join(' ')}`);
    assert.ok(leads(object.live, path), `${path.join(' ')} was applied and is not there`);
  }
}

export const applyProperties: readonly FuzzProperty[] = [
  property(
    'after any writes ownership is of what is there, and an applier owns all it sent',
    fc.array(write, { minLength: 1, maxLength: 6 }),
    (writes) => {
      const object = new OwnedObject(TYPE);
      for (const w of writes) {
        const before = snapshot(object);
        if (run(object, w)) checkOwnership(object, w);
        else assert.equal(snapshot(object), before, 'a refused write changed something');
      }
    },
    { runs: 150 },
  ),
  property(
    'applying the same again changes neither the object nor who owns what',
    fc.tuple(fc.array(write, { maxLength: 4 }), deployment),
    ([writes, config]) => {
      const object = new OwnedObject(TYPE);
      for (const w of writes) run(object, w);
      object.apply('alpha', asParsed(config), { force: true });
      const once = snapshot(object);
      object.apply('alpha', asParsed(config));
      assert.equal(snapshot(object), once);
    },
    { runs: 150 },
  ),
  property(
    'an apply takes nothing from another manager without force',
    fc.tuple(fc.array(write, { minLength: 1, maxLength: 4 }), deployment),
    ([writes, config]) => {
      const object = new OwnedObject(TYPE);
      for (const w of writes) run(object, w);
      if (object.live === undefined || entriesOf(object).length === 0) return;
      const others = (): string =>
        JSON.stringify(
          entriesOf(object)
            .filter((e) => e.manager !== 'delta')
            .map(({ manager, operation, fieldsV1 }) => [manager, operation, fieldsV1])
            .sort(),
        );
      const before = others();
      const done = run(object, { kind: 'apply', manager: 'delta', force: false, config });
      assert.equal(others(), before, done ? 'applied' : 'refused');
    },
    { runs: 150 },
  ),
  property(
    'giving up everything that one manager alone applied leaves what was there before',
    fc.tuple(deployment, deployment),
    ([base, config]) => {
      const object = new OwnedObject(TYPE).put('gamma', asParsed(base));
      const before = entriesOf(object).map((e) => [e.manager, e.operation, e.fieldsV1]);
      if (!run(object, { kind: 'apply', manager: 'alpha', force: false, config })) return;
      object.apply('alpha', {});
      assert.deepEqual(
        entriesOf(object).map((e) => [e.manager, e.operation, e.fieldsV1]),
        before,
      );
    },
    { runs: 150 },
  ),
  property(
    'a configuration of any shape applies or is refused, and changes nothing then',
    fc.tuple(deployment, fc.constantFrom('spec', 'metadata', 'status', 'data', '__proto__'), jsonValue),
    ([base, member, value]) => {
      const object = new OwnedObject(TYPE).apply('alpha', asParsed(base));
      const before = snapshot(object);
      const config = Object.fromEntries([[member, value]]) as Plain;
      const done = accepted(() => object.apply('beta', config), StatusError, Error);
      if (done === undefined) assert.equal(snapshot(object), before);
    },
    { runs: 150 },
  ),
];
