/** The cluster as its users drive it: real components, inside one process and as processes of their own. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Client } from '../machinery/client/client.ts';
import { createClient } from '../machinery/client/connect.ts';
import { configmaps, deployments, nodes, pods } from '../machinery/client/resource-type.ts';
import { systemClock } from '../machinery/process/clock.ts';
import type { Cluster } from './cluster.ts';
import { connectCluster } from './control.ts';
import type { ProcessStatus } from './runner.ts';
import { startCluster } from './start-cluster.ts';

function temporary(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'flyball-cluster-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function clientOf(t: TestContext, cluster: Cluster): Client {
  const client = createClient({ kubeconfig: cluster.kubeconfig, userAgent: 'test' });
  t.after(() => client.close());
  return client;
}

async function eventually(what: string, holds: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const untilMs = systemClock.monotonicMs() + ms;
  while (!(await holds())) {
    if (systemClock.monotonicMs() > untilMs) assert.fail(`not within ${ms} ms: ${what}`);
    await systemClock.sleep(20);
  }
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
const byName = async (control: { processes(): Promise<readonly ProcessStatus[]> }, name: string): Promise<ProcessStatus> =>
  (await control.processes()).find((process) => process.name === name)!;

test('inside one process: a Deployment becomes Ready, and the data survives a stop and start', async (t) => {
  const dataDir = temporary(t);
  const cluster = await startCluster({ dataDir, nodes: 2, inProcess: true });
  t.after(() => cluster.stopAll());
  const client = clientOf(t, cluster);
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } };
  const spec = { replicas: 3, selector: { matchLabels: { app: 'web' } }, template };
  await client.create(deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'default' }, spec });
  await eventually(
    'three pods are Ready',
    async () => (await client.get(deployments, { namespace: 'default', name: 'web' })).status?.readyReplicas === 3,
  );
  const before = (await client.list(pods)).items.map((pod) => pod.metadata.uid).sort();
  await cluster.stopAll();
  assert.deepEqual(
    (await cluster.processes()).map((process) => process.state),
    Array.from({ length: 5 }, () => 'dead'),
  );

  const again = await startCluster({ dataDir, nodes: 2, inProcess: true });
  t.after(() => again.stopAll());
  const after = (await clientOf(t, again).list(pods)).items.map((pod) => pod.metadata.uid).sort();
  assert.deepEqual(after, before);
});

test('as processes: each can be killed, paused, resumed and started, from here or through the control socket', async (t) => {
  const dataDir = temporary(t);
  const cluster = await startCluster({ dataDir, nodes: 1 });
  t.after(() => cluster.stopAll());
  const control = connectCluster(dataDir);

  await t.test('all are ready, each with a process, an address, a pid file and a log of its own', async () => {
    const processes = await control.processes();
    assert.deepEqual(
      processes.map((process) => process.name),
      ['apiserver', 'controllers', 'scheduler', 'kubelet-node-1'],
    );
    for (const { name, pid, ready, address, restarts } of processes) {
      assert.ok(ready && pid !== undefined && isAlive(pid), name);
      assert.match(address, /^https?:\/\/127\.0\.0\.1:\d+$/);
      assert.equal(restarts, 0);
      assert.equal(readFileSync(join(dataDir, 'pids', `${name}.pid`), 'utf8').trim(), String(pid));
      assert.ok(existsSync(join(dataDir, 'logs', `${name}.log`)));
    }
    assert.equal(new Set(processes.map((process) => process.pid)).size, 4);
  });

  await t.test('credentials are for their owner alone', () => {
    for (const file of ['kubeconfig', 'pki/ca.key', 'kubeconfigs/scheduler.kubeconfig', 'control.sock']) {
      assert.equal(statSync(join(dataDir, file)).mode & 0o077, 0, file);
    }
  });

  await t.test('a killed process stays dead until it is started', async () => {
    await control.kill('scheduler');
    const dead = await byName(cluster, 'scheduler');
    assert.deepEqual([dead.state, dead.pid, dead.ended], ['dead', undefined, 'killed by SIGKILL']);
    await assert.rejects(control.kill('scheduler'), /scheduler is not running/);
    await control.start('scheduler');
    const alive = await byName(cluster, 'scheduler');
    // somebody who had started it meanwhile would have made it refuse, or counted
    assert.deepEqual([alive.state, alive.restarts], ['ready', 1]);
    await assert.rejects(control.start('scheduler'), /scheduler is running already/);
  });

  await t.test('a paused process stands still and goes on; a node may be named without its kubelet', async () => {
    await control.pause('node-1');
    const { pid, state } = await byName(cluster, 'kubelet-node-1');
    assert.equal(state, 'paused');
    await eventually('it is stopped', () => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')));
    await assert.rejects(control.pause('node-1'), /paused already/);
    await control.resume('node-1');
    assert.equal((await byName(cluster, 'kubelet-node-1')).state, 'ready');
    assert.ok(isAlive(pid!));
  });

  await t.test('the API server comes back with its data on the same address, and the others find it', async () => {
    const client = clientOf(t, cluster);
    await client.create(configmaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: 'a' },
      data: { x: '1' },
    });
    const { address } = await byName(cluster, 'apiserver');
    await control.kill('apiserver');
    await assert.rejects(client.get(configmaps, { namespace: 'default', name: 'a' }), /no answer from/);
    await control.start('apiserver');
    assert.equal((await byName(cluster, 'apiserver')).address, address);
    assert.equal((await client.get(configmaps, { namespace: 'default', name: 'a' })).data?.['x'], '1');
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'default', name: 'p' },
      spec: { containers: [{ name: 'c', image: 'nginx' }] },
    };
    await eventually(
      'the service account is there',
      async () => (await client.raw({ method: 'GET', path: '/api/v1/namespaces/default/serviceaccounts/default' })).code === 200,
    );
    await client.create(pods, pod);
    await eventually(
      'a new pod runs',
      async () => (await client.get(pods, { namespace: 'default', name: 'p' })).status?.phase === 'Running',
    );
    assert.equal((await client.list(nodes)).items.length, 1);
  });

  await t.test('mistakes are named', async () => {
    await assert.rejects(
      control.kill('nobody'),
      /there is no process "nobody"; there are apiserver, controllers, scheduler, kubelet-node-1/,
    );
    await assert.rejects(startCluster({ dataDir, nodes: 1 }), /a cluster is running in .* already \(process \d+\)/);
    assert.ok((await byName(cluster, 'apiserver')).ready, 'the first is unharmed');
    await assert.rejects(connectCluster('/tmp/no-such-cluster').processes(), /no cluster is running in \/tmp\/no-such-cluster/);
  });

  await t.test('a stop ends every process', async () => {
    const pids = (await control.processes()).map((process) => process.pid!);
    await control.stopAll();
    for (const pid of pids) assert.ok(!isAlive(pid), String(pid));
    assert.ok(!existsSync(join(dataDir, 'control.sock')));
  });
});

test('a process that cannot start explains itself, and nothing is left running', async (t) => {
  const dataDir = temporary(t);
  await assert.rejects(
    startCluster({ dataDir, nodes: 1, flags: { scheduler: ['--no-such-flag'] } }),
    /scheduler ended before it was ready \(exit code 1\):[\s\S]*unknown flag: --no-such-flag/,
  );
  assert.ok(!existsSync(join(dataDir, 'control.sock')));
});

test('a port in use is told before any process starts', async (t) => {
  const dataDir = temporary(t);
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const { port: securePort } = taken.address() as AddressInfo;
  await assert.rejects(startCluster({ dataDir, nodes: 1, securePort }), {
    message: `port ${securePort} on 127.0.0.1 is in use by another process; choose another with --secure-port`,
  });
  for (const file of ['logs', 'pids', 'control.sock']) assert.ok(!existsSync(join(dataDir, file)), file);
});

test('a start that fails quotes its own words only, not those of earlier lives', async (t) => {
  const dataDir = temporary(t);
  mkdirSync(join(dataDir, 'logs'));
  writeFileSync(join(dataDir, 'logs', 'scheduler.log'), '{"msg":"an earlier life"}\n');
  await assert.rejects(startCluster({ dataDir, nodes: 0, flags: { scheduler: ['--no-such-flag'] } }), (error) => {
    assert.match((error as Error).message, /unknown flag: --no-such-flag/);
    assert.doesNotMatch((error as Error).message, /an earlier life/);
    return true;
  });
});

test('no kubeconfig names a socket where the data directory has too long a path for one', async (t) => {
  const dataDir = join(temporary(t), 'd'.repeat(100));
  const cluster = await startCluster({ dataDir, nodes: 0, without: ['controllers', 'scheduler'], inProcess: true });
  t.after(() => cluster.stopAll());
  assert.doesNotMatch(readFileSync(cluster.kubeconfig, 'utf8'), /unixSocket/);
  assert.equal((await clientOf(t, cluster).list(nodes)).items.length, 0);
});

test('children never outlive their parent, not even a paused one', async (t) => {
  const dataDir = temporary(t);
  const parent = spawn(process.execPath, ['--import', 'tsx', fileURLToPath(new URL('testing/parent.ts', import.meta.url)), dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => parent.kill('SIGKILL'));
  const text = await new Promise<string>((resolve) => parent.stdout.once('data', (chunk) => resolve(String(chunk))));
  const pids = (JSON.parse(text) as ProcessStatus[]).flatMap((process) => process.pid ?? []);
  assert.equal(pids.length, 3);
  parent.kill('SIGKILL');
  await eventually('all have ended', () => pids.every((pid) => !isAlive(pid)), 5_000);
  const again = await startCluster({ dataDir, nodes: 0, without: ['controllers', 'scheduler'] });
  await again.stopAll();
});

test('a process that is not to be started must be one of the cluster', async (t) => {
  await assert.rejects(
    startCluster({ dataDir: temporary(t), nodes: 1, without: ['shceduler'] }),
    /there is no process "shceduler"; there are apiserver, /,
  );
});
