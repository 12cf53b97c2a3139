/** Nodes: what may be said of a machine, and what of it stays. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusals, warningsOf } from '../testing/kind-under-test.ts';
import { node } from './node.ts';

const spec = (members: object): object => ({ spec: members });
const annotated = (value: string): object => ({
  metadata: { name: 'a', annotations: { 'scheduler.alpha.kubernetes.io/preferAvoidPods': value } },
});
const AVOID = 'metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[0].PodSignature';
const twice = (...texts: string[]): string[] => [...texts, ...texts];

describe('a node', () => {
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [spec({ podCIDRs: ['10.0.0.0/24', 'fd00::/64'] }), []],
    [
      spec({ podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] }),
      ['spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family'],
    ],
    [spec({ podCIDR: 'x' }), ['spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
    [spec({ taints: [{ key: 'k', effect: '' }] }), ['metadata.taints[0].effect: Required value']],
    [
      spec({ taints: [{ key: 'k', effect: 'Never' }] }),
      ['metadata.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'],
    ],
    [
      spec({
        taints: [
          { key: 'k', value: 'a', effect: 'NoExecute' },
          { key: 'k', value: 'b', effect: 'NoExecute' },
        ],
      }),
      [
        'metadata.taints[1]: Duplicate value: {"Key":"k","Value":"b","Effect":"NoExecute","TimeAdded":null}: taints must be unique by key and effect pair',
      ],
    ],
    [
      { status: { nodeInfo: { swap: { capacity: 0 } } } },
      ['metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero'],
    ],
    [{ status: { nodeInfo: { swap: { capacity: 1 } } } }, []],
    [
      { status: { capacity: { pods: '1500m' } } },
      ['capacity', 'allocatable'].map((member) => `status.${member}.pods: Invalid value: "1500m": must be an integer`),
    ],
    [annotated('{}'), []],
    [
      annotated('{'),
      ['metadata.annotations.AvoidPods: Invalid value: "scheduler.alpha.kubernetes.io/preferAvoidPods": unexpected end of JSON input'],
    ],
    [annotated('{"preferAvoidPods":[{}]}'), [`${AVOID}: Required value`]],
    [
      annotated('{"preferAvoidPods":[{"podSignature":{"podController":{"controller":false}}}]}'),
      [`${AVOID}.PodController.Controller: Invalid value: false: must point to a controller`],
    ],
    [annotated('{"preferAvoidPods":[{"podSignature":{"podController":{"controller":true}}}]}'), []],
    [
      { metadata: { name: 'a', annotations: { 'scheduler.alpha.kubernetes.io/taints': '{}' } } },
      [
        'metadata.annotations: Invalid value: "scheduler.alpha.kubernetes.io/taints": json: cannot unmarshal object into Go value of type []core.Taint',
      ],
    ],
    [
      { metadata: { name: 'a', annotations: { 'scheduler.alpha.kubernetes.io/taints': '[{"key":"k"}]' } } },
      ['metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].effect: Required value'],
    ],
    [{ status: { declaredFeatures: ['A', 'B/c'] } }, []],
    [
      { status: { declaredFeatures: ['B', 'B', 'A'] } },
      [
        'status.declaredFeatures[1]: Duplicate value: "B"',
        'status.declaredFeatures[2]: Invalid value: "A": list must be sorted alphabetically',
      ],
    ],
    [
      { status: { declaredFeatures: ['a'] } },
      [
        'status.declaredFeatures[0]: Invalid value: "a": invalid feature name "a": must start with an UpperCamelCase segment, with subsequent segments separated by \'/\' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes',
      ],
    ],
  ];
  for (const [object, expected] of cases) {
    it(`${JSON.stringify(object)} is ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
      assert.deepEqual(refusals(node, object), expected);
    });
  }

  it('keeps its ranges and who provides it once it has them', () => {
    const old = spec({ podCIDRs: ['10.0.0.0/24'], providerID: 'a' });
    assert.deepEqual(refusals(node, spec({ podCIDRs: ['10.0.1.0/24'], providerID: 'b' }), { old }), [
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    ]);
    assert.deepEqual(refusals(node, spec({ podCIDRs: ['10.0.0.0/24', 'fd00::/64'], providerID: 'a' }), { old }), [
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
    ]);
    assert.deepEqual(refusals(node, old, { old: spec({}) }), []);
    assert.deepEqual(refusals(node, spec({ externalID: 'x' }), { old: spec({}) }), ['spec.externalID: Forbidden: may not be updated']);
  });

  it('is checked twice when it changes, once when only its status does', () => {
    const bad = spec({ taints: [{ key: 'k', effect: '' }] });
    assert.deepEqual(refusals(node, bad, { old: spec({}) }), twice('metadata.taints[0].effect: Required value'));
    const addresses = [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'InternalIP', address: '10.0.0.1' },
    ];
    assert.deepEqual(refusals(node, { status: { addresses } }, { old: {}, subresource: 'status' }), [
      'status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"10.0.0.1"}',
    ]);
  });

  it('is warned of fields that mean nothing any more', () => {
    assert.deepEqual(warningsOf(node, spec({ externalID: 'x', configSource: {} })), [
      'spec.configSource: the feature is removed',
      'spec.externalID: this field is deprecated, and is unused by Kubernetes',
    ]);
  });
});
