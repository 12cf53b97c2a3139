/** Limit ranges and quotas: bounds that fit together, and scopes that mean something to what is counted. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusals } from '../testing/kind-under-test.ts';
import { limitrange } from './limitrange.ts';
import { resourcequota } from './resourcequota.ts';

const limit = (item: object): object => ({ spec: { limits: [item] } });
const AT = 'spec.limits[0]';

describe('a limit range', () => {
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [limit({ type: 'example.com/box', max: { 'example.com/box': '1' } }), []],
    [limit({ type: 'Box' }), [`${AT}.type: Invalid value: "Box": must be a standard limit type or fully qualified`]],
    [
      limit({ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }),
      ['default', 'defaultRequest'].map((member) => `${AT}.${member}: Forbidden: may not be specified when \`type\` is 'Pod'`),
    ],
    [
      limit({ type: 'PersistentVolumeClaim', max: { cpu: '1' } }),
      [`${AT}.limits: Required value: either minimum or maximum storage value is required, but neither was provided`],
    ],
    [limit({ type: 'PersistentVolumeClaim', max: { storage: '1' } }), []],
    [
      limit({ type: 'Pod', min: { cpu: '2' }, max: { cpu: '1500m' } }),
      [`${AT}.min[cpu]: Invalid value: "2": min value 2 is greater than max value 1500m`],
    ],
    [
      limit({ type: 'Container', min: { cpu: '2' }, defaultRequest: { cpu: '1' }, default: { cpu: '1' } }),
      [
        `${AT}.defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1`,
        `${AT}.default[cpu]: Invalid value: "2": min value 2 is greater than default value 1`,
      ],
    ],
    [
      limit({ type: 'Container', max: { cpu: '2' }, defaultRequest: { cpu: '3' }, default: { cpu: '4' } }),
      [
        `${AT}.defaultRequest[cpu]: Invalid value: "3": default request value 3 is greater than max value 2`,
        `${AT}.default[cpu]: Invalid value: "2": default value 4 is greater than max value 2`,
      ],
    ],
    [
      limit({ type: 'Container', max: { cpu: '2' }, min: { cpu: '1' }, maxLimitRequestRatio: { cpu: '500m' } }),
      [`${AT}.maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1`],
    ],
    [
      limit({ type: 'Container', max: { cpu: '2' }, min: { cpu: '1' }, maxLimitRequestRatio: { cpu: '3' } }),
      [`${AT}.maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000`],
    ],
    [
      limit({ type: 'Container', default: { 'example.com/box': '2' }, defaultRequest: { 'example.com/box': '1' } }),
      [
        `${AT}.defaultRequest[example.com/box]: Invalid value: "1": default value 2 must equal to defaultRequest value 1 in example.com/box`,
      ],
    ],
    [limit({ type: 'Pod', max: { cpu: '0' }, min: { cpu: '0' }, maxLimitRequestRatio: { cpu: '3' } }), []],
    [{ spec: { limits: [{ type: 'Pod' }, { type: 'Pod' }] } }, ['spec.limits[1].type: Duplicate value: "Pod"']],
    [
      limit({ type: 'Container', max: { 'example.com': '1' } }),
      // the maximum is the default limit, and that the default request
      ['max', 'default', 'defaultRequest'].map(
        (member) => `${AT}.${member}[example.com]: Invalid value: "example.com": must be a standard resource type or fully qualified`,
      ),
    ],
  ];
  for (const [object, expected] of cases) {
    it(`${JSON.stringify(object)} is ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
      const found = refusals(limitrange, object);
      assert.deepEqual(
        found.filter((text) => !text.includes('must be a standard resource for containers')),
        expected,
      );
    });
  }
});

const quota = (hard: object, more: object = {}): object => ({ spec: { hard, ...more } });
const selects = (...matchExpressions: object[]): object => ({ scopeSelector: { matchExpressions } });

describe('a quota', () => {
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [quota({ 'count/widgets.example.com': '1', 'requests.example.com/box': '1', 'requests.hugepages-2Mi': '1' }), []],
    [
      quota({ box: '1' }),
      [
        'spec.hard[box]: Invalid value: "box": must be a standard resource type or fully qualified',
        'spec.hard[box]: Invalid value: "box": must be a standard resource for quota',
      ],
    ],
    [quota({ pods: '-1' }), ['spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0']],
    [quota({ pods: '1500m' }), ['spec.hard[pods]: Invalid value: "1500m": must be an integer']],
    [
      quota({ services: '1' }, { scopes: ['BestEffort'] }),
      ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
    ],
    [quota({ pods: '1', 'limits.cpu': '1' }, { scopes: ['Terminating', 'NotBestEffort'] }), []],
    [
      quota({ pods: '1' }, { scopes: ['Terminating', 'NotTerminating'] }),
      ['spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes'],
    ],
    [quota({ pods: '1' }, { scopes: ['Odd'] }), ['spec.scopes: Invalid value: ["Odd"]: unsupported scope']],
    [
      quota({ pods: '1' }, selects({ scopeName: 'PriorityClass', operator: 'In' })),
      [
        "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
      ],
    ],
    [
      quota({ pods: '1' }, selects({ scopeName: 'PriorityClass', operator: 'Exists', values: ['x'] })),
      [
        "spec.scopeSelector.matchExpressions.values: Invalid value: [\"x\"]: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
      ],
    ],
    [
      quota({ pods: '1' }, selects({ scopeName: 'BestEffort', operator: 'In', values: ['x'] })),
      [
        'spec.scopeSelector.matchExpressions.operator: Invalid value: "In": must be \'Exists\' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity',
      ],
    ],
    [
      quota({ pods: '1' }, selects({ scopeName: 'PriorityClass', operator: 'Near' })),
      ['spec.scopeSelector.matchExpressions.operator: Invalid value: "Near": not a valid selector operator'],
    ],
    [quota({ persistentvolumeclaims: '1' }, selects({ scopeName: 'VolumeAttributesClass', operator: 'In', values: ['gold'] })), []],
    [
      quota({ pods: '1' }, selects({ scopeName: 'VolumeAttributesClass', operator: 'Exists' })),
      [
        'spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"VolumeAttributesClass","Operator":"Exists","Values":null}]}: unsupported scope applied to resource',
      ],
    ],
  ];
  for (const [object, expected] of cases) {
    it(`${JSON.stringify(object)} is ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
      assert.deepEqual(refusals(resourcequota, object), expected);
    });
  }

  it('keeps its scopes, in whatever order', () => {
    const old = quota({ pods: '1' }, { scopes: ['Terminating', 'NotBestEffort'] });
    assert.deepEqual(refusals(resourcequota, quota({ pods: '2' }, { scopes: ['NotBestEffort', 'Terminating'] }), { old }), []);
    assert.deepEqual(refusals(resourcequota, quota({ pods: '1' }, { scopes: ['Terminating'] }), { old }), [
      'spec.scopes: Invalid value: ["Terminating"]: field is immutable',
    ]);
  });

  it('counts what it names in its status, too', () => {
    const status = { hard: { box: '1' }, used: { pods: '-1' } };
    assert.deepEqual(refusals(resourcequota, { status }, { old: quota({ pods: '1' }), subresource: 'status' }), [
      'status.hard[box]: Invalid value: "box": must be a standard resource type or fully qualified',
      'status.hard[box]: Invalid value: "box": must be a standard resource for quota',
      'status.used[pods]: Invalid value: "-1": must be greater than or equal to 0',
    ]);
  });
});
