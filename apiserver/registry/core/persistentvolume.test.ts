/** Persistent volumes: one source each, with what belongs to no namespace named, and what stays. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusals, warningsOf } from '../testing/kind-under-test.ts';
import { persistentvolume } from './persistentvolume.ts';

const volume = (spec: object, metadata: object = {}): object => ({
  metadata: { name: 'v', ...metadata },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...spec },
});
const csi = (more: object = {}): object => ({ csi: { driver: 'd.example.com', volumeHandle: 'h', ...more } });
const DISK = { hostPath: { path: '/data' } };
const term = (key: string, ...values: string[]): object => ({
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values }] }] } },
});
const twice = (...texts: string[]): string[] => [...texts, ...texts];

describe('a persistent volume', () => {
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [volume({}), ['spec: Required value: must specify a volume type']],
    [volume({ ...DISK, capacity: { storage: '0' } }), ['spec.capacity[storage]: Invalid value: "0": must be greater than zero']],
    [
      volume({ ...DISK, capacity: { storage: '-1' } }),
      [
        'spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
        'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
      ],
    ],
    [volume({ ...DISK, ...csi() }), ['spec.csi: Forbidden: may not specify more than 1 volume type']],
    [
      volume({ ...DISK, gcePersistentDisk: { pdName: 'd' }, cephfs: { monitors: ['m'] } }),
      ['gcePersistentDisk', 'cephFS'].map((name) => `spec.${name}: Forbidden: may not specify more than 1 volume type`),
    ],
    [volume({ ...DISK, flexVolume: { driver: 'd' } }), []],
    [
      volume({ hostPath: { path: '/a/..' }, persistentVolumeReclaimPolicy: 'Recycle' }),
      [
        'spec.hostPath.path: Invalid value: "/a/..": must not contain \'..\'',
        "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
      ],
    ],
    [
      volume({ hostPath: { path: '//', type: '' }, persistentVolumeReclaimPolicy: 'Recycle' }),
      ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
    ],
    [
      volume({ hostPath: { path: '/a', type: 'Dir' } }),
      [
        'spec.hostPath.type: Unsupported value: "Dir": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      ],
    ],
    [volume({ local: { path: '/d' } }), ['spec.nodeAffinity: Required value: Local volume requires node affinity']],
    [volume({ local: { path: '' }, ...term('a', 'b') }), ['spec.local.path: Required value']],
    [volume({ ...DISK, nodeAffinity: {} }), ['spec.nodeAffinity.required: Required value: must specify required node constraints']],
    [
      volume({ glusterfs: { endpoints: 'e', path: 'p', endpointsNamespace: '' } }),
      ['spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid namespace name'],
    ],
    [volume({ azureFile: { secretName: 's', shareName: 'h', secretNamespace: '' } }), ['spec.azureFile.secretNamespace: Required value']],
    [volume({ cinder: { volumeID: 'c', secretRef: { name: 's' } } }), ['spec.cinder.secretRef.namespace: Required value']],
    [volume({ storageos: { volumeName: 'a', secretRef: { name: 's' } } }), ['spec.storageos.secretRef.namespace: Required value']],
    [
      volume(csi({ controllerPublishSecretRef: {}, nodePublishSecretRef: { name: 's' } })),
      [
        'spec.csi.controllerPublishSecretRef.name: Required value',
        'spec.csi.controllerPublishSecretRef.namespace: Required value',
        'spec.csi.nodePublishSecretRef.namespace: Required value',
      ],
    ],
    [volume(csi({ nodeStageSecretRef: {} })), []],
    [
      volume({ ...DISK, volumeAttributesClassName: '' }),
      [
        'spec.volumeAttributesClassName: Required value: an empty string is disallowed',
        'spec.csi: Required value: has to be specified when using volumeAttributesClassName',
      ],
    ],
    [volume({ ...csi(), volumeAttributesClassName: 'gold' }), []],
    [volume({ ...DISK, volumeMode: 'Tape' }), ['spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"']],
    [
      volume(DISK, { annotations: { 'volume.beta.kubernetes.io/mount-options': 'ro' } }),
      ['metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden: may not specify mount options for this volume type'],
    ],
    [volume({ nfs: { server: 's', path: '/p' } }, { annotations: { 'volume.beta.kubernetes.io/mount-options': 'ro' } }), []],
    [
      volume({ ...DISK, accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] }),
      ['spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes'],
    ],
  ];
  for (const [object, expected] of cases) {
    it(`${JSON.stringify((object as { spec: object }).spec)} is ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
      assert.deepEqual(refusals(persistentvolume, object), expected);
    });
  }
});

describe('a persistent volume that changes', () => {
  const changed = (old: object, next: object): string[] => refusals(persistentvolume, volume(next), { old: volume(old) });
  const FIXED = 'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n';

  it('keeps its source, but may get the secret that expands it', () => {
    assert.ok(changed(csi(), csi({ volumeHandle: 'i' }))[0]!.startsWith(FIXED));
    assert.deepEqual(changed(csi(), csi({ controllerExpandSecretRef: { name: 's', namespace: 'n' } })), []);
    const other = changed(
      csi({ controllerExpandSecretRef: { name: 's', namespace: 'n' } }),
      csi({ controllerExpandSecretRef: { name: 't', namespace: 'n' } }),
    );
    assert.ok(other[0]!.startsWith(FIXED));
  });

  it('may change capacity, modes, policy and class', () => {
    assert.deepEqual(
      changed(DISK, {
        ...DISK,
        capacity: { storage: '2Gi' },
        accessModes: ['ReadOnlyMany'],
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: 's',
        claimRef: { name: 'c', namespace: 'n' },
      }),
      [],
    );
  });

  it('is checked twice and keeps its mode', () => {
    assert.deepEqual(changed(DISK, { ...DISK, accessModes: [] }), twice('spec.accessModes: Required value'));
    assert.deepEqual(changed(DISK, { ...DISK, volumeMode: 'Block' }), ['volumeMode: Invalid value: "Block": field is immutable']);
  });

  it('gets an affinity once, and newer names for the labels in it', () => {
    const zone = 'failure-domain.beta.kubernetes.io/zone';
    assert.deepEqual(changed(DISK, { ...DISK, ...term(zone, 'a') }), []);
    assert.deepEqual(changed({ ...DISK, ...term(zone, 'a') }, { ...DISK, ...term('topology.kubernetes.io/zone', 'a') }), []);
    assert.deepEqual(changed({ ...DISK, ...term(zone, 'a') }, { ...DISK, ...term('topology.kubernetes.io/zone', 'b') }), [
      'nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":[{"MatchExpressions":[{"Key":"topology.kubernetes.io/zone","Operator":"In","Values":["b"]}],"MatchFields":null}]}}: field is immutable, except for updating from beta label to GA',
    ]);
    assert.deepEqual(changed({ ...DISK, ...term(zone, 'a') }, DISK), [
      'nodeAffinity: Invalid value: null: field is immutable, except for updating from beta label to GA',
    ]);
  });

  it('may not lose the terms of its affinity', () => {
    const affinity = { nodeAffinity: { required: { nodeSelectorTerms: null } } };
    const missing = 'spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term';
    assert.deepEqual(changed({ ...DISK, ...term('zone', 'a') }, { ...DISK, ...affinity }), [
      ...twice(missing),
      'nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":null}}: field is immutable, except for updating from beta label to GA',
    ]);
  });

  it('has attributes of some class from then on', () => {
    const gold = { ...csi(), volumeAttributesClassName: 'gold' };
    assert.deepEqual(changed(gold, { ...csi(), volumeAttributesClassName: 'silver' }), []);
    assert.deepEqual(changed(gold, csi()), ['spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden']);
  });
});

describe('warnings of a persistent volume', () => {
  it('name what is going away', () => {
    const cases: readonly (readonly [object, readonly string[]])[] = [
      [volume({ cephfs: { monitors: ['m'] } }), ['spec.cephfs: deprecated in v1.28, non-functional in v1.31+']],
      [volume({ storageos: {} }), ['spec.storageOS: deprecated in v1.22, non-functional in v1.25+']],
      [volume({ photonPersistentDisk: { pdID: 'p' } }), ['spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+']],
      [
        volume({ ...DISK, ...term('beta.kubernetes.io/os', 'linux') }),
        [
          'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead',
        ],
      ],
      [
        volume(DISK, { annotations: { 'volume.beta.kubernetes.io/storage-class': 's' } }),
        ['metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead'],
      ],
      [volume({ nfs: { server: 's', path: '/' } }), []],
    ];
    for (const [object, expected] of cases) assert.deepEqual(warningsOf(persistentvolume, object), expected);
  });
});
