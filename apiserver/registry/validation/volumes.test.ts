/** Volumes of pods: each source by its own rules, one source each, names and paths that fit together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerMessages, type Loose, specMessages, volumeMessages } from '../testing/pods.ts';

const V = 'spec.volumes[0]';

test('each source of a volume is checked by its own rules', () => {
  const cases: readonly (readonly [Loose, readonly string[]])[] = [
    [{ gcePersistentDisk: { pdName: '' } }, [`${V}.persistentDisk.pdName: Required value`]],
    [
      { gcePersistentDisk: { pdName: 'd', partition: 256 } },
      [`${V}.persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive`],
    ],
    [
      { awsElasticBlockStore: { volumeID: 'd', partition: -1 } },
      [`${V}.awsElasticBlockStore.partition: Invalid value: -1: must be between 1 and 255, inclusive`],
    ],
    [
      { gitRepo: { repository: 'r', directory: '/a/../b' } },
      [
        `${V}.gitRepo.directory: Invalid value: "/a/../b": must be a relative path`,
        `${V}.gitRepo.directory: Invalid value: "/a/../b": must not contain '..'`,
      ],
    ],
    [{ nfs: { server: 's', path: 'a' } }, [`${V}.nfs.path: Invalid value: "a": must be an absolute path`]],
    [{ nfs: { server: 's' } }, [`${V}.nfs.path: Required value`, `${V}.nfs.path: Invalid value: "": must be an absolute path`]],
    [
      { iscsi: { targetPortal: 'p', iqn: 'x', lun: 300 } },
      [
        `${V}.iscsi.iqn: Invalid value: "x": must be valid format starting with iqn, eui, or naa`,
        `${V}.iscsi.lun: Invalid value: 300: must be between 0 and 255, inclusive`,
      ],
    ],
    [{ iscsi: { targetPortal: 'p', iqn: 'iqn.2015-02.example.com:test', lun: 0 } }, []],
    [{ iscsi: { targetPortal: 'p', iqn: 'eui.123', lun: 0 } }, [`${V}.iscsi.iqn: Invalid value: "eui.123": must be valid format`]],
    [
      { iscsi: { targetPortal: 'p', iqn: 'naa.62004567BA64678D0123456789ABCDEF', lun: 0, chapAuthSession: true } },
      [`${V}.iscsi.secretRef: Required value`],
    ],
    [
      { iscsi: { targetPortal: 'p'.repeat(70), iqn: 'eui.0123456789ABCDEF', lun: 0, initiatorName: 'host' } },
      [
        `${V}.iscsi.initiatorname: Invalid value: "host": must be valid format starting with iqn, eui, or naa`,
        `${V}.name: Invalid value: "v": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.`,
      ],
    ],
    [{ flocker: {} }, [`${V}.flocker: Required value: one of datasetName and datasetUUID is required`]],
    [
      { flocker: { datasetName: 'a/b', datasetUUID: 'u' } },
      [
        `${V}.flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously`,
        `${V}.flocker.datasetName: Invalid value: "a/b": must not contain '/'`,
      ],
    ],
    [{ cinder: { volumeID: 'c', secretRef: {} } }, [`${V}.cinder.secretRef.name: Required value`]],
    [{ cephfs: { monitors: [] } }, [`${V}.cephfs.monitors: Required value`]],
    [
      { quobyte: { registry: 'a:1,b', volume: '' } },
      [
        `${V}.quobyte.registry: Invalid value: "a:1,b": must be a host:port pair or multiple pairs separated by commas`,
        `${V}.quobyte.volume: Required value`,
      ],
    ],
    [
      { quobyte: { registry: '[::1]:1', tenant: 't'.repeat(65), volume: 'v' } },
      [`${V}.quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 characters`],
    ],
    [{ fc: {} }, [`${V}.fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both`]],
    [{ fc: { targetWWNs: ['w'] } }, [`${V}.fc.lun: Required value: lun is required if targetWWNs is specified`]],
    [
      { fc: { targetWWNs: ['w'], wwids: ['i'], lun: 256 } },
      [
        `${V}.fc.targetWWNs: Invalid value: ["w"]: targetWWNs and wwids can not be specified simultaneously`,
        `${V}.fc.lun: Invalid value: 256: must be between 0 and 255, inclusive`,
      ],
    ],
    [
      { flexVolume: { options: { 'Kubernetes.io/a': '1', 'example.com/a': '1' } } },
      [
        `${V}.flexVolume.driver: Required value`,
        `${V}.flexVolume.options[Kubernetes.io/a]: Invalid value: "Kubernetes.io/a": kubernetes.io and k8s.io namespaces are reserved`,
      ],
    ],
    [
      { azureDisk: { diskName: 'd', diskURI: 'https://x', kind: 'Managed', cachingMode: 'Some' } },
      [
        `${V}.azureDisk.cachingMode: Unsupported value: "Some": supported values: "None", "ReadOnly", "ReadWrite"`,
        `${V}.azureDisk.diskURI: Unsupported value: "https://x": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"`,
      ],
    ],
    [
      { azureDisk: { diskName: 'd', diskURI: '/subscriptions/x' } },
      [
        `${V}.azureDisk.diskURI: Unsupported value: "/subscriptions/x": supported values: "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"`,
      ],
    ],
    [{ storageos: { volumeName: 'ok', secretRef: {} } }, [`${V}.storageos.secretRef.name: Required value`]],
    [{ csi: { driver: 'd', nodePublishSecretRef: {} } }, [`${V}.csi.nodePublishSecretRef.name: Required value`]],
    [{ csi: { driver: 'x'.repeat(64) } }, [`${V}.csi.driver: Too long: may not be more than 63 bytes`]],
    [{ scaleIO: { gateway: 'g' } }, [`${V}.scaleIO.system: Required value`, `${V}.scaleIO.volumeName: Required value`]],
    [{ image: {} }, [`${V}.image.reference: Required value`]],
  ];
  for (const [members, expected] of cases) assert.deepEqual(volumeMessages(members), expected, JSON.stringify(members));
});

test('a volume has one source; names of refused seconds are spelled as upstream spells them', () => {
  const cases: readonly (readonly [Loose, string])[] = [
    [{ emptyDir: {}, cephfs: { monitors: ['m'] } }, `${V}.cephFS`],
    [{ emptyDir: {}, downwardAPI: {} }, `${V}.downwarAPI`],
    [{ hostPath: { path: '/' }, gcePersistentDisk: { pdName: 'd' } }, `${V}.gcePersistentDisk`],
  ];
  for (const [members, path] of cases)
    assert.deepEqual(volumeMessages(members), [`${path}: Forbidden: may not specify more than 1 volume type`]);
});

test('projected sources are all checked, and then refused together', () => {
  assert.deepEqual(
    volumeMessages({ projected: { sources: [{ secret: {}, configMap: { name: 'm' }, serviceAccountToken: { path: '/t' } }] } }),
    [
      `${V}.projected.sources[0].secret.name: Required value`,
      `${V}.projected.path: Invalid value: "/t": must be a relative path`,
      `${V}.projected.sources[0]: Forbidden: may not specify more than 1 volume type per source`,
    ],
  );
  const same = [{ key: 'k', path: 'a' }];
  assert.deepEqual(
    volumeMessages({ projected: { sources: [{ secret: { name: 's', items: same } }, { configMap: { name: 'm', items: same } }] } }),
    [`${V}.projected: Invalid value: "m": conflicting duplicate paths`],
  );
});

test('a claim that the pod will be given cannot be named by it', () => {
  const claim = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
  assert.deepEqual(
    specMessages({
      volumes: [
        { name: 'e', ephemeral: { volumeClaimTemplate: claim } },
        { name: 'v', persistentVolumeClaim: { claimName: 'p-e' } },
      ],
    }),
    [
      'spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "p-e": must not reference a PVC that gets created for an ephemeral volume',
    ],
  );
});

test('the claim of an ephemeral volume has labels and annotations and nothing else', () => {
  const at = `${V}.ephemeral.volumeClaimTemplate.metadata`;
  const metadata = { name: 'n', uid: 'u', labels: { app: 'a b' }, annotations: { 'a b': '' }, finalizers: ['a/b'] };
  const spec = { accessModes: ['ReadWriteOncePod', 'ReadWriteMany'], resources: { requests: { storage: '1' } } };
  const messages = volumeMessages({ ephemeral: { volumeClaimTemplate: { metadata, spec } } });
  assert.deepEqual(
    messages.map((message) => message.slice(0, message.indexOf(': '))),
    [
      `${at}.annotations`,
      `${at}.labels`,
      ...['name', 'uID', 'finalizers'].map((name) => `${at}.${name}`),
      `${V}.ephemeral.volumeClaimTemplate.spec.accessModes`,
    ],
  );
  assert.equal(
    messages.at(-1),
    `${V}.ephemeral.volumeClaimTemplate.spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes`,
  );
});

test('mounts and devices name volumes that are there, and paths once', () => {
  const volumes = [{ name: 'v', emptyDir: {} }];
  const at = 'spec.containers[0]';
  assert.deepEqual(containerMessages({ volumeMounts: [{ name: 'v', mountPath: '/a', subPath: 'x', subPathExpr: '/y' }] }, { volumes }), [
    `${at}.volumeMounts[0].subPathExpr: Invalid value: "/y": subPathExpr and subPath are mutually exclusive`,
    `${at}.volumeMounts.subPathExpr: Invalid value: "/y": must be a relative path`,
  ]);
  assert.deepEqual(containerMessages({ volumeDevices: [{ name: 'v', devicePath: '/dev/../x' }] }, { volumes }), [
    `${at}.volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`,
    `${at}.volumeDevices[0].devicePath: Invalid value: "/dev/../x": can not contain backsteps ('..')`,
  ]);
});
