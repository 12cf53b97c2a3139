/** Label and field selectors: matching, wording, and printing what parses again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldSelectorError, matchesFields, parseFieldSelector } from './field-selector.ts';
import { formatSelector, matches, parseSelector, SelectorError, selectorOf } from './selector.ts';

test('a selector matches labels as upstream does', () => {
  const labels = { app: 'web', tier: '2', empty: '' };
  const cases: [string, boolean][] = [
    ['', true],
    ['app', true],
    ['!app', false],
    ['app=web', true],
    ['app==web,tier=2', true],
    ['app!=web', false],
    ['other!=x', true],
    ['app in (web, db)', true],
    ['app notin (db)', true],
    ['other notin (db)', true],
    ['tier>1', true],
    ['tier<2', false],
    ['app>1', false],
    ['empty in ()', true],
    ['app in ()', false],
    ['empty in (,,)', true],
    ['empty=', true],
    ['in in (in,notin)', false],
    ['constructor', false],
  ];
  for (const [text, expected] of cases) assert.equal(matches(parseSelector(text), labels), expected, text);
});

test('a selector that cannot be parsed says so in the words clients know', () => {
  const cases: [string, string][] = [
    ['=x', "found '=', expected: !, identifier, or 'end of string'"],
    ['a,', "found '', expected: identifier after ','"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a in 1', "unable to parse requirement: found '1' expected: '('"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a==!', "unable to parse requirement: found '!', expected: identifier"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['a>x', "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"],
    [`a=${'v'.repeat(64)}`, `unable to parse requirement: values[0][a]: Invalid value: "${'v'.repeat(64)}": must be no more than 63 bytes`],
  ];
  for (const [text, message] of cases) {
    assert.throws(
      () => parseSelector(text),
      (error: Error) => error instanceof SelectorError && error.message === message,
      text,
    );
  }
  assert.throws(() => parseSelector('é'), /<nil>: Invalid value: "é": name part must consist of/);
});

test('the selector of a spec prints as the scale subresource shows it, sorted by key', () => {
  const selector = selectorOf({
    matchLabels: { zeta: '1', app: 'clock' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['b', 'a'] },
      { key: 'env', operator: 'NotIn', values: ['y', 'x'] },
      { key: 'run', operator: 'Exists' },
      { key: 'old', operator: 'DoesNotExist' },
    ],
  });
  assert.equal(formatSelector(selector), 'app=clock,env notin (x,y),!old,run,tier in (a,b),zeta=1');
});

test('a missing selector matches nothing, an empty one everything', () => {
  assert.equal(matches(selectorOf(undefined), {}), false);
  assert.equal(matches(selectorOf({}), { a: 'b' }), true);
});

test('field selectors take escapes and stray commas, and name what is wrong', () => {
  assert.deepEqual(parseFieldSelector(','), []);
  assert.deepEqual(parseFieldSelector('a=b,c!=d\\,e'), [
    { label: 'a', operator: '=', value: 'b' },
    { label: 'c', operator: '!=', value: 'd,e' },
  ]);
  assert.throws(() => parseFieldSelector('a=b=c'), { message: 'invalid field selector: unescaped character in value: 61' });
  assert.throws(() => parseFieldSelector('name in (a,b)'), { message: "invalid selector: 'name in (a,b)'; can't understand 'b)'" });
  assert.throws(() => parseFieldSelector('abc'), { message: "invalid selector: 'abc'; can't understand 'abc'" });
  assert.throws(
    () => parseFieldSelector('a=\\x'),
    (error: Error) => error instanceof FieldSelectorError && error.message === 'invalid field selector: invalid escape sequence: \\x',
  );
  assert.equal(
    matchesFields(parseFieldSelector('a=b,c!=d'), (label) => ({ a: 'b', c: 'e' })[label] ?? ''),
    true,
  );
});
