/** Questions about rights: what is asked must be one thing, of somebody, without a name of its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AccessReview, accessReviewErrors, type ReviewForm, selectorComplaint } from './access-review.ts';

const PATH = 'spec.resourceAttributes';
const told = (form: ReviewForm, spec: object, metadata: object = {}): string[] =>
  accessReviewErrors({ apiVersion: 'authorization.k8s.io/v1', kind: 'X', metadata, spec } as AccessReview, form).map(
    ({ message }) => message,
  );
const pods = (more: object = {}): object => ({ verb: 'list', resource: 'pods', ...more });

type Case = readonly [ReviewForm, spec: object, metadata: object, expected: readonly string[]];
const CASES: readonly Case[] = [
  ['self', { resourceAttributes: pods() }, {}, []],
  ['subject', { groups: ['g'], nonResourceAttributes: { path: '/x' } }, { managedFields: [{}] }, []],
  [
    'subject',
    {},
    {},
    [
      `${PATH}: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified`,
      'spec.user: Invalid value: "": at least one of user or group must be specified',
    ],
  ],
  ['self', { resourceAttributes: pods() }, { generateName: 'a-' }, ['metadata: Invalid value: {"generateName":"a-"}: must be empty']],
  ['self', { resourceAttributes: pods() }, { labels: {}, name: '' }, []],
  ['local', { user: 'u', resourceAttributes: pods({ namespace: 'n' }) }, { namespace: 'n' }, []],
  [
    'local',
    { user: 'u', resourceAttributes: pods({ namespace: 'o' }) },
    { namespace: 'n', annotations: { a: 'b' } },
    [
      'metadata: Invalid value: {"namespace":"n","annotations":{"a":"b"}}: must be empty except for namespace',
      `${PATH}.namespace: Invalid value: "o": must match metadata.namespace`,
    ],
  ],
  [
    'local',
    { user: 'u', nonResourceAttributes: { path: '/x', verb: 'get' } },
    { namespace: 'n' },
    ['spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: disallowed on this kind of request'],
  ],
  [
    'self',
    {
      resourceAttributes: pods({
        fieldSelector: {},
        labelSelector: { rawSelector: 'a', requirements: [{ key: 'a b', operator: 'Exists', values: ['c'] }] },
      }),
    },
    {},
    [
      `${PATH}.fieldSelector.requirements: Required value: when ${PATH}.fieldSelector is specified, requirements or rawSelector is required`,
      `${PATH}.labelSelector.rawSelector: Invalid value: "a": may not specified at the same time as requirements`,
      `${PATH}.labelSelector.requirements[0].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
      `${PATH}.labelSelector.requirements[0].key: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
    ],
  ],
  [
    'self',
    { resourceAttributes: pods({ fieldSelector: { requirements: [{ operator: 'NotIn' }, { key: 'k', operator: 'Newer' }] } }) },
    {},
    [
      `${PATH}.fieldSelector.requirements[0].key: Required value: must be specified`,
      `${PATH}.fieldSelector.requirements[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
    ],
  ],
];

for (const [form, spec, metadata, expected] of CASES) {
  test(`${form} ${JSON.stringify({ metadata, spec })} is ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
    assert.deepEqual(told(form, spec, metadata), expected);
  });
}

test('selectors that cannot be understood are said to be ignored, wholly or partly', () => {
  const known = { key: 'k', operator: 'In', values: ['a'] };
  const complaints: readonly (readonly [object, string])[] = [
    [{ fieldSelector: { requirements: [known] }, labelSelector: { rawSelector: 'a in (b)' } }, ''],
    [{ fieldSelector: { rawSelector: 'nothing' } }, `${PATH}.fieldSelector ignored due to parse error`],
    [
      { fieldSelector: { requirements: [known, { key: 'k', operator: 'Exists' }] } },
      `${PATH}.fieldSelector partially ignored due to parse error`,
    ],
    [
      {
        fieldSelector: { requirements: [{ ...known, values: ['a', 'b'] }] },
        labelSelector: { requirements: [{ key: 'k', operator: 'Gt' }] },
      },
      `${PATH}.fieldSelector ignored due to parse error; ${PATH}.labelSelector ignored due to parse error`,
    ],
  ];
  for (const [resource, expected] of complaints) assert.equal(selectorComplaint(resource as never), expected);
});
