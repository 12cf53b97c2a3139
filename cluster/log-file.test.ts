/** Logs of components are kept over restarts, within a bound. */
import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLog } from './log-file.ts';

test('a start goes on in the same file until it is large, then puts it aside in place of the one before', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'flyball-log-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'logs', 'scheduler.log');
  const start = (text: string): void => {
    const fd = openLog(path, 6);
    writeSync(fd, text);
    closeSync(fd);
  };
  start('one\n');
  start('two\n');
  assert.equal(readFileSync(path, 'utf8'), 'one\ntwo\n');
  start('three\n');
  assert.deepEqual([readFileSync(path, 'utf8'), readFileSync(`${path}.1`, 'utf8')], ['three\n', 'one\ntwo\n']);
  start('four\n');
  start('five\n');
  assert.deepEqual([readFileSync(path, 'utf8'), readFileSync(`${path}.1`, 'utf8')], ['five\n', 'three\nfour\n']);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});
