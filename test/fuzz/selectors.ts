/** Label and field selectors: printing what parses again, matching against a small model, and any text. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FieldSelectorError, formatFieldSelector, matchesFields, parseFieldSelector } from '../../machinery/api/field-selector.ts';
import { formatSelector, matches, parseSelector, SelectorError, selectorOf } from '../../machinery/api/selector.ts';
import { name, oddName, textOf } from './arbitraries.ts';
import { accepted, type FuzzProperty, property } from './property.ts';

const word = name.filter((n) => n !== 'in' && n !== 'notin');
const requirement = fc.oneof(
  word,
  word.map((n) => `!${n}`),
  fc.tuple(word, fc.constantFrom('=', '==', '!='), word).map((parts) => parts.join('')),
  fc
    .tuple(name, fc.constantFrom('in', 'notin'), fc.array(word, { minLength: 1, maxLength: 4 }))
    .map(([k, op, v]) => `${k} ${op} (${v.join(',')})`),
  fc.tuple(word, fc.constantFrom('>', '<'), fc.nat()).map((parts) => parts.join('')),
);

const key = fc.constantFrom('a', 'b', 'constructor', 'toString');
const label = fc.constantFrom('x', 'y', '');
const labels = fc.dictionary(key, label, { maxKeys: 4 });
const expression = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('In', 'NotIn'), values: fc.array(label, { minLength: 1, maxLength: 3 }) }),
  fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
);
type Expression = { key: string; operator: string; values?: string[] };

/** The definition of matchExpressions, read straight from the API's reference. */
function holds({ key, operator, values = [] }: Expression, of: Record<string, string>): boolean {
  const has = Object.hasOwn(of, key);
  if (operator === 'Exists') return has;
  if (operator === 'DoesNotExist') return !has;
  return operator === 'In' ? has && values.includes(of[key]!) : !has || !values.includes(of[key]!);
}

export const selectorProperties: readonly FuzzProperty[] = [
  property('what a selector prints parses to the same selector', fc.array(requirement, { maxLength: 5 }), (requirements) => {
    const selector = parseSelector(requirements.join(','));
    assert.deepEqual(parseSelector(formatSelector(selector)), selector);
  }),
  property(
    'a selector of a spec matches exactly what its expressions say, and so does its text',
    fc.tuple(labels, fc.dictionary(key, label, { maxKeys: 2 }), fc.array(expression, { maxLength: 3 })),
    ([of, matchLabels, matchExpressions]) => {
      const expected =
        Object.keys(matchLabels).every((k) => Object.hasOwn(of, k) && of[k] === matchLabels[k]) &&
        matchExpressions.every((e) => holds(e, of));
      const selector = selectorOf({ matchLabels, matchExpressions });
      assert.equal(matches(selector, of), expected);
      assert.equal(matches(parseSelector(formatSelector(selector)), of), expected, formatSelector(selector));
    },
  ),
  property(
    'any text is a label selector that prints and parses again, or is refused by name',
    textOf('a', 'b.c/d', 'in', 'notin', ' ', ',', '(', ')', '=', '==', '!=', '!', '>', '<', '1', '-', '__proto__', '\t', '"'),
    (text) => {
      const selector = accepted(() => parseSelector(text), SelectorError);
      if (selector === undefined) return;
      matches(selector, { a: '1', constructor: 'x' });
      assert.equal(formatSelector(parseSelector(formatSelector(selector))), formatSelector(selector));
    },
    { runs: 500 },
  ),
  property(
    'what a field selector prints parses to the same requirements',
    fc.array(fc.tuple(name, fc.string()), { maxLength: 4 }),
    (terms) => {
      const requirements = terms.map(([label, value]) => ({ label, operator: '=' as const, value }));
      const byText = (r: object): string => JSON.stringify(r);
      assert.deepEqual(parseFieldSelector(formatFieldSelector(requirements)).map(byText).sort(), requirements.map(byText).sort());
    },
  ),
  property(
    'any text is a field selector that prints and parses again, or is refused by name',
    textOf('metadata.name', 'spec.nodeName', '=', '==', '!=', ',', '\\', '\\,', '\\=', '\\\\', 'x', ' '),
    (text) => {
      const requirements = accepted(() => parseFieldSelector(text), FieldSelectorError);
      if (requirements === undefined) return;
      matchesFields(requirements, () => '');
      // The order of terms is that of their texts as sent, `==` or `=`.
      const terms = (of: typeof requirements): string[] => of.map((r) => formatFieldSelector([r])).sort();
      assert.deepEqual(terms(parseFieldSelector(formatFieldSelector(requirements))), terms(requirements));
    },
    { runs: 500 },
  ),
  property('a label named like the insides of an object is found only where it is', fc.tuple(oddName, oddName), ([asked, present]) => {
    const selector = accepted(() => parseSelector(asked), SelectorError);
    if (selector === undefined || asked === '') return;
    assert.equal(matches(selector, Object.fromEntries([[present, 'x']])), asked === present);
  }),
];
