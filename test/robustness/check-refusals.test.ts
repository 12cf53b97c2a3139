/** The checks of what is refused, only tried, or asked for by revision: each accepts a right history and tells the wrong ones (see checks.test.ts). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linearizable, snapshots } from './check-reads.ts';
import { expiriesAllowed } from './check-watches.ts';
import { appliedOnce, comparedAndSet, deletionsAsked, refusalsTrue } from './check-writes.ts';
import type { GetOp, ListOp, WatchOp, WriteOp } from './history.ts';
import { Model } from './model.ts';
import type { Revision } from './revisions.ts';

const KEY = '/core/configmaps/default/a';
const version = (revision: number, previous: number, more: Partial<Revision> = {}): Revision => {
  return { revision, key: KEY, deleted: false, previous, uid: 'u', hash: `h${revision}`, labels: {}, ...more };
};
/** 2 creates a, 3 changes it, 4 deletes it. */
const model = new Model([version(2, 0, { token: 't2' }), version(3, 2, { token: 't3' }), version(4, 3, { deleted: true, token: 't3' })]);
const nothing = new Model([]);

const write = (op: WriteOp['op'], status: number, more: Partial<WriteOp> = {}): WriteOp => {
  return { op, client: 'w', key: KEY, start: 50, end: 60, status, ...more };
};
const get = (start: number): GetOp => ({ op: 'get', client: 'g', key: KEY, start, end: start + 1, status: 404 });
const list = (revision: number, more: Partial<ListOp>): ListOp => {
  const items = revision < 4 ? [{ key: KEY, revision, uid: 'u', hash: `h${revision}` }] : [];
  return {
    op: 'list',
    client: 'l',
    prefix: '/core/',
    start: 0,
    end: 1,
    status: 200,
    asked: '',
    pages: [{ revision, items }],
    complete: true,
    ...more,
  };
};
const expired = (at: number, compacted: number): WatchOp => {
  return {
    op: 'watch',
    client: 'r',
    prefix: '/core/',
    start: 0,
    end: 1,
    status: 200,
    from: at,
    events: [],
    refused: 410,
    expired: { at, compacted },
  };
};

const CASES: readonly [name: string, violations: readonly string[], tells?: RegExp][] = [
  ['a creation refused for what is there', refusalsTrue([write('create', 409)], model)],
  ['a creation refused for nothing', refusalsTrue([write('create', 409)], nothing), /nothing has ever had the name/],
  ['an update refused for a change', refusalsTrue([write('update', 409, { expected: 2 })], model)],
  ['an update refused for none', refusalsTrue([write('update', 409, { expected: 4 })], model), /nothing has replaced revision 4/],
  ['a refused creation, and absence before', linearizable([get(10), write('create', 409)], new Model([version(2, 0)]))],
  [
    'a refused creation, and absence behind it',
    linearizable([write('create', 409), get(70)], new Model([version(2, 0)])),
    /get that began 10.0 ms after w/,
  ],
  ['a deletion of the version it names', comparedAndSet([write('delete', 200, { expected: 3, answer: { uid: 'u' } })], model)],
  [
    'a deletion of another',
    comparedAndSet([write('delete', 200, { expected: 2, answer: { uid: 'u' } })], model),
    /named revision 2 and replaced 3/,
  ],
  ['a trial that did nothing', appliedOnce([write('create', 200, { dry: true, token: 't9' })], model)],
  [
    'a trial that happened',
    appliedOnce([write('create', 200, { dry: true, token: 't2' })], model),
    /was a trial and happened at revision 2/,
  ],
  ['a deletion that was asked for', deletionsAsked([write('create', 200), write('delete', 0)], model)],
  ['a deletion only tried', deletionsAsked([write('create', 200), write('delete', 200, { dry: true })], model), /nobody had asked for it/],
  ['a deletion that was refused', deletionsAsked([write('create', 200), write('delete', 409)], model), /nobody had asked for it/],
  ['a list of the revision asked for', snapshots([list(2, { asked: '2', exact: true })], model)],
  ['a list of another', snapshots([list(3, { asked: '2', exact: true })], model), /was asked for 2/],
  ['a list of at least a revision', snapshots([list(3, { asked: '2' })], model)],
  ['a list of an older one', snapshots([list(2, { asked: '3' })], model), /was asked for 3/],
  ['a watch from what was let go', expiriesAllowed([expired(6, 7)], true)],
  ['a watch from what is kept', expiriesAllowed([expired(7, 7)], true), /history goes back to 7/],
];

for (const [name, violations, tells] of CASES) {
  test(`${name} is ${tells ? 'told' : 'right'}`, () => {
    if (tells === undefined) assert.deepEqual(violations, []);
    else assert.match(violations.join('\n'), tells);
  });
}
