/** Bindings of admission policies: both kinds ask the same, and show the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellsOf, refusals } from '../testing/kind-under-test.ts';
import { mutatingadmissionpolicybinding } from './mutatingadmissionpolicybinding.ts';
import { validatingadmissionpolicybinding } from './validatingadmissionpolicybinding.ts';

const spec = (more: object): object => ({ spec: { policyName: 'p.example.com', validationActions: ['Deny'], ...more } });

const CASES: readonly (readonly [object, readonly string[]])[] = [
  [spec({ paramRef: { name: 'n', parameterNotFoundAction: 'Deny' } }), []],
  [
    spec({ paramRef: {} }),
    ['spec.paramRef: Required value: one of name or selector must be specified', 'spec.paramRef.parameterNotFoundAction: Required value'],
  ],
  [
    spec({ paramRef: { name: 'a/b', selector: {}, parameterNotFoundAction: 'Skip' } }),
    [
      `spec.paramRef.name: Invalid value: "a/b": may not contain '/'`,
      'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
      'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
      'spec.paramRef.parameterNotFoundAction: Unsupported value: "Skip": supported values: "Deny", "Allow"',
    ],
  ],
];

for (const [object, expected] of CASES) {
  test(`${JSON.stringify(object)} is ${expected.length === 0 ? 'accepted' : 'refused'} by both kinds`, () => {
    assert.deepEqual(refusals(validatingadmissionpolicybinding, object), expected);
    assert.deepEqual(refusals(mutatingadmissionpolicybinding, object), expected);
  });
}

test('only the binding of a validating policy says what to do', () => {
  const object = { spec: { policyName: 'p' } };
  assert.deepEqual(refusals(mutatingadmissionpolicybinding, object), []);
  assert.deepEqual(refusals(validatingadmissionpolicybinding, object), [
    'spec.validationActions: Required value: at least one validation action is required',
  ]);
});

test('a row shows which parameters are meant', () => {
  const shown = (paramRef?: object): unknown => cellsOf(validatingadmissionpolicybinding, spec({ paramRef }))[2];
  assert.equal(shown(), '<unset>');
  assert.equal(shown({ name: 'n' }), '*/n');
  assert.equal(shown({ name: 'n', namespace: 's' }), 's/n');
  assert.equal(
    shown({ selector: { matchLabels: { b: '2', a: '1' }, matchExpressions: [{ key: 'k', operator: 'In', values: ['x', 'y'] }] } }),
    '&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}',
  );
});
