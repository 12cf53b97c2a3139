/**
 * What must hold between acknowledged writes and the ground truth. Each check is a pure function to the violations in words.
 */
import { acknowledged, isWrite, type Operation, type WriteOp } from './history.ts';
import type { Model } from './model.ts';
import type { Reading } from './revisions.ts';

const acked = (operations: readonly Operation[]): WriteOp[] => operations.filter(isWrite).filter(acknowledged);
const shown = ({ client, op, key, answer }: WriteOp): string => `${client}: ${op} of ${key}, answered revision ${answer?.revision ?? '-'}`;

/** D4, D7, D8: revisions have no gap, each replaces the one it names, a uid belongs to one life of one key. */
export function revisionOrder(model: Model): string[] {
  const violations: string[] = [];
  const live = new Map<string, { revision: number; uid: string }>();
  const dead = new Set<string>();
  let last = 1;
  for (const { revision, key, deleted, previous, uid } of model.truth) {
    const what = `revision ${revision} (${key})`;
    if (revision !== last + 1) violations.push(`after revision ${last} comes ${revision}`);
    last = revision;
    const before = live.get(key);
    if (previous !== (before?.revision ?? 0))
      violations.push(`${what} replaces revision ${previous}, but ${before?.revision ?? 0} was there`);
    if (before !== undefined && before.uid !== uid) violations.push(`${what} changes the uid ${before.uid} to ${uid}`);
    if (dead.has(uid)) violations.push(`${what} brings back uid ${uid}, which was deleted`);
    if (deleted) {
      live.delete(key);
      dead.add(uid);
    } else live.set(key, { revision, uid });
  }
  return violations;
}

/** D1: what was acknowledged is there, at its revision and with its content. */
export function durable(operations: readonly Operation[], model: Model): string[] {
  return acked(operations).flatMap((op) => {
    if (op.answer === undefined) return [];
    const { revision, uid, hash } = op.answer;
    if (op.op === 'delete')
      return model.deletionOf(uid) !== undefined ? [] : [`${shown(op)} of uid ${uid} was acknowledged and is not there`];
    const stored = model.at(revision!);
    if (stored?.key === op.key && stored.uid === uid && stored.hash === hash) return [];
    return [`${shown(op)} was acknowledged and ${stored ? `${stored.key} ${stored.hash} is stored there` : 'is not there'}`];
  });
}

/** D3: a write happened once or never: once when it was acknowledged, never when it was refused. */
export function appliedOnce(operations: readonly Operation[], model: Model): string[] {
  const made = new Map<string, number[]>();
  let before = new Map<string, string | undefined>();
  for (const { key, token, revision } of model.truth) {
    // other writes of the object carry the token along
    if (token !== undefined && before.get(key) !== token) made.set(token, [...(made.get(token) ?? []), revision]);
    before = before.set(key, token);
  }
  return operations.filter(isWrite).flatMap((op) => {
    if (op.token === undefined) return [];
    const revisions = made.get(op.token) ?? [];
    if (op.dry && revisions.length > 0) return [`${shown(op)} was a trial and happened at revision ${revisions[0]}`];
    if (revisions.length > 1) return [`${shown(op)} happened at the revisions ${revisions.join(', ')}`];
    if (op.status >= 400 && op.status < 500 && revisions.length > 0)
      return [`${shown(op)} was refused with ${op.status} and happened at revision ${revisions[0]}`];
    return [];
  });
}

/** C3: of creations of one name, one is acknowledged for each time the key came to be; its uid is the stored one. */
export function createdOnce(operations: readonly Operation[], model: Model): string[] {
  const violations: string[] = [];
  const byUid = new Map<string, WriteOp>();
  for (const op of acked(operations)) {
    if (op.op !== 'create' || op.answer === undefined) continue;
    const { uid, revision } = op.answer;
    const other = byUid.get(uid);
    if (other) violations.push(`${shown(op)}: uid ${uid} was also answered to ${other.client} at revision ${other.answer?.revision}`);
    byUid.set(uid, op);
    const stored = model.at(revision!);
    if (stored !== undefined && stored.previous !== 0) violations.push(`${shown(op)} replaced revision ${stored.previous}`);
  }
  return violations;
}

