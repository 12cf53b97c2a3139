/** Each check accepts a right history and tells each wrong one: what proves nothing when it is silent would be no check. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { linearizable, readDurable, snapshots } from './check-reads.ts';
import { expiriesAllowed, watchersSettle, watchesComplete } from './check-watches.ts';
import {
  appliedOnce,
  comparedAndSet,
  createdOnce,
  durable,
  noLostUpdate,
  revisionOrder,
  revisionsUnique,
  storesWhole,
} from './check-writes.ts';
import type { GetOp, ListOp, Operation, Seen, WatchOp, WriteOp } from './history.ts';
import { Model } from './model.ts';
import { merged, type Revision } from './revisions.ts';

const PREFIX = '/core/configmaps/default/';
const at = (revision: number, name: string, more: Partial<Revision> = {}): Revision => ({
  revision,
  key: PREFIX + name,
  deleted: false,
  previous: 0,
  uid: `uid-${name}`,
  hash: `h${revision}`,
  labels: { color: 'red' },
  ...more,
});

/** 2 creates a, 3 creates b, 4 paints a blue, 5 deletes b, 6 paints a red again. */
const truth: readonly Revision[] = [
  at(2, 'a', { token: 't1', count: 0 }),
  at(3, 'b', { token: 't2' }),
  at(4, 'a', { previous: 2, labels: { color: 'blue' }, token: 't3', count: 1 }),
  at(5, 'b', { previous: 3, deleted: true }),
  at(6, 'a', { previous: 4, token: 't4', count: 2 }),
];
const model = new Model(truth);
const replaced = (revision: number, more: Partial<Revision>): Model =>
  new Model(truth.map((each) => (each.revision === revision ? { ...each, ...more } : each)));

const seen = (revision: number, more: Partial<Seen> = {}): Seen => {
  const { key, uid, hash } = truth[revision - 2]!;
  return { key, revision, uid, hash, ...more };
};
const write = (revision: number, more: Partial<WriteOp> = {}): WriteOp => {
  const { key, uid, hash, token } = truth[revision - 2]!;
  return {
    op: 'update',
    client: 'w',
    key,
    start: revision * 10,
    end: revision * 10 + 5,
    status: 200,
    ...(token && { token }),
    answer: { revision, uid, hash },
    ...more,
  };
};
const get = (revision: number, start: number, more: Partial<GetOp> = {}): GetOp => {
  const found = seen(revision);
  return { op: 'get', client: 'g', key: found.key, start, end: start + 2, status: 200, seen: found, ...more };
};
const list = (revision: number, items: readonly Seen[], more: Partial<ListOp> = {}): ListOp => ({
  op: 'list',
  client: 'l',
  prefix: PREFIX,
  asked: '',
  start: 100,
  end: 101,
  status: 200,
  pages: [{ revision, items }],
  complete: true,
  ...more,
});
const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', revision: number, more: Partial<Seen> = {}) => ({ type, ...seen(revision, more) });
const mark = (revision: number, initialEnd?: true) => ({ type: 'BOOKMARK' as const, revision, ...(initialEnd && { initialEnd }) });
const watch = (from: WatchOp['from'], events: WatchOp['events'], more: Partial<WatchOp> = {}): WatchOp => ({
  op: 'watch',
  client: 'r',
  prefix: PREFIX,
  start: 0,
  end: 200,
  status: 200,
  from,
  events,
  ...more,
});

interface Case {
  readonly name: string;
  readonly violations: readonly string[];
  /** Undefined: it must be silent. */
  readonly tells?: RegExp;
}

function judged(title: string, cases: readonly Case[]): void {
  describe(title, () => {
    for (const { name, violations, tells } of cases) {
      test(name, () => {
        if (tells === undefined) assert.deepEqual(violations, []);
        else assert.match(violations.join('\n'), tells);
      });
    }
  });
}

