/** Processes and their data: children end with their parent however it ends, one API server per data directory, data survives a stop and start. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ProcessStatus } from '../../cluster/runner.ts';
import { createClient } from '../../machinery/client/connect.ts';
import { deployments } from '../../machinery/client/resource-type.ts';
import { startTestCluster } from '../fixtures/cluster.ts';
import { eventually } from '../fixtures/eventually.ts';
import { complete, deployment } from '../fixtures/workloads.ts';

const flyball = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

function run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [flyball, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
}

function temporary(t: { after(fn: () => void): void }): string {
  const directory = mkdtempSync(join(tmpdir(), 'flyball-life-'));
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** `flyball up`, once it has said that the cluster is ready. */
async function up(dataDir: string): Promise<ReturnType<typeof spawn>> {
  const child = spawn(process.execPath, [flyball, 'up', '--data-dir', dataDir, '--secure-port', '0', '--nodes', '1'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout! });
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => line.includes('kubeconfig') && resolve());
    child.on('exit', (code) => reject(new Error(`flyball up ended with ${code}`)));
  });
  return child;
}

async function processesOf(dataDir: string): Promise<ProcessStatus[]> {
  const { code, stdout, stderr } = await run('ps', '-o', 'json', '--data-dir', dataDir);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as ProcessStatus[];
}

test('when flyball up is killed, every process of the cluster ends, paused ones too', async (t) => {
  const dataDir = temporary(t);
  const parent = await up(dataDir);
  const pids = (await processesOf(dataDir)).map((process) => process.pid!);
  assert.equal(pids.length, 4);
  assert.equal((await run('pause', 'scheduler', '--data-dir', dataDir)).code, 0);
  parent.kill('SIGKILL');
  await eventually('all children are gone', () => pids.every((pid) => !isAlive(pid)));
});

test('data survives a stop and a start, and Ctrl-C stops everything', async (t) => {
  const dataDir = temporary(t);
  const first = await up(dataDir);
  const client = createClient({ kubeconfig: join(dataDir, 'kubeconfig'), userAgent: 'e2e/1.0' });
  await client.create(deployments, deployment('web', { replicas: 2 }));
  const before = (await complete(client, 'web')).map((pod) => pod.metadata.uid).sort();
  await client.close();
  const pids = (await processesOf(dataDir)).map((process) => process.pid!);
  first.kill('SIGINT');
  await new Promise((resolve) => first.once('exit', resolve));
  assert.ok(
    pids.every((pid) => !isAlive(pid)),
    'nothing is left running',
  );

  const second = await up(dataDir);
  const again = createClient({ kubeconfig: join(dataDir, 'kubeconfig'), userAgent: 'e2e/1.0' });
  assert.deepEqual((await complete(again, 'web')).map((pod) => pod.metadata.uid).sort(), before, 'the same pods');
  await again.close();
  second.kill('SIGINT');
  await new Promise((resolve) => second.once('exit', resolve));
});

test('a second API server on the same data directory ends at once, names the holder and does no harm', async (t) => {
  const { cluster, client } = await startTestCluster(t, { nodes: 1 });
  const holder = (await cluster.processes()).find((process) => process.name === 'apiserver')!;
  const { code, stderr } = await run('apiserver', '--data-dir', cluster.dataDir, '--secure-port', '0');
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`in use by process ${holder.pid}`));
  assert.equal((await client.raw({ method: 'GET', path: '/readyz' })).code, 200);
});

test('a port that is taken is named', async (t) => {
  const { cluster } = await startTestCluster(t, { nodes: 1 });
  const { port } = new URL(cluster.server);
  const { code, stderr } = await run('apiserver', '--data-dir', temporary(t), '--secure-port', port);
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`port ${port} .*in use`));
});
