/** The three kinds of patch against small reference models, and the computing of apply patches. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodeObject } from '../../machinery/api/decode.ts';
import { jsonPatch } from '../../machinery/api/patch/json.ts';
import { createMergePatch, createThreeWayMergePatch, mergePatch } from '../../machinery/api/patch/merge.ts';
import { createStrategicPatch, createThreeWayPatch, strategicMerge } from '../../machinery/api/patch/strategic.ts';
import type { Plain } from '../../machinery/api/plain.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { StatusError } from '../../machinery/api/status.ts';
import { asParsed, deployment, jsonObject, jsonValue } from './arbitraries.ts';
import { accepted, type FuzzProperty, property } from './property.ts';

const schema = typeSchema('apps.v1.Deployment');
const stored = (o: object): Plain => decodeObject(schema, asParsed(o), { strict: true }).object as Plain;

/** RFC 7386, section 2, on lists of entries instead of objects: it knows no prototypes. */
type Model = { entries: [string, Model][] } | { value: unknown };
function toModel(value: unknown): Model {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { value };
  return { entries: Object.entries(value).map(([k, v]) => [k, toModel(v)]) };
}
function fromModel(model: Model): unknown {
  return 'value' in model ? model.value : Object.fromEntries(model.entries.map(([k, v]) => [k, fromModel(v)]));
}
function mergeModel(target: Model, patch: Model): Model {
  if ('value' in patch) return patch;
  let entries = 'entries' in target ? [...target.entries] : [];
  for (const [key, value] of patch.entries) {
    const at = entries.findIndex(([k]) => k === key);
    if ('value' in value && value.value === null) entries = entries.filter(([k]) => k !== key);
    else if (at < 0) entries.push([key, mergeModel({ value: null }, value)]);
    else entries[at] = [key, mergeModel(entries[at]![1], value)];
  }
  return { entries };
}

/** One right operation of RFC 6902 on a document, by numbers that pick the place, and what it leads to. */
interface Step {
  readonly pick: number;
  readonly op: 'add' | 'remove' | 'replace' | 'test';
  readonly key: string;
  readonly value: unknown;
}
type Path = readonly (string | number)[];
function containersOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value) ? value.map((v, i) => [i, v]) : Object.entries(value);
  return [path, ...entries.flatMap(([k, v]) => containersOf(v, [...path, k]))];
}
const at = (value: unknown, path: Path): unknown =>
  path.reduce((v, key) => Object.getOwnPropertyDescriptor(v as object, key)!.value, value);
const pointer = (path: Path): string => path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
const define = (o: object, key: string, value: unknown): void => {
  Object.defineProperty(o, key, { value, writable: true, enumerable: true, configurable: true });
};

/** Changes the document; undefined where the step finds nothing to do. */
function applyModel(document: unknown, step: Step): { op: string; path: string; value?: unknown } | undefined {
  const paths = containersOf(document);
  const path = paths[step.pick % paths.length]!;
  const container = at(document, path) as object;
  const value = asParsed(step.value);
  if (Array.isArray(container)) {
    const index = container.length === 0 ? 0 : step.pick % container.length;
    if (step.op !== 'add' && container.length === 0) return undefined;
    const operation = { op: step.op, path: pointer([...path, index]), value: asParsed(step.op === 'test' ? container[index] : step.value) };
    if (step.op === 'add') container.splice(index, 0, value);
    else if (step.op === 'remove') container.splice(index, 1);
    else if (step.op === 'replace') container[index] = value;
    return operation;
  }
  const keys = Object.keys(container);
  const key = step.op === 'add' ? step.key : keys[step.pick % Math.max(keys.length, 1)];
  if (key === undefined) return undefined;
  const operation = { op: step.op, path: pointer([...path, key]), value: asParsed(step.op === 'test' ? at(container, [key]) : step.value) };
  if (step.op === 'remove') delete (container as Plain)[key];
  else if (step.op !== 'test') define(container, key, value);
  return operation;
}

const step: fc.Arbitrary<Step> = fc.record({
  pick: fc.nat(1000),
  op: fc.constantFrom('add', 'remove', 'replace', 'test'),
  key: fc.constantFrom('a', 'b', '~', '/', '__proto__', 'constructor', ''),
  value: jsonValue,
});
const pathText = fc
  .array(fc.constantFrom('/a', '/b', '/0', '/-', '/-1', '/01', '/__proto__', '/constructor', '~', '~1', 'a', '/'), { maxLength: 5 })
  .map((p) => p.join(''));
const operation = fc.oneof(
  fc.record(
    {
      op: fc.constantFrom<unknown>('add', 'remove', 'replace', 'move', 'copy', 'test', 'set', 1, null),
      path: pathText,
      from: pathText,
      value: jsonValue,
    },
    { requiredKeys: [] },
  ),
  jsonValue,
);

