/**
 * client-go and controller-runtime: the program in `go/` against a running cluster. Compiling them takes minutes the first time, so the test is
 * run only where $FLYBALL_GO is 1; Go's own caches make it quick afterwards.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestCluster } from '../../fixtures/cluster.ts';
import { shell } from './kubectl.ts';

const source = fileURLToPath(new URL('go', import.meta.url));
const BUILD_MS = 900_000;

const STEPS = [
  'protobuf objects come back as they went',
  'an informer syncs by a watch-list and keeps up',
  'a watch resumes and a stale one is told so',
  'server-side apply owns, conflicts and forces',
  'conflicts are retried',
  'of two candidates one leads, then the other',
  'a reconciler owns a ConfigMap',
];

function whyNot(): string | false {
  if (process.env['FLYBALL_GO'] !== '1') return 'skipped: compiling client-go takes minutes, set FLYBALL_GO=1';
  if (spawnSync('go', ['version']).status !== 0) return 'skipped: go is not installed';
  const fetched = spawnSync('go', ['mod', 'download'], { cwd: source, encoding: 'utf8', timeout: BUILD_MS });
  return fetched.status === 0 ? false : `skipped: modules cannot be fetched: ${fetched.stderr.trim().split('\n').at(-1)}`;
}

test('client-go and controller-runtime', { skip: whyNot() }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flyball-go-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, 'client');
  const built = spawnSync('go', ['build', '-o', program, '.'], { cwd: source, encoding: 'utf8', timeout: BUILD_MS });
  assert.equal(built.status, 0, built.stderr);
  const { cluster } = await startTestCluster(t);
  const { stdout, stderr } = await shell(t, program, cluster.kubeconfig).run('');
  assert.deepEqual(
    stdout.trim().split('\n'),
    STEPS.map((step) => `ok ${step}`),
    stderr,
  );
});
