/** Waiting for the volumes of a pod: it ends with the claims, with the time, or with the scheduler. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../machinery/api/types/core.v1.ts';
import { persistentvolumeclaims } from '../machinery/client/resource-type.ts';
import { MemoryClient } from '../machinery/client/testing/memory-client.ts';
import { FakeClock } from '../machinery/process/testing/fake-clock.ts';
import { bindVolumes } from './bind-volumes.ts';
import type { Lookup } from './framework/snapshot.ts';
import { nodeEvents } from './queue/cluster-event.ts';
import { makeNode } from './testing/fixtures.ts';

test('a scheduler that is told to stop does not wait for claims any longer', async () => {
  const client = new MemoryClient();
  const clock = new FakeClock();
  const stop = new AbortController();
  const claim = await client.create<PersistentVolumeClaim>(persistentvolumeclaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'ns', name: 'data' },
    spec: {},
  });
  const lookup = { claim: () => claim } as unknown as Lookup;
  const binding = bindVolumes({ client, lookup, clock, signal: stop.signal }, [{ claim, volume: undefined }], 'a');
  const rejected = assert.rejects(binding, /stopped/);
  await clock.advance(1_000);
  assert.equal(clock.pending, 1);
  stop.abort(new Error('stopped'));
  await rejected;
  assert.equal(clock.pending, 0);
});

test('members in another order are no change of a node', () => {
  const node = makeNode('a');
  const labelled = (labels: Record<string, string>) => ({ ...node, metadata: { ...node.metadata, labels } });
  assert.deepEqual(nodeEvents(labelled({ a: '1', b: '2' }), labelled({ b: '2', a: '1' })), []);
  assert.equal(nodeEvents(labelled({ a: '1' }), labelled({ a: '2' })).length, 1);
});
