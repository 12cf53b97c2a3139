/** YAML in kubectl's dialect: what scalars mean, wording, quoting, and the round trip of any value. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatYaml, parseYaml, parseYamlDocuments, readYaml, YamlError } from './yaml.ts';

test('plain scalars mean what they mean to kubectl', () => {
  const cases: [string, unknown][] = [
    ['yes', true],
    ['n', false],
    ['On', true],
    ['~', null],
    ['', null],
    ['010', 8],
    ['0o17', 15],
    ['0x1f', 31],
    ['0b11', 3],
    ['1_000', 1000],
    ['1e3', 1000],
    ['1:30', '1:30'],
    ['2024-01-02', '2024-01-02'],
    ['08', 8],
    ['9007199254740993', 9007199254740993n],
    ['"yes"', 'yes'],
    ['!!str 5', '5'],
    ['!!binary aGk=', 'hi'],
    ['1.5', 1.5],
    ['v1', 'v1'],
    ['-', [null]],
  ];
  for (const [text, expected] of cases)
    assert.deepEqual(parseYaml(text === '-' ? text : `k: ${text}`), text === '-' ? expected : { k: expected }, text);
});

test('keys become strings', () => {
  assert.deepEqual(
    parseYaml('5: a\nyes: b\n010: c\n1.5: d\n__proto__: e'),
    JSON.parse('{"5":"a","true":"b","8":"c","1.5":"d","__proto__":"e"}'),
  );
});

test('repeated keys count once, with a complaint that names the line', () => {
  assert.deepEqual(readYaml('a: 1\nb:\n  k: a\n  k: b\n'), {
    value: { a: 1, b: { k: 'b' } },
    problems: ['line 4: key "k" already set in map'],
  });
});

test('anchors and merges unfold into values of their own', () => {
  const value = parseYaml('base: &b\n  x: 1\na:\n  <<: *b\n  w: 2\nc: *b\n') as { base: object; c: object };
  assert.deepEqual(value, { base: { x: 1 }, a: { x: 1, w: 2 }, c: { x: 1 } });
  assert.notEqual(value.base, value.c);
});

test('what is no YAML is refused in the words of go-yaml', () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefg'].map((c, i) => `${c}: &${c} [${Array(9).fill(`*${'abcdefg'[i]}`).join(',')}]`).join('\n')}\n`;
  const cases: [string, string][] = [
    ['a: [b\n', "yaml: line 1: did not find expected ',' or ']'"],
    ['{', 'yaml: line 1: did not find expected node content'],
    ['{a: 1\n', "yaml: line 1: did not find expected ',' or '}'"],
    ['a: [b,\n', 'yaml: line 1: did not find expected node content'],
    ['a:\n\tb: 1\n', 'yaml: line 2: found character that cannot start any token'],
    ['a: b\n\tc: d\n', 'yaml: line 2: found a tab character that violates indentation'],
    ['a: |\n\tx\n', 'yaml: line 2: found a tab character where an indentation space is expected'],
    ['a: @x\n', 'yaml: found character that cannot start any token'],
    ['a: "x', 'yaml: found unexpected end of stream'],
    ['a: 1\nb: "x', 'yaml: line 2: found unexpected end of stream'],
    ['a: b: c\n', 'yaml: mapping values are not allowed in this context'],
    ['a: *nope\n', "yaml: unknown anchor 'nope' referenced"],
    ['a: &m\n  b: *m\n', "yaml: anchor 'm' value contains itself"],
    ['? [a]\n: x\n', 'yaml: invalid map key: []interface {}{"a"}'],
    ['~: x\n', 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "x"'],
    ['k: .inf\n', 'json: unsupported value: +Inf'],
    ['a: \u0001\n', 'yaml: control characters are not allowed'],
    [bomb, 'yaml: document contains excessive aliasing'],
  ];
  for (const [text, message] of cases)
    assert.throws(
      () => parseYaml(text),
      (error: Error) => error instanceof YamlError && error.message === message,
      message,
    );
});

test('JSON may be indented with tabs; quoted text keeps its own', () => {
  assert.deepEqual(parseYaml('{\n\t"a": [\n\t\t1,\n\t\t"x\ty"\n\t]\n}'), { a: [1, 'x\ty'] });
});

test('a file may hold several documents; empty ones do not count', () => {
  assert.deepEqual(parseYamlDocuments('a: 1\n---\n# nothing\n---\nb: 2\n'), [{ a: 1 }, { b: 2 }]);
  assert.equal(parseYaml('a: 1\n---\nb: 2\n') instanceof Object, true);
  assert.deepEqual(parseYaml('a: 1\n---\nb: 2\n'), { a: 1 });
});

test('strings are quoted as kubectl quotes them', () => {
  const cases: [string, string][] = [
    ['a: b', "'a: b'"],
    ['# x', "'# x'"],
    ['- x', "'- x'"],
    [' x', "' x'"],
    ['yes', '"yes"'],
    ['5', '"5"'],
    ['2024-01-02', '"2024-01-02"'],
    ['1:30', '"1:30"'],
    ['', '""'],
    ['null', '"null"'],
    ["it's", "it's"],
    ['é😀', '"é\\U0001F600"'],
    ['a\tb', '"a\\tb"'],
    ['a\nb', '|-\n  a\n  b'],
    ['a\nb\n', '|\n  a\n  b'],
    ['a \nb', '"a \\nb"'],
    ['[x', "'[x'"],
    ['*', "'*'"],
    ['a,b', 'a,b'],
  ];
  for (const [text, written] of cases) assert.equal(formatYaml({ k: text }), `k: ${written}\n`, text);
});

test('keys are sorted, lists are not indented, long text is folded', () => {
  const value = { z10: 1, z2: 2, list: [{ b: 1, a: [] }, [{ x: {} }]], n: null, text: 'word '.repeat(20).trim() };
  assert.equal(
    formatYaml(value),
    [
      'list:',
      '- a: []',
      '  b: 1',
      '- - x: {}',
      '"n": null',
      'text: word word word word word word word word word word word word word word word word',
      '  word word word word',
      'z2: 2',
      'z10: 1',
      '',
    ].join('\n'),
  );
});
