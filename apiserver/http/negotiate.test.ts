/** The order in which the clauses of an Accept header are tried. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAccept } from './negotiate.ts';

const CASES: readonly (readonly [header: string, order: readonly string[]])[] = [
  ['a/b,c/d', ['a/b', 'c/d']],
  ['a/b;q=0.1,c/d', ['c/d', 'a/b']],
  ['a/b;q=0.5, c/d;q=0.9, e/f;q=0.5', ['c/d', 'a/b', 'e/f']],
  ['*/*,a/b', ['a/b', '*/*']],
  ['*/*,a/b;q=0.1', ['a/b', '*/*']],
  ['a/*,a/b', ['a/b', 'a/*']],
  ['*/*, a/*, a/b;q=0', ['a/b', 'a/*', '*/*']],
  ['a/b;q=abc,c/d;q=0.9', ['a/b', 'c/d']],
  ['a/b;q=0,c/d;q=0', ['a/b', 'c/d']],
  [';;,,a/b', ['a/b']],
];
for (const [header, order] of CASES) {
  test(`${header} is tried as ${order.join(', ')}`, () => {
    assert.deepEqual(
      parseAccept(header).map(({ type }) => type),
      order,
    );
  });
}
