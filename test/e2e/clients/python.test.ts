/** The official Python client: the program in `python/` against a running cluster, where `import kubernetes` works ($FLYBALL_PYTHON names another interpreter). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestCluster } from '../../fixtures/cluster.ts';
import { shell } from './kubectl.ts';

const program = fileURLToPath(new URL('python/client.py', import.meta.url));
const python = process.env['FLYBALL_PYTHON'] ?? 'python3';
const STEPS = ['reads and writes', 'lists in pages', 'watches', 'runs a Deployment', 'finds and applies any kind'];

function whyNot(): string | false {
  if (spawnSync(python, ['--version']).status !== 0) return `skipped: ${python} is not installed`;
  return spawnSync(python, ['-c', 'import kubernetes']).status === 0 ? false : 'skipped: the Python package kubernetes cannot be imported';
}

test('the Python client', { skip: whyNot() }, async (t) => {
  const { cluster } = await startTestCluster(t);
  const { stdout, stderr } = await shell(t, python, cluster.kubeconfig).run(program);
  assert.deepEqual(
    stdout.trim().split('\n'),
    STEPS.map((step) => `ok ${step}`),
    stderr,
  );
});
