/**
 * The speed of the API server alone: `node --import tsx scripts/bench/api.ts [--only create] [--seconds 4] [--profile DIR]`.
 * Beside each figure stands what one operation costs the server in processor time, which other work on the machine hardly changes.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type MeasuredServer, startServer, usageOf } from './api-server.ts';
import { open, requestBytes } from './connection.ts';
import type { Counted, Order } from './load.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '4' },
    warm: { type: 'string', default: '4' },
    objects: { type: 'string', default: '10000' },
    built: { type: 'string', default: fileURLToPath(new URL('../../dist', import.meta.url)) },
    profile: { type: 'string' },
  },
});

interface Scenario {
  readonly name: string;
  readonly load: Order['load'];
  readonly clients: number;
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'create64', load: 'create', clients: 64 },
  { name: 'create1', load: 'create', clients: 1 },
  { name: 'get', load: 'get', clients: 64 },
  { name: 'patchStatus', load: 'patchStatus', clients: 64 },
  { name: 'patchStatus8', load: 'patchStatus', clients: 8 },
  { name: 'patchStatus1', load: 'patchStatus', clients: 1 },
  { name: 'watch100', load: 'watch', clients: 100 },
  { name: 'watch1000', load: 'watch', clients: 1000 },
  { name: 'list500', load: 'list500', clients: 8 },
  { name: 'list', load: 'list', clients: 4 },
];

/** Until the generator has begun. */
const START_MS = 500;

function generate(order: Order): Promise<Counted> {
  const child = fork(fileURLToPath(new URL('load.ts', import.meta.url)), [], { execArgv: ['--import', 'tsx'] });
  child.send(order);
  return new Promise((resolve, reject) => {
    child.once('message', (message: Counted & { error?: string }) =>
      message.error === undefined ? resolve(message) : reject(new Error(message.error)),
    );
    child.once('exit', (code) => reject(new Error(`the load generator ended with ${code}`)));
  });
}

/** How late the server answers somebody who asks for nothing but its health while it is under load. */
async function probe(server: MeasuredServer, until: { done: boolean }): Promise<number> {
  const connection = await open(server.target);
  const request = requestBytes('GET', '/livez');
  const late: number[] = [];
  while (!until.done) {
    const start = performance.now();
    await connection.send(request);
    late.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  connection.close();
  late.sort((a, b) => a - b);
  return late[Math.floor(late.length * 0.99)] ?? 0;
}

async function measure(server: MeasuredServer, scenario: Scenario): Promise<void> {
  const base = { target: server.target, clients: scenario.clients, run: `${scenario.name}`, objects: Number(values.objects) };
  const warmUpMs = Number(values.warm) * 1000;
  const durationMs = Number(values.seconds) * 1000;
  const until = { done: false };
  let before = usageOf(server.pid);
  let probing: Promise<number> | undefined;
  const settled = generate({ ...base, load: scenario.load, warmUpMs, durationMs });
  // Something to watch.
  const writing =
    scenario.load === 'watch' ? generate({ ...base, clients: 32, load: 'create', warmUpMs, durationMs: durationMs + START_MS }) : undefined;
  const startedAt = setTimeout(() => {
    before = usageOf(server.pid);
    probing = probe(server, until);
  }, warmUpMs + START_MS);
  const counted = await settled;
  clearTimeout(startedAt);
  until.done = true;
  const after = usageOf(server.pid);
  const operations = counted.perSecond * ((durationMs - START_MS) / 1000);
  const perOperation = (ms: number): string => ((ms * 1000) / operations).toFixed(0);
  const written = await writing;
  const cell = (text: string, width: number): string => text.padStart(width);
  console.log(
    scenario.name.padEnd(14) +
      cell(`${Math.round(counted.perSecond)}/s`, 10) +
      cell(`${perOperation(after.cpuMs - before.cpuMs)} µs (${perOperation(after.systemMs - before.systemMs)} in the kernel)`, 26) +
      cell(`p50 ${counted.p50.toFixed(1)}`, 11) +
      cell(`p99 ${counted.p99.toFixed(1)} ms`, 15) +
      cell(`${counted.megabytesPerSecond.toFixed(0)} MB/s`, 10) +
      cell(`late p99 ${(await probing)?.toFixed(1)} ms`, 20) +
      cell(`${after.rssMb.toFixed(0)} MB`, 9) +
      (written === undefined ? '' : `   of ${Math.round(written.perSecond)} creates/s, p99 ${written.p99.toFixed(1)} ms`),
  );
}

/** What pods need to be taken, and no controller is there to make. */
async function makeNamespaces({ target }: MeasuredServer): Promise<void> {
  const connection = await open(target);
  const make = (path: string, object: object): Promise<number> => connection.send(requestBytes('POST', path, JSON.stringify(object)));
  await make('/api/v1/namespaces', { metadata: { name: 'seed' } });
  for (const namespace of ['default', 'seed'])
    await make(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
  connection.close();
}

const dataDir = mkdtempSync(join(tmpdir(), 'flyball-bench-'));
const server = await startServer(
  values.built,
  dataDir,
  values.profile === undefined
    ? (process.env['SERVER_ARGS'] ?? '').split(' ').filter(Boolean)
    : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`],
);
console.log(`ready after ${server.readyMs.toFixed(0)} ms, ${usageOf(server.pid).rssMb.toFixed(0)} MB`);
try {
  await makeNamespaces(server);
  const chosen = SCENARIOS.filter(({ name }) => values.only === '' || values.only.split(',').includes(name));
  if (chosen.some(({ load }) => load !== 'create' && load !== 'watch')) {
    const run = 'seed';
    await generate({
      target: server.target,
      load: 'seed',
      clients: 64,
      warmUpMs: 0,
      durationMs: 600_000,
      run,
      objects: Number(values.objects),
    });
    console.log(`${values.objects} pods: ${usageOf(server.pid).rssMb.toFixed(0)} MB`);
  }
  for (const scenario of chosen) await measure(server, scenario);
} finally {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
