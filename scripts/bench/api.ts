/**
 * The speed of the API server alone, as built: `node --import tsx scripts/bench/api.ts [--only create64,get] [--seconds 5] [--profile DIR]`.
 * Beside each figure stands what one operation costs the server in processor time, which other work on the machine hardly changes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type MeasuredServer, startServer, usageOf } from './api-server.ts';
import { open, requestBytes } from './connection.ts';
import { generate, makeNamespaces, seed } from './generate.ts';
import type { Order } from './load.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '5' },
    objects: { type: 'string', default: '10000' },
    built: { type: 'string', default: fileURLToPath(new URL('../../dist', import.meta.url)) },
    profile: { type: 'string' },
  },
});

interface Scenario {
  readonly name: string;
  readonly load: Order['load'];
  readonly clients: number;
  readonly warmUp: number;
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'create64', load: 'create', clients: 64, warmUp: 20_000 },
  { name: 'create1', load: 'create', clients: 1, warmUp: 1_000 },
  { name: 'get', load: 'get', clients: 64, warmUp: 40_000 },
  { name: 'patchStatus', load: 'patchStatus', clients: 64, warmUp: 20_000 },
  { name: 'list500', load: 'list500', clients: 8, warmUp: 500 },
  { name: 'list', load: 'list', clients: 4, warmUp: 40 },
  { name: 'watch100', load: 'watch', clients: 100, warmUp: 8_000 },
  { name: 'event1000', load: 'event', clients: 1000, warmUp: 5_000 },
];

const WITHOUT_SEED = new Set<Order['load']>(['create', 'watch', 'event']);
/** Those who write what is watched. */
const WRITERS = 64;

/** How late the server answers somebody who asks for nothing but its health while it is under load. */
async function probe(server: MeasuredServer, until: AbortSignal): Promise<number> {
  const connection = await open(server.target);
  const request = requestBytes('GET', '/livez');
  const late: number[] = [];
  while (!until.aborted) {
    const start = performance.now();
    await connection.send(request);
    late.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  connection.close();
  late.sort((a, b) => a - b);
  return late[Math.floor(late.length * 0.99)] ?? 0;
}

async function measure(server: MeasuredServer, { name, ...scenario }: Scenario): Promise<void> {
  const durationMs = Number(values.seconds) * 1000;
  const order = { ...scenario, target: server.target, run: name, objects: Number(values.objects), durationMs };
  const ended = new AbortController();
  let before = usageOf(server.pid);
  let probing: Promise<number> | undefined;
  const writing =
    scenario.load === 'watch' ? generate({ ...order, clients: WRITERS, load: 'create', durationMs: durationMs + order.warmUp }) : undefined;
  const counted = await generate(order, () => {
    before = usageOf(server.pid);
    probing = probe(server, ended.signal);
  });
  const after = usageOf(server.pid);
  ended.abort();
  const written = await writing;
  const perOperation = (ms: number): string => ((ms * 1000) / counted.operations).toFixed(counted.operations > 100_000 ? 1 : 0);
  const cells: readonly (readonly [string, number])[] = [
    [`${Math.round(counted.perSecond)}/s`, 10],
    [`${perOperation(after.cpuMs - before.cpuMs)} µs of cpu, ${perOperation(after.systemMs - before.systemMs)} in the kernel`, 34],
    [`p50 ${counted.p50.toFixed(1)}`, 11],
    [`p99 ${counted.p99.toFixed(1)} ms`, 15],
    [`${counted.megabytesPerSecond.toFixed(0)} MB/s`, 10],
    [`health p99 ${(await probing)?.toFixed(1)} ms`, 22],
    [`${after.rssMb.toFixed(0)} MB`, 9],
  ];
  const beside = written === undefined ? '' : `   beside ${Math.round(written.perSecond)} creates/s`;
  console.log(name.padEnd(12) + cells.map(([text, width]) => text.padStart(width)).join('') + beside);
}

const dataDir = mkdtempSync(join(tmpdir(), 'flyball-bench-'));
const { profile } = values;
const server = await startServer(values.built, dataDir, profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]);
console.log(`ready after ${server.readyMs.toFixed(0)} ms, ${usageOf(server.pid).rssMb.toFixed(0)} MB`);
try {
  await makeNamespaces(server);
  const chosen = SCENARIOS.filter(({ name }) => values.only === '' || values.only.split(',').includes(name));
  if (chosen.some(({ load }) => !WITHOUT_SEED.has(load))) {
    await seed(server, Number(values.objects));
    console.log(`${values.objects} pods: ${usageOf(server.pid).rssMb.toFixed(0)} MB`);
  }
  for (const scenario of chosen) await measure(server, scenario);
} finally {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
