/** --kube-api-qps and --kube-api-burst. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../process/testing/fake-clock.ts';
import { limitRate } from './rate-limit.ts';
import { configmaps } from './resource-type.ts';
import { MemoryClient } from './testing/memory-client.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const named = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'ns', name } }) as const;

test('so many requests go at once as the burst says, further ones at the rate', async () => {
  const clock = new FakeClock();
  const memory = new MemoryClient();
  const client = limitRate(memory, { kubeApiQps: 10, kubeApiBurst: 3 }, { clock, signal: new AbortController().signal });
  const all = Promise.all(Array.from({ length: 6 }, (_, i) => client.create(configmaps, named(`c${i}`))));
  await settled();
  assert.equal(memory.writes.length, 3);
  for (const [ms, sent] of [
    [100, 4],
    [100, 5],
    [100, 6],
  ] as const) {
    await clock.advance(ms);
    assert.equal(memory.writes.length, sent);
  }
  await all;
});

test('no rate: the client itself; a stop ends the waiting, and nothing more is sent', async () => {
  const clock = new FakeClock();
  const memory = new MemoryClient();
  const stop = new AbortController();
  assert.equal(limitRate(memory, { kubeApiQps: 0, kubeApiBurst: 0 }, { clock, signal: stop.signal }), memory);
  const client = limitRate(memory, { kubeApiQps: 1, kubeApiBurst: 0 }, { clock, signal: stop.signal });
  await client.create(configmaps, named('first'));
  const second = client.create(configmaps, named('second'));
  stop.abort(new Error('stopped'));
  await assert.rejects(second, /stopped/);
  assert.equal(memory.writes.length, 1);
});
