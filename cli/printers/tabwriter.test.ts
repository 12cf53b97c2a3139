/** Columns and tables, space by space. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TablePrinter } from './table.ts';
import { alignTabs, DESCRIBE_TABS, RememberingTable } from './tabwriter.ts';

test('a column is a run of neighbouring lines; the last cell is not padded', () => {
  assert.equal(alignTabs('a\tb\nccc\td\n\ne\tf\n', DESCRIBE_TABS), 'a    b\nccc  d\n\ne  f\n');
});
test('an inner column has its own runs inside the outer one', () => {
  assert.equal(alignTabs('a\tbb\tc\na\tb\tc\nlong\n', DESCRIBE_TABS), 'a  bb  c\na  b   c\nlong\n');
});
test('tables have columns of at least six, three apart', () => {
  assert.equal(
    new RememberingTable().format([
      ['A', 'B'],
      ['1', '2'],
    ]),
    'A     B\n1     2\n',
  );
});
test('widths only grow from piece to piece', () => {
  const table = new RememberingTable();
  table.format([['long-name', 'x']]);
  assert.equal(table.format([['a', 'y']]), 'a           y\n');
});

const TABLE = {
  kind: 'Table' as const,
  columnDefinitions: [
    { name: 'Name', format: 'name', type: 'string' },
    { name: 'Age', type: 'string' },
    { name: 'Node', type: 'string', priority: 1 },
  ],
  rows: [
    { cells: ['web', '3s', 'n1'], object: { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'd', labels: { b: '2', a: '1' } } } },
  ],
};

for (const [name, options, output] of [
  ['plain', {}, 'NAME   AGE\nweb    3s\n'],
  ['wide shows columns with a priority', { wide: true }, 'NAME   AGE   NODE\nweb    3s    n1\n'],
  [
    'namespace first, kind before the name',
    { withNamespace: true, withKind: 'pod' },
    'NAMESPACE   NAME      AGE\nd           pod/web   3s\n',
  ],
  [
    'labels last',
    { showLabels: true, labelColumns: ['x.io/b', 'a'] },
    'NAME   AGE   B     A     LABELS\nweb    3s          1     a=1,b=2\n',
  ],
  ['without headers', { noHeaders: true }, 'web   3s\n'],
] as const) {
  test(`a server table: ${name}`, () => assert.equal(new TablePrinter(options).print(TABLE), output));
}
test('text is cut at the first line break', () => {
  const rows = [{ cells: ['a\nb', null, ''] }];
  assert.equal(new TablePrinter({ noHeaders: true }).print({ ...TABLE, rows }), 'a...   \n');
});