judged('revisions', [
  { name: 'in order', violations: revisionOrder(model) },
  {
    name: 'a gap',
    violations: revisionOrder(new Model(truth.filter(({ revision }) => revision !== 3))),
    tells: /after revision 2 comes 4/,
  },
  {
    name: 'one that replaces another than was there',
    violations: revisionOrder(replaced(6, { previous: 2 })),
    tells: /replaces revision 2, but 4/,
  },
  { name: 'a uid that changes', violations: revisionOrder(replaced(4, { uid: 'x' })), tells: /changes the uid/ },
  {
    name: 'a uid that comes back',
    violations: revisionOrder(new Model([...truth, at(7, 'b')])),
    tells: /brings back uid uid-b/,
  },
  { name: 'read twice alike', violations: merged([{ revisions: truth }, { revisions: truth.slice(2) }]).violations },
  {
    name: 'read twice differently',
    violations: merged([{ revisions: truth }, { revisions: [at(4, 'b')] }]).violations,
    tells: /revision 4 was .*a h4 and later/,
  },
  { name: 'answered once', violations: revisionsUnique([write(2), write(3)]) },
  {
    name: 'answered twice',
    violations: revisionsUnique([write(2), write(3, { answer: { revision: 2, uid: 'u', hash: 'other' } })]),
    tells: /revision 2, which w was answered/,
  },
]);

const deletion = write(5, { op: 'delete', answer: { uid: 'uid-b' } });
judged('durable', [
  { name: 'acknowledged and there', violations: durable([write(2), write(3), write(4), deletion, write(6)], model) },
  {
    name: 'acknowledged and gone',
    violations: durable([write(6)], new Model(truth.slice(0, 4))),
    tells: /revision 6 was acknowledged and is not there/,
  },
  { name: 'acknowledged and different', violations: durable([write(6)], replaced(6, { hash: 'x' })), tells: /is stored there/ },
  { name: 'a deletion that came back', violations: durable([deletion], new Model(truth.slice(0, 3))), tells: /uid uid-b was acknowledged/ },
  { name: 'unanswered and gone', violations: durable([write(6, { status: 0 })], new Model(truth.slice(0, 4))) },
]);

const reading = (revisions: readonly Revision[], through: number, atLeast = through) => ({ revisions, through, atLeast, whole: true });
judged('stores', [
  { name: 'whole', violations: storesWhole([reading(truth, 6), reading(truth.slice(0, 2), 3)], model) },
  { name: 'compacted', violations: storesWhole([reading([truth[4]!], 6)], model) },
  { name: 'without a current version', violations: storesWhole([reading(truth.slice(0, 4), 6)], model), tells: /has lost .*a@6/ },
  {
    name: 'that end too early',
    violations: storesWhole([reading(truth.slice(0, 4), 5, 6)], model),
    tells: /ends at revision 5, 6 had been/,
  },
]);

judged('happened once or never', [
  { name: 'once', violations: appliedOnce([write(2), write(4, { status: 0 })], model) },
  { name: 'never', violations: appliedOnce([write(2, { token: 'lost', status: 0 })], model) },
  {
    name: 'twice',
    violations: appliedOnce([write(2)], new Model([...truth, at(7, 'a', { previous: 6, token: 't1' })])),
    tells: /happened at the revisions 2, 7/,
  },
  { name: 'refused, yet done', violations: appliedOnce([write(4, { status: 409 })], model), tells: /was refused with 409 and happened/ },
]);

judged('creations and counters', [
  { name: 'one creation', violations: createdOnce([write(2, { op: 'create' })], model) },
  {
    name: 'a uid for two',
    violations: createdOnce(
      [write(2, { op: 'create' }), write(3, { op: 'create', answer: { revision: 3, uid: 'uid-a', hash: 'h3' } })],
      model,
    ),
    tells: /uid uid-a was also answered/,
  },
  { name: 'a creation over something', violations: createdOnce([write(4, { op: 'create' })], model), tells: /replaced revision 2/ },
  { name: 'an update of the version it names', violations: comparedAndSet([write(6, { expected: 4 }), write(6, { expected: 6 })], model) },
  {
    name: 'an update of another version',
    violations: comparedAndSet([write(6, { expected: 2 })], model),
    tells: /named revision 2 and replaced 4/,
  },
  { name: 'a counter that counts', violations: noLostUpdate(model) },
  { name: 'a lost increment', violations: noLostUpdate(replaced(6, { count: 0 })), tells: /the counter went from 1 to 0/ },
  { name: 'a skipped increment', violations: noLostUpdate(replaced(6, { count: 3 })), tells: /the counter went from 1 to 3/ },
]);

