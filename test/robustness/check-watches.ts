/**
 * What must hold for watches (W1, W2, W4, W6, W7): from where it begins to the last revision it told of, a watch shows exactly what the ground truth
 * says: everything that matches (reliable), nothing else (filtered), once (unique), in order. Since a resumed watch begins where the one before ended,
 * resuming without gap or duplicate is the same question. Each check is a pure function to the violations in words.
 */
import type { Bookmark, Operation, SeenEvent, SettleOp, WatchOp } from './history.ts';
import type { Model } from './model.ts';

const watchesOf = (operations: readonly Operation[]): WatchOp[] => operations.filter((op) => op.op === 'watch');
const named = ({ client, prefix, label, name, from }: WatchOp): string =>
  `${client}: a watch of ${prefix}${label ? ` with ${label}` : ''}${name ? ` named ${name}` : ''} from ${from}`;
const text = ({ type, key, revision }: SeenEvent): string => `${type} ${key}@${revision}`;

export function watchesComplete(operations: readonly Operation[], model: Model): string[] {
  return watchesOf(operations).flatMap((op) => watchComplete(op, model));
}

function watchComplete(op: WatchOp, model: Model): string[] {
  if (op.from !== 'state') return compared(op, op.events, op.from, model);
  const end = op.events.findIndex((event) => event.type === 'BOOKMARK' && event.initialEnd);
  if (end < 0) return []; // it broke off before anything was promised
  const { revision } = op.events[end]!;
  return [...initialState(op, op.events.slice(0, end), revision, model), ...compared(op, op.events.slice(end + 1), revision, model)];
}

/** W6: the initial events are the list at the revision that closes them. */
function initialState(op: WatchOp, initial: WatchOp['events'], revision: number, model: Model): string[] {
  const seen = initial.map((event) => (event.type === 'BOOKMARK' ? `BOOKMARK ${event.revision}` : text(event)));
  const wanted = model.list(op, revision).map((each) => text({ type: 'ADDED', ...each }));
  const at = wanted.findIndex((each, i) => each !== seen[i]);
  if (at < 0 && seen.length === wanted.length) return [];
  const i = at < 0 ? wanted.length : at;
  return [`${named(op)}: the initial state at ${revision} shows ${seen[i] ?? 'nothing'} where ${wanted[i] ?? 'nothing'} belongs`];
}

function compared(op: WatchOp, told: WatchOp['events'], from: number, model: Model): string[] {
  const violations: string[] = [...bookmarksHold(op, told, from)];
  const events = told.filter((event): event is SeenEvent => event.type !== 'BOOKMARK');
  const through = Math.max(from, ...told.map(({ revision }) => revision));
  const expected = model.events(op, from, through);
  const wanted = new Map(expected.map((event) => [event.revision, event]));
  const seen = new Set<number>();
  let last = from;
  for (const event of events) {
    const right = wanted.get(event.revision);
    if (seen.has(event.revision) || event.revision <= from) violations.push(`${named(op)} tells ${text(event)} again`);
    else if (event.revision < last) violations.push(`${named(op)} tells ${text(event)} after revision ${last}`);
    else if (right === undefined) violations.push(`${named(op)} tells ${text(event)}, which is not for it`);
    else if (right.type !== event.type || right.key !== event.key || right.hash !== event.hash)
      violations.push(`${named(op)} tells ${text(event)} ${event.hash} instead of ${text(right)} ${right.hash}`);
    seen.add(event.revision);
    last = Math.max(last, event.revision);
  }
  for (const event of expected)
    if (!seen.has(event.revision)) violations.push(`${named(op)} leaves out ${text(event)} and tells ${through}`);
  return violations;
}

/** W4: a bookmark is at or above all that was sent before it and below all that is sent after it. */
function bookmarksHold(op: WatchOp, told: WatchOp['events'], from: number): string[] {
  const violations: string[] = [];
  let sent = from;
  let bookmark: Bookmark | undefined;
  for (const event of told) {
    if (event.type === 'BOOKMARK') {
      if (event.revision < sent) violations.push(`${named(op)}: a bookmark names ${event.revision} after ${sent} was sent`);
      bookmark = event;
    } else if (bookmark !== undefined && event.revision <= bookmark.revision)
      violations.push(`${named(op)} tells ${text(event)} after a bookmark of ${bookmark.revision}`);
    sent = Math.max(sent, event.revision);
  }
  return violations;
}

/** W11: nobody is left behind silently: with everything at rest, each watcher has come to know the last revision. */
export function watchersSettle(operations: readonly Operation[]): string[] {
  return operations
    .filter((op): op is SettleOp => op.op === 'settle')
    .filter(({ awaited, reached }) => reached < awaited)
    .map(({ client, awaited, reached }) => `${client}: revision ${awaited} was written, its watch has come to ${reached}`);
}

/** W3: "too old" is only said where history is let go, and only of what was let go. */
export function expiriesAllowed(operations: readonly Operation[], compacting: boolean): string[] {
  return watchesOf(operations).flatMap((op) => {
    if (op.refused === 410 && !compacting) return [`${named(op)} was refused as too old, though nothing was compacted`];
    if (op.expired === undefined || op.expired.at < op.expired.compacted) return [];
    return [`${named(op)} was refused at ${op.expired.at} as too old, though history goes back to ${op.expired.compacted}`];
  });
}
