/** kubectl's JSONPath: a table of templates and what they print. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileJsonPath, relaxedPath } from './jsonpath.ts';

const VALUE = {
  kind: 'List',
  items: [
    { metadata: { name: 'a', labels: { 'x.y/z': 'l', b: '2' } }, status: { phase: 'Running', n: 3, ok: true } },
    { metadata: { name: 'b' }, status: { phase: 'Pending', n: 10, ok: false } },
    { metadata: { name: 'c' }, status: { phase: 'Running', n: 1.5 } },
  ],
};

describe('kubectl’s JSONPath prints', () => {
  const cases: [template: string, output: string][] = [
    ['{.kind}', 'List'],
    ['{$.kind} and {@.kind}', 'List and List'],
    ['{.items[*].metadata.name}', 'a b c'],
    ['{.items[0].metadata.name}', 'a'],
    ['{.items[-1].metadata.name}', 'c'],
    ['{.items[0:2].metadata.name}', 'a b'],
    ['{.items[::2].metadata.name}', 'a c'],
    ['{.items[0,2].metadata.name}', 'a c'],
    ['{.items[*].status.n}', '3 10 1.5'],
    ['{.items[?(@.status.phase=="Running")].metadata.name}', 'a c'],
    ["{.items[?(@.status.phase != 'Running')].metadata.name}", 'b'],
    ['{.items[?(@.status.n>2)].metadata.name}', 'a b'],
    ['{.items[?(@.status.ok)].metadata.name}', 'a b'],
    ['{.items[?(@.status.ok==true)].metadata.name}', 'a'],
    ['{range .items[*]}{.metadata.name}:{.status.phase}{"\\n"}{end}', 'a:Running\nb:Pending\nc:Running\n'],
    ["{range .items[*]}[{.metadata.name}{'\\t'}]{end}.", '[a\t][b\t][c\t].'],
    ['{.items[0].metadata.labels}', '{"b":"2","x.y/z":"l"}'],
    ['{.items[0].metadata.labels.x\\.y/z}', 'l'],
    ["{.items[0].metadata.labels['x\\.y/z']}", 'l'],
    ["{.items[0]['metadata.name','status.phase']}", 'a Running'],
    ['{..name}', 'a b c'],
    ['{.missing}', ''],
    ['{.items[0].missing.deeper}!', '!'],
    ['no braces', 'no braces'],
  ];
  for (const [template, output] of cases)
    test(template, () => assert.equal(compileJsonPath(template, { allowMissing: true }).print(VALUE), output));

  test('missing members are refused when asked to', () => {
    assert.throws(() => compileJsonPath('{.missing}').print(VALUE), { message: 'missing is not found' });
  });
  test('an index out of bounds is an error', () => {
    assert.throws(() => compileJsonPath('{.items[7]}').print(VALUE), { message: 'array index out of bounds: index 7, length 3' });
  });
  test('members named like object internals are members', () => {
    assert.equal(compileJsonPath('{.__proto__}{.constructor}', { allowMissing: true }).print(JSON.parse('{"__proto__":"p"}')), 'p');
  });
});

describe('templates that cannot be parsed', () => {
  for (const [template, why] of [
    ['{.a', 'unclosed action'],
    ['{.a[}', 'unterminated array'],
    ['{"a}', 'unterminated quoted string'],
    ['{foo}', 'unrecognized identifier foo'],
  ] as const) {
    test(template, () => assert.throws(() => compileJsonPath(template), { message: `error parsing jsonpath ${template}, ${why}` }));
  }
});

test('columns and --sort-by take relaxed paths', () => {
  assert.deepEqual(['metadata.name', '.metadata.name', '{.metadata.name}', '{metadata.name}', '.items[0]'].map(relaxedPath), [
    '{.metadata.name}',
    '{.metadata.name}',
    '{.metadata.name}',
    '{.metadata.name}',
    '{.items[0]}',
  ]);
});