judged('nothing read is lost', [
  { name: 'all there', violations: readDurable([get(2, 0), list(4, [seen(4)]), watch(2, [event('ADDED', 3), mark(6)])], model) },
  {
    name: 'a get of what is nowhere',
    violations: readDurable([get(6, 0)], new Model(truth.slice(0, 4))),
    tells: /a get showed .*which is nowhere/,
  },
  { name: 'a list of other content', violations: readDurable([list(4, [seen(4, { hash: 'x' })])], model), tells: /a list showed/ },
  {
    name: 'an event of what is nowhere',
    violations: readDurable([watch(2, [event('ADDED', 6)])], new Model(truth.slice(0, 4))),
    tells: /a watch showed/,
  },
  { name: 'a bookmark of what is nowhere', violations: readDurable([watch(2, [mark(9)])], model), tells: /a bookmark names revision 9/ },
]);

const unseen = { status: 404, seen: undefined } as unknown as Partial<GetOp>;
judged('linearizable', [
  {
    name: 'in order',
    violations: linearizable([write(2), write(3), get(2, 36), write(4), get(4, 50), list(5, [], { start: 60, end: 61 })], model),
  },
  {
    name: 'a late write at an earlier revision',
    violations: linearizable([write(4), write(3, { start: 90, end: 91 })], model),
    tells: /served at 3/,
  },
  {
    name: 'a stale get',
    violations: linearizable([write(4), get(2, 50)], model),
    tells: /a get that began .* had seen revision 4 was served at 3/,
  },
  { name: 'a stale list', violations: linearizable([write(6), list(5, [])], model), tells: /a list that began .* served at 5/ },
  {
    name: 'a get older than what a watch had shown',
    violations: linearizable([watch(2, [{ ...event('MODIFIED', 4), at: 45 }]), get(2, 50)], model),
    tells: /after r had seen revision 4 was served at 3/,
  },
  {
    name: 'a get that began before a watch showed more',
    violations: linearizable([watch(2, [{ ...event('MODIFIED', 4), at: 55 }]), get(2, 50)], model),
  },
  {
    name: 'there after it was deleted',
    violations: linearizable([deletion, get(3, 90)], model),
    tells: /had seen revision 5 was served at 4/,
  },
  { name: 'a list that may be old', violations: linearizable([write(6), list(5, [], { asked: '0' })], model) },
  { name: 'at the same time in either order', violations: linearizable([write(4, { end: 200 }), get(2, 50)], model) },
  {
    name: 'missing after it was made',
    violations: linearizable([write(2), get(2, 50, unseen)], model),
    tells: /a get that began .* served at 1/,
  },
  { name: 'missing after it was deleted', violations: linearizable([write(6), get(3, 90, unseen)], model) },
]);

judged('lists are snapshots', [
  { name: 'right', violations: snapshots([list(4, [seen(4), seen(3)]), list(4, [seen(3)], { label: 'color=red' })], model) },
  { name: 'an old item', violations: snapshots([list(4, [seen(2), seen(3)])], model), tells: /shows .*a@2 where .*a@4 belongs/ },
  { name: 'a missing item', violations: snapshots([list(4, [seen(4)])], model), tells: /shows nothing where .*b@3/ },
  { name: 'one too many', violations: snapshots([list(5, [seen(4), seen(3)])], model), tells: /shows .*b@3 where nothing/ },
  { name: 'out of order', violations: snapshots([list(4, [seen(3), seen(4)])], model), tells: /belongs/ },
  {
    name: 'pages of two revisions',
    violations: snapshots(
      [
        list(3, [], {
          pages: [
            { revision: 3, items: [seen(2)] },
            { revision: 5, items: [] },
          ],
        }),
      ],
      model,
    ),
    tells: /has a page of revision 5/,
  },
  {
    name: 'a list that broke off',
    violations: snapshots([list(4, [], { pages: [{ revision: 4, items: [seen(4)] }], complete: false })], model),
  },
]);

