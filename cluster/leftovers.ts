/**
 * Ends processes of an earlier run in the same data directory that have not noticed yet that their parent is gone: they would hold the store's lock.
 * Only a process whose command line names the data directory is touched, since process numbers are used again.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../machinery/process/clock.ts';
import type { Layout } from './layout.ts';

/** They end by themselves within a second; longer means stuck. */
const PATIENCE_MS = 3_000;
const LOOK_MS = 20;

export async function endLeftovers(layout: Layout, clock: Clock): Promise<void> {
  const pids = pidFiles(layout).filter((pid) => isOurs(pid, layout.dataDir));
  const untilMs = clock.monotonicMs() + PATIENCE_MS;
  while (pids.some((pid) => isOurs(pid, layout.dataDir)) && clock.monotonicMs() < untilMs) await clock.sleep(LOOK_MS);
  for (const pid of pids) if (isOurs(pid, layout.dataDir)) process.kill(pid, 'SIGKILL');
  while (pids.some((pid) => isOurs(pid, layout.dataDir))) await clock.sleep(LOOK_MS);
  rmSync(layout.pidDirectory, { recursive: true, force: true });
}

function pidFiles(layout: Layout): number[] {
  try {
    return readdirSync(layout.pidDirectory)
      .filter((name) => name.endsWith('.pid'))
      .map((name) => Number(readFileSync(join(layout.pidDirectory, name), 'utf8')))
      .filter((pid) => Number.isInteger(pid) && pid > 1);
  } catch {
    return [];
  }
}

function isOurs(pid: number, dataDir: string): boolean {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return command.split('\0').some((argument) => argument.includes(dataDir));
  } catch {
    return false;
  }
}
