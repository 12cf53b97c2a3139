/**
 * What this machine can do at best, measured in the same run as everything else: bare HTTP answers and durable appends.
 * A figure of ours means something only as a ratio to these.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Calibration {
  /** GETs per second of a bare node:http server answering 1 KiB to 64 connections from this same process. */
  readonly httpGetsPerSecond: number;
  /** 4 KiB appends per second, each followed by fdatasync, one after the other. */
  readonly fdatasyncsPerSecond: number;
}

export async function calibrate(directory = tmpdir(), durationMs = 1000): Promise<Calibration> {
  return { fdatasyncsPerSecond: fdatasyncs(directory, durationMs), httpGetsPerSecond: await httpGets(durationMs) };
}

function fdatasyncs(directory: string, durationMs: number): number {
  const folder = mkdtempSync(join(directory, 'flyball-bench-'));
  const file = openSync(join(folder, 'log'), 'w');
  const block = Buffer.alloc(4096, 1);
  const start = performance.now();
  let count = 0;
  for (; performance.now() - start < durationMs; count++) {
    writeSync(file, block);
    fdatasyncSync(file);
  }
  closeSync(file);
  rmSync(folder, { recursive: true });
  return Math.round((count * 1000) / (performance.now() - start));
}

async function httpGets(durationMs: number): Promise<number> {
  const body = Buffer.alloc(1024, 'x');
  const server = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const options = { agent, port: (server.address() as AddressInfo).port, host: '127.0.0.1' };
  const end = performance.now() + durationMs;
  let count = 0;
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      get(options, (response) => response.resume().once('end', resolve)).once('error', reject);
    });
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      while (performance.now() < end) {
        await one();
        count++;
      }
    }),
  );
  agent.destroy();
  server.close();
  return Math.round((count * 1000) / durationMs);
}
