/**
 * What must hold for reads: nothing read was lost (D2), real time is respected (D6, R1), lists are snapshots (R5, R6). Each check is a pure function to
 * the violations in words.
 */
import { acknowledged, type GetOp, isWrite, type ListOp, type Operation, type Seen, type WriteOp } from './history.ts';
import type { Model } from './model.ts';

/** D2: whatever a get, list or watch showed is in the ground truth, at that revision and with that content. */
export function readDurable(operations: readonly Operation[], model: Model): string[] {
  const check = (client: string, how: string, { key, revision, uid, hash }: Seen): string[] => {
    const stored = model.at(revision);
    if (stored?.key === key && stored.hash === hash && stored.uid === uid) return [];
    return [
      `${client}: a ${how} showed ${key} at revision ${revision}, ${stored ? `which is ${stored.key} ${stored.hash}` : 'which is nowhere'}`,
    ];
  };
  return operations.flatMap((op) => {
    if (op.op === 'get' && op.seen) return check(op.client, 'get', op.seen);
    if (op.op === 'list') return op.pages.flatMap(({ items }) => items.flatMap((item) => check(op.client, 'list', item)));
    if (op.op !== 'watch') return [];
    // a deletion may show an old state at the revision that took it out of a selector: its content is judged with the watch
    return op.events.flatMap((event) => {
      if (event.type === 'BOOKMARK')
        return event.revision > model.newest ? [`${op.client}: a bookmark names revision ${event.revision}`] : [];
      return event.type === 'DELETED' && model.at(event.revision)?.key === event.key ? [] : check(op.client, 'watch', event);
    });
  });
}

/** The revisions at which a request may have been served. */
interface Moment {
  readonly op: Operation;
  readonly low: number;
  readonly high: number;
}

/** From `end` on somebody knew that `revision` was reached. */
interface Sighting {
  readonly client: string;
  readonly end: number;
  readonly revision: number;
}

/**
 * D6, R1: requests are served at one moment each between their begin and end: what began after something had been answered, or shown by a watch, was
 * served at no earlier revision, a write at a later one. Writes and lists tell the revision; a get was served while the version it showed was current.
 */
export function linearizable(operations: readonly Operation[], model: Model): string[] {
  const moments = operations.flatMap((op) => momentOf(op, model) ?? []).sort((a, b) => a.op.start - b.op.start);
  const sightings: Sighting[] = moments.map(({ op, low }) => ({ client: op.client, end: op.end, revision: low }));
  for (const op of operations)
    if (op.op === 'watch') for (const { at, revision } of op.events) sightings.push({ client: op.client, end: at ?? op.end, revision });
  sightings.sort((a, b) => a.end - b.end);
  const violations: string[] = [];
  let newest: Sighting = { client: '', end: 0, revision: 0 };
  let next = 0;
  for (const { op, high } of moments) {
    for (; next < sightings.length && sightings[next]!.end < op.start; next++) {
      if (sightings[next]!.revision > newest.revision) newest = sightings[next]!;
    }
    if (isWrite(op) && acknowledged(op) ? high > newest.revision : high >= newest.revision) continue;
    const since = (op.start - newest.end).toFixed(1);
    violations.push(
      `${op.client}: a ${op.op} that began ${since} ms after ${newest.client} had seen revision ${newest.revision} was served at ${high}`,
    );
  }
  return violations;
}

function momentOf(op: Operation, model: Model): Moment | undefined {
  if (!('status' in op) || op.op === 'watch' || op.op === 'settle') return undefined;
  if (isWrite(op)) {
    if (!acknowledged(op)) return momentOfRefusal(op, model);
    const revision = op.op === 'delete' ? model.deletionOf(op.answer?.uid ?? '') : op.answer?.revision;
    return revision !== undefined ? { op, low: revision, high: revision } : undefined;
  }
  if (op.op === 'get') return momentOfGet(op, model);
  if (op.pages.length === 0 || op.asked !== '') return undefined;
  const { revision } = op.pages[0]!;
  return { op, low: revision, high: revision };
}

/** Who is refused has learned of what stands in the way: of the object that has the name, of the change that came first. */
function momentOfRefusal(op: WriteOp, model: Model): Moment | undefined {
  if (op.status !== 409 || op.dry) return undefined;
  const versions = model.versions(op.key);
  const last = versions.at(-1);
  if (last === undefined) return undefined; // refusalsTrue tells that
  if (op.op === 'create') return { op, low: versions[0]!.revision, high: last.deleted ? last.revision - 1 : Number.POSITIVE_INFINITY };
  const overtaking = op.expected === undefined ? undefined : model.changeAfter(op.key, op.expected);
  return overtaking && { op, low: overtaking.revision, high: Number.POSITIVE_INFINITY };
}

function momentOfGet(op: GetOp, model: Model): Moment | undefined {
  if (op.seen) {
    const next = model.changeAfter(op.key, op.seen.revision);
    return { op, low: op.seen.revision, high: next ? next.revision - 1 : Number.POSITIVE_INFINITY };
  }
  if (op.status !== 404) return undefined;
  // absent: before its first life, after its last, or in between; the latest time at which it was absent is the bound that can be violated
  const versions = model.versions(op.key);
  const last = versions.at(-1);
  if (last === undefined || last.deleted) return { op, low: 1, high: Number.POSITIVE_INFINITY };
  const born = versions.findLast((version) => version.previous === 0)!;
  return { op, low: 1, high: born.revision - 1 };
}

/** R3 to R6: a list shows exactly what was there at its revision, in key order; all its pages are of one revision, which is what was asked for. */
export function snapshots(operations: readonly Operation[], model: Model): string[] {
  return operations.filter((op) => op.op === 'list').flatMap((op) => snapshot(op, model));
}

function snapshot(op: ListOp, model: Model): string[] {
  const { client, prefix, pages } = op;
  if (pages.length === 0) return [];
  const { revision } = pages[0]!;
  const what = `${client}: a list of ${prefix}${op.label ? ` with ${op.label}` : ''} at revision ${revision}`;
  if (op.exact ? String(revision) !== op.asked : revision < Number(op.asked)) return [`${what} was asked for ${op.asked}`];
  const other = pages.find((page) => page.revision !== revision);
  if (other) return [`${what} has a page of revision ${other.revision}`];
  if (revision > model.newest) return [`${what}, which is nowhere`];
  const items = pages.flatMap((page) => page.items);
  const expected = model.list(op, revision).slice(0, op.complete ? undefined : items.length);
  for (let i = 0; i < Math.max(items.length, expected.length); i++) {
    const [item, wanted] = [items[i], expected[i]];
    if (item?.key === wanted?.key && item?.revision === wanted?.revision && item?.hash === wanted?.hash) continue;
    const text = (each: { key: string; revision: number } | undefined): string => (each ? `${each.key}@${each.revision}` : 'nothing');
    return [`${what} shows ${text(item)} where ${text(wanted)} belongs`];
  }
  return [];
}
