/**
 * How fast the store is on this disk: `node --import tsx scripts/bench/store.ts [--seconds 3] [--bytes 1500] [--directory DIR]`.
 * The first line is what the disk can do at most: a bare write and fdatasync of one object.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Store } from '../../apiserver/storage/interface.ts';
import { openLevelStore } from '../../apiserver/storage/level/store.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    bytes: { type: 'string', default: '1500' },
    directory: { type: 'string', default: tmpdir() },
  },
});
const durationMs = Number(values.seconds) * 1000;
const body = Buffer.alloc(Number(values.bytes), 'x');

const print = (name: string, figure: string): void => void process.stdout.write(`${name.padEnd(34)} ${figure}\n`);
const perSecond = (count: number, ms: number): string => `${Math.round((count * 1000) / ms)}/s`;

function calibrate(directory: string): void {
  const file = openSync(join(directory, 'calibration'), 'w');
  const start = performance.now();
  let count = 0;
  for (; performance.now() - start < durationMs; count++) {
    writeSync(file, body);
    fdatasyncSync(file);
  }
  closeSync(file);
  print('fdatasync', perSecond(count, performance.now() - start));
}

async function creates(store: Store, writers: number): Promise<void> {
  const start = performance.now();
  const latencies: number[] = [];
  let next = 0;
  const write = async (): Promise<void> => {
    while (performance.now() - start < durationMs) {
      const before = performance.now();
      await store.create(`/core/configmaps/bench-${writers}/object-${next++}`, () => body);
      latencies.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  const ms = performance.now() - start;
  latencies.sort((a, b) => a - b);
  const at = (share: number): string => `${latencies[Math.floor(latencies.length * share)].toFixed(2)} ms`;
  print(
    `durable creates, ${writers} writer${writers === 1 ? '' : 's'}`,
    `${perSecond(latencies.length, ms)}  p50 ${at(0.5)}  p99 ${at(0.99)}`,
  );
}

function timed(name: string, action: () => unknown): void {
  const start = performance.now();
  const result = action();
  print(name, `${(performance.now() - start).toFixed(2)} ms  ${String(result)}`);
}

const directory = await mkdtemp(join(values.directory, 'flyball-bench-'));
try {
  calibrate(directory);
  let store = await openLevelStore(join(directory, 'store'));
  for (const writers of [1, 64]) await creates(store, writers);
  const prefix = '/core/configmaps/bench-64/';
  timed('list all', () => `${store.list(prefix).items.length} keys`);
  timed('list 500 of them, with a count', () => store.list(prefix, { limit: 500 }).remaining);
  await store.close();
  const start = performance.now();
  store = await openLevelStore(join(directory, 'store'));
  print('open and check the chain', `${(performance.now() - start).toFixed(0)} ms  ${store.count('/')} keys`);
  await store.close();
} finally {
  await rm(directory, { recursive: true, force: true });
}
