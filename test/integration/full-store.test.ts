/** A store at its quota: what makes it more is refused as etcd's clients know it; reads, deletions and heartbeats go on; it recovers by itself. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { eventually } from '../fixtures/eventually.ts';
import { CONFIGMAPS, configMap, type Send, sender } from '../fixtures/http.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const PATCH = { type: 'application/merge-patch+json' };

const fill = async (send: Send): Promise<string[]> => {
  const names: string[] = [];
  for (;;) {
    const name = `filler-${names.length}`;
    const { code } = await send('POST', CONFIGMAPS, { ...configMap(name), data: { x: 'x'.repeat(100_000) } });
    if (code !== 201) return names;
    names.push(name);
  }
};

test('refuses what makes it more, goes on with the rest, and recovers when something is deleted', async (t) => {
  const server = await startTestApiServer(t, { quotaBackendBytes: 1_500_000, compactionIntervalMs: 100, storage: 'level' });
  const send = sender(server.client);
  await send('POST', LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: {} });
  const finalizers = ['example.com/held'];
  await send('POST', CONFIGMAPS, { ...configMap('held'), metadata: { name: 'held', finalizers } });
  const names = await fill(send);
  assert.ok(names.length > 3);

  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'etcdserver: mvcc: database space exceeded',
    code: 500,
  };
  const more = { data: { x: 'y'.repeat(100_000) } };
  assert.deepEqual((await send('POST', CONFIGMAPS, { ...configMap('more'), ...more })).body, status);
  assert.deepEqual((await send('PATCH', `${CONFIGMAPS}/filler-0`, more, PATCH)).body, status);
  const old = (await send('GET', `${CONFIGMAPS}/filler-0`)).body;
  assert.deepEqual((await send('PUT', `${CONFIGMAPS}/filler-0`, { ...old, ...more })).body, status);

  assert.equal((await send('GET', CONFIGMAPS)).code, 200);
  assert.equal((await send('PATCH', `${LEASES}/l`, { spec: { holderIdentity: 'me' } }, PATCH)).code, 200, 'a heartbeat');
  assert.equal((await send('DELETE', `${CONFIGMAPS}/held`)).code, 200, 'the first step of a deletion is an update');
  assert.equal((await send('PATCH', `${CONFIGMAPS}/held`, { metadata: { finalizers: null } }, PATCH)).code, 200);
  assert.equal((await send('GET', `${CONFIGMAPS}/held`)).code, 404);
  for (const name of names) assert.equal((await send('DELETE', `${CONFIGMAPS}/${name}`)).code, 200);
  await eventually(
    'it takes writes again',
    async () => (await send('POST', CONFIGMAPS, { ...configMap('more'), ...more })).code === 201,
    20_000,
  );
});

test('tells by metrics how full it is', async (t) => {
  const { client } = await startTestApiServer(t, { storage: 'level' });
  const { text } = await sender(client)('GET', '/metrics', undefined, { accept: 'text/plain' });
  const value = (name: string): number => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)$`, 'm').exec(text)?.[1]);
  assert.equal(value('etcd_server_quota_backend_bytes'), 2 * 1024 ** 3);
  for (const name of [
    'apiserver_storage_size_bytes',
    'apiserver_storage_db_total_size_in_bytes',
    'etcd_mvcc_db_total_size_in_use_in_bytes',
  ]) {
    assert.ok(value(name) > 10_000, `${name} is ${value(name)}`);
  }
});

test('starts again though it is full, so that something can be deleted', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'flyball-full-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const first = await startTestApiServer(t, { dataDir, quotaBackendBytes: 1_500_000, storage: 'level' });
  await fill(sender(first.client));
  await first.stop();
  // Another port: what leads to the server has to be written anew.
  const second = await startTestApiServer(t, { dataDir, quotaBackendBytes: 600_000, storage: 'level', compactionIntervalMs: 100 });
  const send = sender(second.client);
  assert.equal((await send('POST', CONFIGMAPS, configMap('more'))).code, 500);
  const { items } = (await send('GET', CONFIGMAPS)).body;
  for (const { metadata } of items) assert.equal((await send('DELETE', `${CONFIGMAPS}/${metadata.name}`)).code, 200);
  await eventually('it takes writes again', async () => (await send('POST', CONFIGMAPS, configMap('more'))).code === 201, 20_000);
  await second.stop();
});
