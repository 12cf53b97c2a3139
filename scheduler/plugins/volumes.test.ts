/** Claims and volumes in scheduling. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolume, PersistentVolumeClaim } from '../../machinery/api/types/core.v1.ts';
import { podInfo } from '../framework/pod-info.ts';
import type { Lookup } from '../framework/snapshot.ts';
import { makeCache, makeNode, makePod, place } from '../testing/fixtures.ts';
import { volumeChoices } from './volume-binding.ts';

const pod = makePod('p', { spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'd' } }] } });

function claim(spec: PersistentVolumeClaim['spec'] = {}, bound = false): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'd', namespace: 'default', uid: 'c', ...(bound && { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } }) },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '5Gi' } },
      storageClassName: 'wait',
      ...spec,
      ...(bound && { volumeName: 'v' }),
    },
  };
}

function volume(name: string, size: string, host?: string): PersistentVolume {
  const nodeAffinity = {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [host ?? ''] }] }] },
  };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: { capacity: { storage: size }, accessModes: ['ReadWriteOnce'], storageClassName: 'wait', ...(host && { nodeAffinity }) },
    status: { phase: 'Available' },
  } as PersistentVolume;
}

function lookupOf(
  claims: readonly PersistentVolumeClaim[],
  volumes: readonly PersistentVolume[] = [],
  provisioner = 'kubernetes.io/no-provisioner',
): Partial<Lookup> {
  return {
    claim: (_namespace, name) => claims.find((other) => other.metadata.name === name),
    volume: (name) => volumes.find((other) => other.metadata.name === name),
    volumes: () => volumes,
    storageClass: (name) => (name === 'wait' ? ({ volumeBindingMode: 'WaitForFirstConsumer', provisioner } as never) : undefined),
  };
}

const cases: readonly [what: string, lookup: Partial<Lookup>, expect: string | RegExp][] = [
  ['a claim that does not exist', lookupOf([]), '0/1 nodes are available: persistentvolumeclaim "d" not found. not found'],
  [
    'an unbound claim that waits for nobody',
    lookupOf([claim({ storageClassName: '' })]),
    '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
  ],
  [
    'a bound volume of another place',
    lookupOf([claim({}, true)], [volume('v', '5Gi', 'b')]),
    /1 node\(s\) didn't match PersistentVolume's node affinity\. .*not helpful/,
  ],
  ['a bound volume of this place', lookupOf([claim({}, true)], [volume('v', '5Gi', 'a')]), 'a'],
  [
    'a waiting claim without a volume',
    lookupOf([claim()], [volume('v', '1Gi')]),
    /1 node\(s\) didn't find available persistent volumes to bind/,
  ],
  ['a waiting claim with a volume', lookupOf([claim()], [volume('v', '5Gi', 'a')]), 'a'],
  ['a waiting claim for which a volume can be made', lookupOf([claim()], [], 'example.com/disks'), 'a'],
];

for (const [what, lookup, expect] of cases) {
  test(what, () => {
    const placed = place(pod, makeCache([makeNode('a')], [], lookup));
    if (typeof expect === 'string') assert.equal(placed, expect);
    else assert.match(placed, expect);
  });
}

test('of the volumes that fit a waiting claim takes the smallest', () => {
  const lookup = makeCache(
    [makeNode('a')],
    [],
    lookupOf([claim()], [volume('large', '50Gi'), volume('fit', '6Gi'), volume('small', '1Gi')]),
  ).lookup;
  assert.deepEqual(
    volumeChoices(podInfo(pod), makeNode('a'), lookup).map((choice) => choice.volume?.metadata.name),
    ['fit'],
  );
});

test('a claim ReadWriteOncePod that is in use keeps a second pod out', () => {
  const lookup = lookupOf([claim({ accessModes: ['ReadWriteOncePod'] }, true)], [volume('v', '5Gi')]);
  const user = makePod('user', { node: 'a', spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'd' } }] } });
  assert.match(
    place(pod, makeCache([makeNode('a')], [user], lookup)),
    /1 node\(s\) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod\. .*1 No preemption victims found for incoming pod\.$/,
  );
});
