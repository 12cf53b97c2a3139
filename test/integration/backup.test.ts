/** A backup of a running API server is one state of it, whatever is written meanwhile; a new server goes on from it. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { BACKUP_PATH } from '../../apiserver/handlers/backup.ts';
import { readBackup } from '../../apiserver/storage/tool/backup-file.ts';
import { runTool } from '../../apiserver/storage/tool/run.ts';
import { systemClock } from '../../machinery/process/clock.ts';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, sender } from '../fixtures/http.ts';

test('what is written while a backup is read is not in it, and the restored server has what is', async (t) => {
  const server = await startTestApiServer(t, { requestTimeoutMs: 500 });
  const send = sender(server.client);
  for (let i = 0; i < 40; i++) await send('POST', CONFIGMAPS, { ...configMap(`m${i}`), data: { x: 'x'.repeat(50_000) } });
  const before = Number((await send('GET', CONFIGMAPS)).body.metadata.resourceVersion);
  const { code, body } = await server.client.stream({ method: 'GET', path: BACKUP_PATH });
  assert.equal(code, 200);
  const pieces: Buffer[] = [];
  for await (const piece of body) {
    pieces.push(piece);
    if (pieces.length > 1) continue;
    await systemClock.sleep(700); // a slow reader is waited for, longer than requests may take
    await send('PATCH', `${CONFIGMAPS}/m39`, { data: { x: 'later' } }, { type: 'application/merge-patch+json' });
  }
  const directory = mkdtempSync(join(tmpdir(), 'flyball-backup-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'backup');
  writeFileSync(file, Buffer.concat(pieces));
  const backup = await readBackup(file);
  assert.equal(backup.revision, before);
  assert.equal(backup.items.find(({ key }) => key.endsWith('/m39'))?.bytes.includes('later'), false);

  const errors: string[] = [];
  const output = { out: () => {}, err: (line: string) => void errors.push(line) };
  assert.deepEqual([await runTool(['restore', file, '--data-dir', join(directory, 'data')], output), errors], [0, []]);
  const restored = await startTestApiServer(t, { storage: 'level', dataDir: join(directory, 'data') });
  const again = sender(restored.client);
  const list = await again('GET', `${CONFIGMAPS}?limit=1000`);
  assert.equal(list.body.items.filter(({ metadata }: { metadata: { name: string } }) => /^m\d+$/.test(metadata.name)).length, 40);
  assert.ok(Number(list.body.metadata.resourceVersion) > before + 1_000_000_000);
  assert.equal((await again('GET', `${CONFIGMAPS}?watch=1&resourceVersion=${before}&timeoutSeconds=1`)).text.includes('"code":410'), true);
  const created = await again('POST', CONFIGMAPS, configMap('new'));
  assert.ok(Number(created.body.metadata.resourceVersion) > before + 1_000_000_000);
  assert.ok(readFileSync(file).length > 2_000_000);
});

test('only administrators may read a backup', async (t) => {
  const server = await startTestApiServer(t);
  const { code, body } = await sender(server.client)('GET', BACKUP_PATH, undefined, { headers: { 'impersonate-user': 'ann' } });
  assert.deepEqual([code, body.message], [403, 'forbidden: a backup holds everything: only members of system:masters may read it']);
});

test('flyball store takes it from the running server, and says who has the files open', async (t) => {
  const server = await startTestApiServer(t, { storage: 'level' });
  const file = join(server.dataDir, 'backup');
  const flyball = (...words: string[]): { code: number | null; text: string } => {
    const main = new URL('../../cli/main.ts', import.meta.url).pathname;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', main, 'store', ...words], { encoding: 'utf8' });
    return { code: status, text: stdout + stderr };
  };
  // The server is in this process, which a synchronous child would stop.
  const child = spawn(process.execPath, [
    '--import',
    'tsx',
    new URL('../../cli/main.ts', import.meta.url).pathname,
    ...['store', 'backup', file, '--kubeconfig', server.kubeconfigPath],
  ]);
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  assert.ok((await readBackup(file)).items.length > 10);
  const check = flyball('check', '--data-dir', server.dataDir);
  assert.deepEqual([check.code, /is in use by process \d+: stop it first/.test(check.text)], [1, true], check.text);
  const offline = flyball('backup', file, '--data-dir', server.dataDir);
  assert.deepEqual([offline.code, /is in use by process/.test(offline.text)], [1, true], offline.text);
});
