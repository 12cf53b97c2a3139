/** etcd on the same disk, when there is one on PATH: durable puts of an object's size through its HTTP gateway, by 1 and by 64 clients. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figure, sleep } from './figure.ts';

const VALUE_BYTES = 1500;

export async function etcdFigures(seconds: number): Promise<Figure[]> {
  if (spawnSync('etcd', ['--version']).status !== 0) return [];
  const dataDir = mkdtempSync(join(tmpdir(), 'flyball-bench-etcd-'));
  const [clientPort, peerPort] = [await freePort(), await freePort()];
  const client = `http://127.0.0.1:${clientPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const flags = ['--data-dir', dataDir, '--listen-client-urls', client, '--advertise-client-urls', client, '--listen-peer-urls', peer];
  const etcd = spawn('etcd', [...flags, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`], {
    stdio: 'ignore',
  });
  try {
    await untilServing(client, etcd);
    const figures: Figure[] = [];
    for (const clients of [1, 64]) figures.push(await puts(client, clients, seconds * 1000));
    return figures;
  } finally {
    const ended = new Promise((resolve) => etcd.once('exit', resolve));
    etcd.kill();
    await ended;
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function puts(server: string, clients: number, durationMs: number): Promise<Figure> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const value = Buffer.alloc(VALUE_BYTES, 'x').toString('base64');
  const end = performance.now() + durationMs;
  let count = 0;
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let i = 0; performance.now() < end; i++) {
        const key = Buffer.from(`/bench/${clients}/${client}/${i}`).toString('base64');
        await post(agent, `${server}/v3/kv/put`, JSON.stringify({ key, value }));
        count++;
      }
    }),
  );
  agent.destroy();
  const name = `etcd: durable puts, ${clients} client${clients === 1 ? '' : 's'}`;
  return { name, value: Math.round((count * 1000) / durationMs), unit: '/s', better: 'higher' };
}

function post(agent: Agent, url: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, method: 'POST', headers: { 'content-type': 'application/json' } }, (answer) => {
      answer.resume().once('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(`etcd answered ${answer.statusCode}`))));
    });
    asked.once('error', reject).end(body);
  });
}

async function untilServing(server: string, etcd: ChildProcess): Promise<void> {
  const agent = new Agent();
  for (;;) {
    if (etcd.exitCode !== null) throw new Error(`etcd ended with ${etcd.exitCode}`);
    if (
      await post(agent, `${server}/v3/maintenance/status`, '{}').then(
        () => true,
        () => false,
      )
    )
      return;
    await sleep(50);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
