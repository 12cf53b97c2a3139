/** Storage classes, attachments and drivers: rules that differ between what is new and what changes, and what their rows show. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellsOf, refusals } from '../testing/kind-under-test.ts';
import { csidriver } from './csidriver.ts';
import { storageclass } from './storageclass.ts';
import { volumeattachment } from './volumeattachment.ts';
import { volumeattributesclass } from './volumeattributesclass.ts';

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const INLINE = 'spec.source.inlineVolumeSpec';
const NOT_INLINE = 'Forbidden: may not be specified in the context of inline volumes';

const attachment = (source: object, more: object = {}): object => ({ spec: { attacher: 'd.example.com', nodeName: 'n', source, ...more } });
const csi = { driver: 'd.example.com', volumeHandle: 'h' };
const inline = (spec: object): object => attachment({ inlineVolumeSpec: spec });

const ATTACHMENTS: readonly (readonly [string, object, readonly string[]])[] = [
  ['a volume by name', attachment({ persistentVolumeName: 'pv-1' }), []],
  [
    'a name that no volume can have',
    attachment({ persistentVolumeName: 'PV_1' }),
    [`spec.source.persistentVolumeName: Invalid value: "PV_1": ${SUBDOMAIN}`],
  ],
  [
    'an attacher that no driver can be',
    attachment({ persistentVolumeName: 'p' }, { attacher: 'a_b' }),
    [`spec.attacher: Invalid value: "a_b": ${SUBDOMAIN}`],
  ],
  ['a volume inside', inline({ accessModes: ['ReadWriteOnce'], csi }), []],
  [
    'what only volumes have, inside',
    inline({
      accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'],
      csi,
      claimRef: { name: 'c' },
      capacity: { storage: '1Gi' },
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 's',
      volumeMode: 'Block',
    }),
    [
      `${INLINE}.claimRef: ${NOT_INLINE}`,
      `${INLINE}.capacity: ${NOT_INLINE}`,
      `${INLINE}.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes`,
      `${INLINE}.persistentVolumeReclaimPolicy: ${NOT_INLINE}`,
      `${INLINE}.storageClassName: ${NOT_INLINE}`,
      `${INLINE}.volumeMode: ${NOT_INLINE}`,
    ],
  ],
  [
    'a volume of another type inside',
    inline({ accessModes: ['ReadWriteOnce'], hostPath: { path: '/d', type: '' } }),
    [`${INLINE}.csi: Required value: has to be specified in the context of inline volumes`],
  ],
  [
    'no volume inside',
    inline({ nodeAffinity: {} }),
    [
      `${INLINE}.csi: Required value: has to be specified in the context of inline volumes`,
      `${INLINE}.accessModes: Required value`,
      `${INLINE}.nodeAffinity.required: Required value: must specify required node constraints`,
      `${INLINE}: Required value: must specify a volume type`,
    ],
  ],
];

for (const [name, object, expected] of ATTACHMENTS) {
  test(`${name}: ${expected.length === 0 ? 'attached' : 'refused'}`, () => {
    assert.deepEqual(refusals(volumeattachment, object), expected);
  });
}

test('names of an attachment that is there already are not looked at again', () => {
  const old = attachment({ persistentVolumeName: 'PV_1' });
  assert.deepEqual(refusals(volumeattachment, old, { old }), []);
  assert.deepEqual(refusals(volumeattachment, old, { old, subresource: 'status' }), []);
});

test('too many parameters are told as if they were too long', () => {
  const parameters = Object.fromEntries(Array.from({ length: 513 }, (_, i) => [`k${i}`, '']));
  const expected = ['parameters: Too long: may not be more than 512 bytes'];
  assert.deepEqual(refusals(storageclass, { provisioner: 'p', parameters }), expected);
  assert.deepEqual(refusals(volumeattributesclass, { driverName: 'p', parameters }), expected);
});

test('a driver that asks for tokens of the server itself shows an empty audience', () => {
  assert.equal(cellsOf(csidriver, { spec: { tokenRequests: [{ audience: '' }] } })[4], '');
  assert.equal(cellsOf(csidriver, { spec: { tokenRequests: [{ audience: 'a' }, { audience: '' }] } })[4], 'a,');
  assert.equal(cellsOf(csidriver, { spec: { tokenRequests: [] } })[4], '<unset>');
});
