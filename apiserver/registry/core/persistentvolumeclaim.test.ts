/** Claims: what may be asked for, and what of it may change once a volume is bound. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusals, warningsOf } from '../testing/kind-under-test.ts';
import { persistentvolumeclaim } from './persistentvolumeclaim.ts';

const claim = (spec: object = {}, more: { metadata?: object; status?: object } = {}): object => ({
  metadata: { name: 'c', ...more.metadata },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  ...(more.status && { status: more.status }),
});
const asks = (storage: string): object => ({ resources: { requests: { storage } } });
const twice = (...texts: string[]): string[] => [...texts, ...texts];
const CLASS = 'volume.beta.kubernetes.io/storage-class';

describe('a claim', () => {
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [claim({ accessModes: [] }), ['spec.accessModes: Required value: at least 1 access mode is required']],
    [
      claim({ accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] }),
      ['spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes'],
    ],
    [
      claim({ accessModes: ['ReadWriteAll'] }),
      [
        'spec.accessModes: Unsupported value: "ReadWriteAll": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      ],
    ],
    [claim({ resources: {} }), ['spec.resources[storage]: Required value']],
    [claim(asks('0')), ['spec.resources[storage]: Invalid value: "0": must be greater than zero']],
    [claim({ volumeMode: 'Tape' }), ['spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"']],
    [
      claim({ selector: { matchLabels: { 'a b': '' } } }),
      [
        "spec.selector.matchLabels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
    [
      claim({ dataSource: { kind: '', name: '' } }),
      [
        'spec.dataSource.name: Required value',
        'spec.dataSource.kind: Required value',
        'spec.dataSource: Invalid value: "": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
      ],
    ],
    [
      claim({ dataSource: { kind: 'Pod', name: 'p' } }),
      ['spec.dataSource: Invalid value: "Pod": must be \'PersistentVolumeClaim\' when referencing the default apiGroup'],
    ],
    [
      claim({ dataSource: { kind: 'PersistentVolumeClaim', name: 'a' }, dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' } }),
      ['spec: Invalid value: {}: must match dataSourceRef'],
    ],
  ];
  for (const [object, expected] of cases) {
    it(`${JSON.stringify((object as { spec: object }).spec)} is ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
      assert.deepEqual(refusals(persistentvolumeclaim, object), expected);
    });
  }

  it('is warned of fractions of bytes and of the annotation for its class', () => {
    assert.deepEqual(warningsOf(persistentvolumeclaim, claim(asks('1500m'), { metadata: { annotations: { [CLASS]: 's' } } })), [
      `metadata.annotations[${CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead`,
      'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
    ]);
    assert.deepEqual(warningsOf(persistentvolumeclaim, claim(asks('1500'))), []);
  });
});

describe('a claim that changes', () => {
  const BOUND = { phase: 'Bound', capacity: { storage: '2Gi' } };
  const changed = (old: object, next: object, status: object = { phase: 'Pending' }): string[] =>
    refusals(persistentvolumeclaim, claim(next, { status }), { old: claim(old, { status }) });
  const isFixed = (found: readonly string[]): boolean =>
    found.length === 1 &&
    found[0]!.startsWith(
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n',
    );

  it('gets its volume and class once', () => {
    assert.deepEqual(changed({}, { volumeName: 'v', storageClassName: 's' }), []);
    assert.ok(isFixed(changed({ volumeName: 'v' }, { volumeName: 'w' })));
    assert.ok(isFixed(changed({ storageClassName: 's' }, { storageClassName: 't' })));
    assert.ok(isFixed(changed({ storageClassName: 's' }, {})));
  });

  it('may ask for more once it is bound, and for less down to what it has', () => {
    assert.deepEqual(changed(asks('3Gi'), asks('4Gi'), BOUND), []);
    assert.deepEqual(changed(asks('4Gi'), asks('3Gi'), BOUND), []);
    assert.deepEqual(changed(asks('4Gi'), asks('2Gi'), BOUND), [
      'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
    ]);
    assert.ok(isFixed(changed(asks('3Gi'), asks('4Gi'))));
  });

  it('may have other attributes once it is bound, but not none once they are in force', () => {
    const silver = { volumeAttributesClassName: 'silver' };
    assert.deepEqual(changed({ volumeAttributesClassName: 'gold' }, silver, BOUND), []);
    assert.ok(isFixed(changed({ volumeAttributesClassName: 'gold' }, silver)));
    const inForce = { ...BOUND, currentVolumeAttributesClassName: 'gold' };
    const fixed = 'is forbidden when status.currentVolumeAttributesClassName is not nil';
    assert.deepEqual(changed(silver, {}, inForce), [`spec.volumeAttributesClassName: Forbidden: update to nil ${fixed}`]);
    assert.deepEqual(changed(silver, { volumeAttributesClassName: '' }, inForce), [
      `spec.volumeAttributesClassName: Forbidden: update to empty string ${fixed}`,
    ]);
  });

  it('may say its class by field instead of annotation, and else keeps the annotation', () => {
    const noted = (value: string | undefined, spec: object = {}): object =>
      claim(spec, { metadata: { annotations: value === undefined ? {} : { [CLASS]: value } } });
    const errorsOf = (old: object, next: object): string[] => refusals(persistentvolumeclaim, next, { old });
    assert.deepEqual(errorsOf(noted('s'), noted(undefined, { storageClassName: 's' })), []);
    assert.deepEqual(errorsOf(noted('s'), noted('t')), [`metadata.annotations.${CLASS}: Invalid value: "t": field is immutable`]);
    assert.deepEqual(errorsOf(noted(undefined), noted('t')), [`metadata.annotations.${CLASS}: Invalid value: "t": field is immutable`]);
  });

  it('is checked twice', () => {
    assert.deepEqual(
      changed({}, { accessModes: [] }).slice(0, 2),
      twice('spec.accessModes: Required value: at least 1 access mode is required'),
    );
    const mode = changed({}, { volumeMode: 'Block' });
    assert.equal(mode.at(-1), 'volumeMode: Invalid value: "Block": field is immutable');
  });
});

describe('the status of a claim', () => {
  const said = (status: object): string[] =>
    refusals(persistentvolumeclaim, claim({}, { status }), { old: claim(), subresource: 'status' });

  it('says how far a resize is, of storage', () => {
    assert.deepEqual(said({ allocatedResourceStatuses: { storage: 'NodeResizePending' } }), []);
    assert.deepEqual(said({ allocatedResourceStatuses: { storage: 'Soon' } }), [
      'status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"',
    ]);
    assert.deepEqual(said({ allocatedResources: { cpu: '1' } }), [
      'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
    ]);
    assert.deepEqual(said({ allocatedResources: { storage: '-1' } }), [
      'status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity',
    ]);
    assert.deepEqual(said({ capacity: { storage: '-1' } }), [
      'status.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
    ]);
  });
});