/** C1, C2, C5: an update or deletion that names a version replaces that version and no other. */
export function comparedAndSet(operations: readonly Operation[], model: Model): string[] {
  return acked(operations).flatMap((op) => {
    const revision = op.op === 'delete' ? model.deletionOf(op.answer?.uid ?? '') : op.answer?.revision;
    const stored = revision === undefined ? undefined : model.at(revision);
    // an update that changes nothing is answered with the version that is there
    if (op.expected === undefined || stored === undefined || stored.revision === op.expected || stored.previous === op.expected) return [];
    return [`${shown(op)} named revision ${op.expected} and replaced ${stored.previous}`];
  });
}

/** D2: what a refusal tells of is there: the object that has the name, or the change that came first. */
export function refusalsTrue(operations: readonly Operation[], model: Model): string[] {
  return operations.filter(isWrite).flatMap((op) => {
    if (op.status !== 409 || op.dry) return [];
    if (op.op === 'create') return model.versions(op.key).length > 0 ? [] : [`${shown(op)} was refused, and nothing has ever had the name`];
    if (op.expected === undefined || model.changeAfter(op.key, op.expected)) return [];
    return [`${shown(op)} was refused, and nothing has replaced revision ${op.expected}`];
  });
}

/** C8: nothing is deleted unasked. Only what the recorded clients made is looked at. */
export function deletionsAsked(operations: readonly Operation[], model: Model): string[] {
  const writes = operations.filter(isWrite);
  const own = new Set(acked(operations).flatMap(({ op, key, dry }) => (op === 'create' && !dry ? [key] : [])));
  const asked = new Set(
    writes.flatMap(({ op, key, dry, status }) => (op === 'delete' && !dry && (status < 400 || status >= 500) ? [key] : [])),
  );
  return model.truth
    .filter(({ deleted, key }) => deleted && own.has(key) && !asked.has(key))
    .map(({ key, revision }) => `${key} was deleted at revision ${revision}, and nobody had asked for it`);
}

/** C2: a counter that is read, incremented and written with its resourceVersion goes up by one each time. */
export function noLostUpdate(model: Model): string[] {
  const violations: string[] = [];
  const counts = new Map<string, number>();
  for (const { key, revision, count, deleted } of model.truth) {
    if (deleted) counts.delete(key);
    else if (count !== undefined) {
      const before = counts.get(key);
      if (before !== undefined && count !== before && count !== before + 1)
        violations.push(`${key}: the counter went from ${before} to ${count} at revision ${revision}`);
      counts.set(key, count);
    }
  }
  return violations;
}

/** D4: no acknowledgement names a revision that another one named. */
export function revisionsUnique(operations: readonly Operation[]): string[] {
  const byRevision = new Map<number, WriteOp>();
  return acked(operations).flatMap((op) => {
    const revision = op.answer?.revision;
    if (op.op === 'delete' || revision === undefined) return [];
    const other = byRevision.get(revision);
    byRevision.set(revision, op);
    return other && other.answer?.hash !== op.answer?.hash ? [`${shown(op)}, which ${other.client} was answered for ${other.key}`] : [];
  });
}

/** D1: each store that was found on disk goes as far as what had been flushed, and has whatever was current there. */
export function storesWhole(readings: readonly Reading[], model: Model): string[] {
  return readings.flatMap(({ revisions, through, atLeast, whole }, i) => {
    const violations = through < atLeast ? [`store ${i} ends at revision ${through}, ${atLeast} had been flushed`] : [];
    if (!whole) return violations;
    const there = new Set(revisions.map(({ revision }) => revision));
    const missing = model.list({ prefix: '/' }, through).filter(({ revision }) => !there.has(revision));
    return [...violations, ...missing.map(({ key, revision }) => `store ${i}, at revision ${through}, has lost ${key}@${revision}`)];
  });
}
