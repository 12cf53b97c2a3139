/** What the API server alone does in a second, beside what one operation costs it in processor time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type MeasuredServer, startServer, usageOf } from './api-server.ts';
import type { Calibration } from './calibration.ts';
import { type Figure, round } from './figure.ts';
import { generate, makeNamespaces, seed } from './generate.ts';
import type { Counted, Order } from './load.ts';

const built = fileURLToPath(new URL('../../dist', import.meta.url));

async function withServer<T>(measure: (server: MeasuredServer, dataDir: string) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flyball-bench-'));
  const server = await startServer(built, dataDir, []);
  try {
    await makeNamespaces(server);
    return await measure(server, dataDir);
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

interface Load {
  readonly name: string;
  readonly load: Order['load'];
  readonly clients: number;
  readonly warmUp: number;
  readonly target?: number;
  /** Otherwise operations per second are the figure. */
  readonly figure?: 'p99';
  readonly ratio?: keyof Calibration;
}

const WRITES: readonly Load[] = [
  { name: 'durable Pod creates, 64 clients', load: 'create', clients: 64, warmUp: 20_000, target: 6000, ratio: 'fdatasyncsPerSecond' },
  { name: 'durable Pod creates, 1 client', load: 'create', clients: 1, warmUp: 1000, target: 1200, ratio: 'fdatasyncsPerSecond' },
  { name: 'durable Pod creates, 16 clients', load: 'create', clients: 16, warmUp: 2000 },
  { name: 'durable Pod creates, 256 clients', load: 'create', clients: 256, warmUp: 5000 },
];
const READS: readonly Load[] = [
  { name: 'GETs of a Pod, 64 clients', load: 'get', clients: 64, warmUp: 20_000, target: 22_000, ratio: 'httpGetsPerSecond' },
  { name: 'status patches, 64 clients', load: 'patchStatus', clients: 64, warmUp: 20_000, target: 5000 },
];
const WATCHES: readonly Load[] = [
  { name: 'watch events to 1 watcher', load: 'watch', clients: 1, warmUp: 3000 },
  { name: 'watch events to 100 watchers', load: 'watch', clients: 100, warmUp: 8000, target: 300_000 },
  { name: 'one event to 1,000 watchers, p99', load: 'event', clients: 1000, warmUp: 5000, target: 30, figure: 'p99' },
];
/** Who writes what is watched. */
const WRITERS = 64;

export interface ApiOptions {
  readonly calibration: Calibration;
  readonly seconds: number;
  /** Sizes of the lists, growing. */
  readonly lists: readonly number[];
}

/** Reads and lists see as many Pods as the smallest list has; each larger list follows when the Pods have been added. */
export function apiFigures(options: ApiOptions): Promise<Figure[]> {
  return withServer(async (server) => {
    const figures: Figure[] = [];
    for (const load of WRITES) figures.push(await measure(server, load, options));
    for (const load of WATCHES) figures.push(await measure(server, load, options));
    return figures;
  }).then(async (figures) => [...figures, ...(await readFigures(options))]);
}

async function readFigures(options: ApiOptions): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [index, objects] of options.lists.entries()) {
    await withServer(async (server) => {
      await seed(server, objects);
      const loads = index === 0 ? READS : [];
      const target = objects === 10_000 ? 40 : undefined;
      const list: Load = {
        name: `LISTs of ${objects} Pods`,
        load: 'list',
        clients: 4,
        warmUp: Math.min(40, 400_000 / objects),
        ...(target && { target }),
      };
      for (const load of [...loads, list]) figures.push(await measure(server, load, options, objects));
    });
  }
  return figures;
}

async function measure(server: MeasuredServer, load: Load, { calibration, seconds }: ApiOptions, objects = 0): Promise<Figure> {
  const durationMs = seconds * 1000;
  const order: Order = {
    target: server.target,
    load: load.load,
    clients: load.clients,
    warmUp: load.warmUp,
    run: `${load.load}${load.clients}`,
    objects,
    durationMs,
  };
  const writing =
    load.load === 'watch' ? generate({ ...order, clients: WRITERS, load: 'create', durationMs: durationMs + order.warmUp }) : undefined;
  let before = usageOf(server.pid).cpuMs;
  const counted = await generate(order, () => {
    before = usageOf(server.pid).cpuMs;
  });
  const cpuMs = usageOf(server.pid).cpuMs - before;
  await writing;
  return figureOf(load, counted, cpuMs, calibration);
}

function figureOf({ name, target, figure, ratio }: Load, counted: Counted, cpuMs: number, calibration: Calibration): Figure {
  const perOperation = `${round((cpuMs * 1000) / counted.operations)} µs of the server's processor each`;
  const common = { name, ...(target !== undefined && { target }) };
  if (figure === 'p99') return { ...common, value: round(counted.p99), unit: 'ms', better: 'lower' };
  return {
    ...common,
    value: counted.perSecond < 100 ? round(counted.perSecond) : Math.round(counted.perSecond),
    unit: '/s',
    better: 'higher',
    ...(ratio && { ratio: { to: ratio, value: round(counted.perSecond / calibration[ratio]) } }),
    beside: `${perOperation}${counted.p99 > 0 ? `, p99 ${counted.p99.toFixed(1)} ms` : ''}`,
  };
}

/** From the start of the process to its readiness: with nothing in the store, and with so many Pods. */
export async function apiStarts(objects: number): Promise<Figure[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flyball-bench-'));
  try {
    const empty = await startServer(built, dataDir, []);
    await makeNamespaces(empty);
    await seed(empty, objects);
    await empty.stop();
    const full = await startServer(built, dataDir, []);
    const { rssMb } = usageOf(full.pid);
    await full.stop();
    return [
      { name: 'API server ready from an empty directory', value: round(empty.readyMs / 1000), unit: 's', target: 0.25, better: 'lower' },
      {
        name: `API server ready with ${objects} Pods`,
        value: round(full.readyMs / 1000),
        unit: 's',
        better: 'lower',
        beside: `${Math.round(rssMb)} MB RSS`,
      },
    ];
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
