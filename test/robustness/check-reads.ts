/**
 * What must hold for reads: nothing read was lost (D2), real time is respected (D6, R1), lists are snapshots (R5, R6). Each check is a pure function to
 * the violations in words.
 */
import { acknowledged, type GetOp, isWrite, type ListOp, type Operation, type Seen } from './history.ts';
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

/**
 * D6, R1: requests are served at one moment each between their begin and end: what began after another one had ended was served at no earlier revision,
 * a write at a later one. Writes and lists tell the revision; a get was served while the version it showed was the current one.
 */
export function linearizable(operations: readonly Operation[], model: Model): string[] {
  const moments = operations.flatMap((op) => momentOf(op, model) ?? []);
  const ends = [...moments].sort((a, b) => a.op.end - b.op.end);
  const violations: string[] = [];
  let newest: Moment | undefined;
  let next = 0;
  for (const moment of moments.sort((a, b) => a.op.start - b.op.start)) {
    for (; next < ends.length && ends[next]!.op.end < moment.op.start; next++) {
      if (newest === undefined || ends[next]!.low > newest.low) newest = ends[next];
    }
    if (newest === undefined) continue;
    const { op, high } = moment;
    if (high < newest.low || (isWrite(op) && high === newest.low && isWrite(newest.op)))
      violations.push(
        `${op.client}: a ${op.op} that began ${(op.start - newest.op.end).toFixed(1)} ms after ${newest.op.client} had seen revision ${newest.low} was served at ${high}`,
      );
  }
  return violations;
}

function momentOf(op: Operation, model: Model): Moment | undefined {
  if (!('status' in op) || op.op === 'watch' || op.op === 'settle') return undefined;
  if (isWrite(op)) {
    const revision = op.op === 'delete' ? model.deletionOf(op.answer?.uid ?? '') : op.answer?.revision;
    return acknowledged(op) && revision !== undefined ? { op, low: revision, high: revision } : undefined;
  }
  if (op.op === 'get') return momentOfGet(op, model);
  if (op.pages.length === 0 || op.asked !== '') return undefined;
  const { revision } = op.pages[0]!;
  return { op, low: revision, high: revision };
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

/** R5, R6: a list shows exactly what was there at its revision, in key order; all its pages are of one revision. */
export function snapshots(operations: readonly Operation[], model: Model): string[] {
  return operations.filter((op) => op.op === 'list').flatMap((op) => snapshot(op, model));
}

function snapshot(op: ListOp, model: Model): string[] {
  const { client, prefix, pages } = op;
  if (pages.length === 0) return [];
  const { revision } = pages[0]!;
  const what = `${client}: a list of ${prefix}${op.label ? ` with ${op.label}` : ''} at revision ${revision}`;
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
