/** The audit log's file: order, rotation, a full queue, a disk that fails. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../machinery/process/clock.ts';
import { type AuditLogOptions, openAuditLog } from './log-file.ts';

function setup(t: TestContext): { folder: string; options: AuditLogOptions; lost: number[] } {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const lost: number[] = [];
  let ms = 0;
  const clock = { ...systemClock, now: () => new Date(Date.UTC(2026, 0, 1) + ms++) };
  const onError = (_: unknown, count: number): void => void lost.push(count);
  return { folder, lost, options: { path: join(folder, 'sub', 'audit.log'), maxBytes: 0, maxBackups: 0, clock, onError } };
}

test('lines are written in order, to a file that only its owner reads, after what is there', async (t) => {
  const { options } = setup(t);
  for (const part of [0, 1]) {
    const log = await openAuditLog(options);
    for (let i = 0; i < 500; i++) log.write(`${part * 500 + i}`);
    await log.close();
  }
  assert.deepEqual(
    readFileSync(options.path, 'utf8').trim().split('\n'),
    Array.from({ length: 1000 }, (_, i) => String(i)),
  );
  assert.equal(statSync(options.path).mode & 0o777, 0o600);
});

test('a full file is put aside and the oldest of those go', async (t) => {
  const { options, folder } = setup(t);
  const log = await openAuditLog({ ...options, maxBytes: 100, maxBackups: 2 });
  for (let i = 0; i < 6; i++) {
    log.write(String(i).repeat(59));
    // One line in one write.
    while (log.room() !== undefined || readdirSync(join(folder, 'sub')).length === 0) await systemClock.sleep(1);
    await systemClock.sleep(10);
  }
  await log.close();
  const names = readdirSync(join(folder, 'sub')).sort();
  assert.equal(names.length, 3, String(names));
  assert.match(names[0]!, /^audit-2026-01-01T00-00-00\.\d{3}\.log$/);
  assert.equal(readFileSync(options.path, 'utf8'), `${'5'.repeat(59)}\n`);
});

test('a full queue says so until there is room again', async (t) => {
  const { options } = setup(t);
  const log = await openAuditLog({ ...options, maxQueuedBytes: 1000 });
  assert.equal(log.room(), undefined);
  log.write('x'.repeat(2000));
  const room = log.room();
  assert.ok(room !== undefined);
  await room;
  assert.equal(log.room(), undefined);
  await log.close();
});

test('lines that cannot be written are counted, and the log goes on', async (t) => {
  const { options, lost } = setup(t);
  const log = await openAuditLog({ ...options, path: '/dev/full' });
  log.write('a');
  log.write('b');
  await log.close();
  assert.deepEqual(lost, [2]);
});

test('a place where no file can be is refused at start', async (t) => {
  const { options, folder } = setup(t);
  await assert.rejects(openAuditLog({ ...options, path: folder }), /--audit-log-path .* cannot be opened: EISDIR/);
});
