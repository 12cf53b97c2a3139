/** The HTTPS port of the kubelet: logs, and who may read them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../machinery/process/clock.ts';
import { silentLogger } from '../../machinery/process/logger.ts';
import { ensurePki, issueClientCertificate, type KeyPair } from '../../machinery/process/pki.ts';
import type { ContainerLogs, LogLine } from '../runtime/interface.ts';
import { makePod } from '../testing/pod-workers.ts';
import { startKubeletServer } from './server.ts';

const lines: LogLine[] = ['one', 'two', 'three'].map((text, i) => ({ atMs: 1000 * i, text, stream: i === 1 ? 'stderr' : 'stdout' }));

async function serve(t: TestContext, logs: (previous: boolean) => ContainerLogs | undefined) {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-server-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const pki = await ensurePki(directory);
  const own = await issueClientCertificate(pki, {
    user: 'system:node:n-1',
    groups: ['system:nodes'],
    hosts: ['n-1', 'localhost', '127.0.0.1'],
  });
  const pod = makePod();
  const server = await startKubeletServer({
    clock: systemClock,
    logger: silentLogger,
    signal: new AbortController().signal,
    host: '127.0.0.1',
    port: 0,
    tls: { ...own, ca: pki.ca.cert },
    findPod: (namespace, name) => (namespace === 'default' && name === 'p' ? pod : undefined),
    pods: () => [pod],
    logs: (_pod, _container, previous) => logs(previous),
  });
  t.after(() => server.close());
  const get = (path: string, client: KeyPair | undefined = pki.apiserverKubeletClient): Promise<{ code: number; body: string }> =>
    new Promise((resolve, reject) => {
      const call = request({ host: '127.0.0.1', port: server.port, path, ca: pki.ca.cert, agent: false, ...client }, (response) => {
        let body = '';
        response.on('data', (chunk) => {
          body += chunk;
        });
        response.on('end', () => resolve({ code: response.statusCode ?? 0, body }));
      });
      call.on('error', reject);
      call.end();
    });
  return { get, pki, own };
}

test('logs are served with tail, bytes, streams and timestamps', async (t) => {
  const { get } = await serve(t, () => ({ lines, ended: true }));
  const logs = async (query: string): Promise<string> => (await get(`/containerLogs/default/p/c?${query}`)).body;
  assert.equal(await logs(''), 'one\ntwo\nthree\n');
  assert.equal(await logs('tailLines=1'), 'three\n');
  assert.equal(await logs('tailLines=0'), '');
  assert.equal(await logs('limitBytes=5'), 'one\nt');
  assert.equal(await logs('stream=Stderr'), 'two\n');
  assert.equal(await logs('sinceTime=1970-01-01T00:00:02Z'), 'three\n');
  assert.equal(await logs('timestamps=true&tailLines=1'), '1970-01-01T00:00:02.000000000Z three\n');
  assert.equal((await get('/containerLogs/default/p/c?tailLines=x')).code, 422);
});

test('a follower gets the lines that come later, then the end', async (t) => {
  let calls = 0;
  const { get } = await serve(t, () => ({ lines: lines.slice(0, Math.min(++calls, 3)), ended: calls >= 4, nextAtMs: 0 }));
  assert.equal((await get('/containerLogs/default/p/c?follow=true')).body, 'one\ntwo\nthree\n');
});

test('what is not there is refused', async (t) => {
  const { get } = await serve(t, (previous) => (previous ? undefined : { lines, ended: true }));
  assert.equal((await get('/containerLogs/default/other/c')).code, 404);
  assert.equal((await get('/containerLogs/default/p/other')).code, 404);
  assert.deepEqual(await get('/containerLogs/default/p/c?previous=true'), {
    code: 400,
    body: 'previous terminated container "c" in pod "p" not found',
  });
});

test('only the API server and administrators are served, and only with a certificate of our CA', async (t) => {
  const { get, pki, own } = await serve(t, () => ({ lines, ended: true }));
  assert.equal((await get('/pods', own)).code, 403);
  const someone = await issueClientCertificate(pki, { user: 'jane' });
  assert.equal((await get('/pods', someone)).code, 403);
  assert.equal((await get('/pods')).code, 200);
  await assert.rejects(get('/pods', {} as KeyPair));
});