/** A strategic patch without directives, by the rules of a Deployment's fields: maps merge, lists by name merge, finalizers are a set, args are replaced. */
function strategicModel(live: unknown, patch: unknown, field = ''): unknown {
  if (Array.isArray(patch)) {
    if (field === 'finalizers') {
      const before = (live ?? []) as unknown[];
      return [...patch.filter((x) => !before.includes(x)), ...before].sort();
    }
    if (field !== 'containers' && field !== 'env') return patch;
    const before = (live ?? []) as { name: string }[];
    const of = (list: readonly unknown[], name: string): unknown => (list as { name: string }[]).find((i) => i.name === name);
    const names = [...new Set([...before, ...(patch as { name: string }[])].map((i) => i.name))].sort();
    return names.map((n) => (of(patch, n) === undefined ? of(before, n) : strategicModel(of(before, n), of(patch, n))));
  }
  if (typeof patch !== 'object' || patch === null) return patch;
  const result = { ...(live as Plain | undefined) };
  for (const [key, value] of Object.entries(patch)) result[key] = strategicModel(result[key], value, key);
  return result;
}
/** Order of merged lists is a matter of its own: here they are compared sorted. */
function sortedLists(value: unknown, field = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((v) => sortedLists(v));
    return field === 'args'
      ? items
      : items.sort((a, b) => (JSON.stringify((a as Plain)['name'] ?? a) < JSON.stringify((b as Plain)['name'] ?? b) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, sortedLists(v, k)]));
}

/** Directives and values in places where they make no sense. */
const wildPatch = fc
  .tuple(
    deployment,
    fc.constantFrom(
      '$patch',
      '$retainKeys',
      '$setElementOrder/containers',
      '$deleteFromPrimitiveList/finalizers',
      'containers',
      'spec',
      'metadata',
      '__proto__',
    ),
    fc.oneof(jsonValue, fc.constantFrom<unknown>('delete', 'replace', 'merge')),
    fc.nat(9),
  )
  .map(([base, key, value, where]) => {
    const patch = asParsed(base) as Plain;
    const places = containersOf(patch).map((path) => at(patch, path) as object);
    const place = places[where % places.length]!;
    if (Array.isArray(place)) place.push(where % 2 === 0 ? value : Object.fromEntries([[key, value]]));
    else define(place, key, value);
    return patch;
  });

export const patchProperties: readonly FuzzProperty[] = [
  property(
    'a merge patch does what RFC 7386 says, to members of any name',
    fc.tuple(jsonValue, jsonValue),
    ([original, patch]) => {
      const before = JSON.stringify([original, patch]);
      assert.deepEqual(asParsed(mergePatch(original, patch)), fromModel(mergeModel(toModel(original), toModel(patch))));
      assert.equal(JSON.stringify([original, patch]), before);
    },
    { runs: 400 },
  ),
  property('a computed merge patch leads from one object to the other', fc.tuple(jsonObject, jsonObject), ([from, to]) => {
    const reachable = mergePatch({}, to);
    assert.deepEqual(mergePatch(from, createMergePatch(from, reachable as Plain)), reachable);
  }),
  property(
    'a JSON patch does what RFC 6902 says, to members of any name',
    fc.tuple(fc.oneof(jsonObject, fc.array(jsonValue)), fc.array(step, { maxLength: 6 })),
    ([document, steps]) => {
      const expected = asParsed(document);
      const operations = steps
        .map((s) => applyModel(expected, s))
        .filter((o) => o !== undefined)
        .map(asParsed);
      const before = JSON.stringify(document);
      assert.deepEqual(jsonPatch(document, operations), expected, JSON.stringify(operations));
      assert.equal(JSON.stringify(document), before);
    },
    { runs: 400 },
  ),
  property(
    'any list of anything is a JSON patch that applies, or is refused as 400 or 422',
    fc.tuple(jsonValue, fc.array(operation, { maxLength: 4 })),
    ([document, operations]) => {
      const result = accepted(() => jsonPatch(document, operations), StatusError);
      assert.deepEqual(Object.keys(Object.prototype), []);
      if (result !== undefined) JSON.stringify(result);
    },
    { runs: 500 },
  ),
  property('a strategic patch without directives merges maps, lists by key and sets', fc.tuple(deployment, deployment), ([live, patch]) => {
    const merged = strategicMerge(schema, live, patch);
    assert.deepEqual(sortedLists(stored(merged)), sortedLists(stored(strategicModel(live, patch) as object)));
  }),
  property('a computed strategic patch leads from one object to the other', fc.tuple(deployment, deployment), ([from, to]) => {
    assert.deepEqual(stored(strategicMerge(schema, from, createStrategicPatch(schema, from, to))), stored(to));
  }),
  property(
    'applying twice changes nothing the second time',
    fc.tuple(deployment, deployment, deployment),
    ([original, modified, current]) => {
      const live = strategicMerge(schema, current, createThreeWayPatch(schema, original, modified, current));
      const again = strategicMerge(schema, live, createThreeWayPatch(schema, modified, modified, live));
      assert.deepEqual(stored(again), stored(live));
      const merged = mergePatch(current, createThreeWayMergePatch(original as Plain, modified as Plain, current as Plain)) as Plain;
      assert.deepEqual(createThreeWayMergePatch(modified as Plain, modified as Plain, asParsed(merged)), {});
    },
  ),
  property(
    'any strategic patch applies or is refused, and leaves the live object as it was',
    fc.tuple(deployment, fc.oneof(wildPatch, jsonObject)),
    ([live, patch]) => {
      const before = JSON.stringify([live, patch]);
      accepted(() => strategicMerge(schema, live, patch), StatusError);
      assert.equal(JSON.stringify([live, patch]), before);
      assert.deepEqual(Object.keys(Object.prototype), []);
    },
    { runs: 400 },
  ),
];