const all = [event('ADDED', 3), event('MODIFIED', 4), event('DELETED', 5), event('MODIFIED', 6)];
const left = event('DELETED', 4, { hash: 'h2' });
judged('watches', [
  { name: 'everything', violations: watchesComplete([watch(2, all)], model) },
  {
    name: 'a label that is left and entered',
    violations: watchesComplete([watch(3, [left, event('DELETED', 5), event('ADDED', 6)], { label: 'color=red' })], model),
  },
  {
    name: 'the full state, then live',
    violations: watchesComplete(
      [watch('state', [event('ADDED', 4), event('ADDED', 3), mark(4, true), event('DELETED', 5), mark(5)])],
      model,
    ),
  },
  {
    name: 'a gap',
    violations: watchesComplete(
      [
        watch(
          2,
          all.filter(({ revision }) => revision !== 4),
        ),
      ],
      model,
    ),
    tells: /leaves out MODIFIED .*a@4/,
  },
  { name: 'a gap before a bookmark', violations: watchesComplete([watch(5, [mark(6)])], model), tells: /leaves out MODIFIED .*a@6/ },
  { name: 'a duplicate', violations: watchesComplete([watch(2, [...all, all[3]!])], model), tells: /a@6 again/ },
  { name: 'the revision it resumed from', violations: watchesComplete([watch(3, all)], model), tells: /b@3 again/ },
  {
    name: 'a wrong order',
    violations: watchesComplete([watch(2, [all[1]!, all[0]!, all[2]!, all[3]!])], model),
    tells: /b@3 after revision 4/,
  },
  {
    name: 'a wrong type',
    violations: watchesComplete([watch(3, [event('ADDED', 4)])], model),
    tells: /ADDED .*a@4 h4 instead of MODIFIED/,
  },
  { name: 'wrong content', violations: watchesComplete([watch(3, [event('MODIFIED', 4, { hash: 'x' })])], model), tells: /instead of/ },
  {
    name: 'what is not for it',
    violations: watchesComplete([watch(3, [event('MODIFIED', 4)], { label: 'color=blue', name: 'b' })], model),
    tells: /not for it/,
  },
  {
    name: 'an object that left unseen',
    violations: watchesComplete([watch(3, [event('DELETED', 5)], { label: 'color=red' })], model),
    tells: /leaves out DELETED .*a@4/,
  },
  {
    name: 'a bookmark that goes back',
    violations: watchesComplete([watch(2, [...all, mark(4)])], model),
    tells: /a bookmark names 4 after 6/,
  },
  {
    name: 'an event at or below a bookmark',
    violations: watchesComplete([watch(4, [mark(6), all[2]!, all[3]!])], model),
    tells: /after a bookmark of 6/,
  },
  {
    name: 'a wrong initial state',
    violations: watchesComplete([watch('state', [event('ADDED', 4), mark(4, true)])], model),
    tells: /the initial state at 4 shows nothing where ADDED .*b@3/,
  },
  {
    name: 'everybody knows the last revision',
    violations: watchersSettle([{ op: 'settle', client: 'r', start: 0, end: 1, status: 200, awaited: 6, reached: 6 }]),
  },
  {
    name: 'somebody is left behind',
    violations: watchersSettle([{ op: 'settle', client: 'r', start: 0, end: 1, status: 200, awaited: 6, reached: 4 }]),
    tells: /has come to 4/,
  },
]);

const tooOld: readonly Operation[] = [watch(2, [], { refused: 410 })];
judged('expiries', [
  { name: 'where history is let go', violations: expiriesAllowed(tooOld, true) },
  { name: 'where it is not', violations: expiriesAllowed(tooOld, false), tells: /was refused as too old/ },
]);
