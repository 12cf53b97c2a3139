/** What becomes of recorded events: written, counted, combined, limited, dropped. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notFound } from '../api/status.ts';
import type { Event, Pod } from '../api/types/core.v1.ts';
import type { Event as NewEvent } from '../api/types/events.k8s.io.v1.ts';
import { silentLogger } from '../process/logger.ts';
import { seededRandom } from '../process/random.ts';
import { FakeClock } from '../process/testing/fake-clock.ts';
import { ConnectionError } from './errors.ts';
import { createRecorder } from './recorder.ts';
import { events, newEvents } from './resource-type.ts';
import { MemoryClient } from './testing/memory-client.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name: 'web', uid: 'u1', resourceVersion: '7' },
  spec: { containers: [] },
};

function setup(api: 'core' | 'events.k8s.io' = 'core') {
  const [client, clock] = [new MemoryClient(), new FakeClock()];
  const recorder = createRecorder(client, {
    clock,
    random: seededRandom(1),
    logger: silentLogger,
    component: 'kubelet',
    host: 'node-1',
    api,
  });
  const listed = async (): Promise<Event[]> => (await client.list(events)).items;
  return { client, clock, recorder, listed };
}

test('an event says who saw what about which object', async () => {
  const { recorder, listed } = setup();
  recorder.event(pod, 'Normal', 'Started', 'Started container', { fieldPath: 'spec.containers{c}' });
  await recorder.flush();
  const [event] = await listed();
  assert.match(event?.metadata.name ?? '', /^web\.[0-9a-f]{16}$/);
  assert.equal(event?.metadata.namespace, 'ns');
  assert.deepEqual(event?.involvedObject, {
    kind: 'Pod',
    namespace: 'ns',
    name: 'web',
    uid: 'u1',
    apiVersion: 'v1',
    resourceVersion: '7',
    fieldPath: 'spec.containers{c}',
  });
  assert.deepEqual(event?.source, { component: 'kubelet', host: 'node-1' });
  assert.deepEqual(
    [event?.count, event?.firstTimestamp, event?.reportingComponent, event?.reportingInstance],
    [1, '2026-01-01T00:00:00Z', 'kubelet', 'node-1'],
  );
});

test('the same event again raises its count', async () => {
  const { recorder, clock, listed } = setup();
  for (let i = 0; i < 3; i++) {
    recorder.event(pod, 'Warning', 'BackOff', 'Back-off');
    await recorder.flush();
    await clock.advance(10_000);
  }
  const all = await listed();
  assert.equal(all.length, 1);
  assert.deepEqual([all[0]?.count, all[0]?.firstTimestamp, all[0]?.lastTimestamp], [3, '2026-01-01T00:00:00Z', '2026-01-01T00:00:20Z']);
});

test('after ten different messages the rest become one combined event', async () => {
  const { recorder, listed } = setup();
  for (let i = 0; i < 14; i++) recorder.event(pod, 'Normal', 'SuccessfulCreate', `Created pod: web-${i}`);
  await recorder.flush();
  const all = await listed();
  assert.equal(all.length, 11);
  const combined = all.find((event) => event.message?.startsWith('(combined from similar events): '));
  assert.equal(combined?.count, 4);
  assert.equal(combined?.message, '(combined from similar events): Created pod: web-13');
});

test('a source may not flood: 25 events about an object, then one every five minutes', async () => {
  const { recorder, clock, client } = setup();
  for (let i = 0; i < 40; i++) recorder.event(pod, 'Normal', `Reason${i}`, 'x');
  await recorder.flush();
  assert.equal(client.writes.length, 25);
  await clock.advance(300_000);
  for (let i = 0; i < 5; i++) recorder.event(pod, 'Normal', `Later${i}`, 'x');
  await recorder.flush();
  assert.equal(client.writes.length, 26);
});

test('events.k8s.io counts repetitions as a series, whatever the words', async () => {
  const { recorder, client, clock } = setup('events.k8s.io');
  for (const note of ['0/3 nodes are available', '0/4 nodes are available']) {
    recorder.event(pod, 'Warning', 'FailedScheduling', note, { action: 'Scheduling' });
    await recorder.flush();
    await clock.advance(1_000);
  }
  const { items } = await client.list(newEvents);
  assert.equal(items.length, 1);
  const event = items[0] as NewEvent;
  assert.deepEqual([event.action, event.note, event.reportingController], ['Scheduling', '0/3 nodes are available', 'kubelet']);
  assert.deepEqual(event.series, { count: 2, lastObservedTime: '2026-01-01T00:00:01.000000Z' });
});

test('while the server is away events wait; what it refuses is dropped', async () => {
  const { recorder, client, clock, listed } = setup();
  let away = true;
  client.intercept = (verb, _resource, key) => {
    if (away && verb === 'create') throw new ConnectionError('memory', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
    if (key.startsWith('gone/') && verb === 'create') throw notFound({ group: '', resource: 'namespaces' }, 'gone');
  };
  recorder.event(pod, 'Normal', 'A', 'x');
  recorder.event({ ...pod, metadata: { ...pod.metadata, namespace: 'gone' } }, 'Normal', 'B', 'x');
  recorder.event(pod, 'Normal', 'C', 'x');
  await clock.advance(1_000);
  assert.equal((await listed()).length, 0);
  away = false;
  await clock.advance(2_000);
  await recorder.flush();
  assert.deepEqual(
    (await listed()).map((event) => event.reason),
    ['A', 'C'],
  );
});

test('an event whose first has expired is made anew', async () => {
  const { recorder, client, listed } = setup();
  recorder.event(pod, 'Normal', 'A', 'x');
  await recorder.flush();
  client.objects.clear();
  recorder.event(pod, 'Normal', 'A', 'x');
  await recorder.flush();
  assert.deepEqual(
    (await listed()).map((event) => event.count),
    [1],
  );
});

test('messages are cut to what the API takes, between characters', async () => {
  const { recorder, listed } = setup();
  recorder.event(pod, 'Normal', 'A', 'é'.repeat(600));
  await recorder.flush();
  const [event] = await listed();
  assert.ok(Buffer.byteLength(event?.message ?? '') <= 1024);
  assert.match(event?.message ?? '', /^é+\.\.\.$/);
});
