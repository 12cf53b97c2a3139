/**
 * A disk that is really full: the store lies on a small file system in memory and is written to until nothing more fits. The server must refuse, end
 * by itself, and have all that it acknowledged once there is room again. Needs the right to mount.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../machinery/client/connect.ts';
import { configmaps } from '../../machinery/client/resource-type.ts';
import { journalReading } from './batch.ts';
import { History, TOKEN } from './history.ts';
import { type Finding, judge } from './judge.ts';
import { RecordedClient } from './recorded-client.ts';
import { readStore } from './revisions.ts';
import { bundleServer, Server } from './server.ts';
import { bare } from './write-traffic.ts';

const SMALL = 'size=3m';
const ENOUGH = 'size=64m';
const WRITERS = 8;
const PAYLOAD = 20_000;
/** Far more than fits. */
const MAX_WRITES = 2_000;

const mount = (...args: string[]): boolean => spawnSync('mount', args, { stdio: 'ignore' }).status === 0;

/** Undefined when a small file system can be mounted here. */
export function fullDiskProblem(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'flyball-mount-'));
  try {
    if (!mount('-t', 'tmpfs', '-o', SMALL, 'tmpfs', directory)) return 'a file system may not be mounted here';
    spawnSync('umount', [directory]);
    return undefined;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export async function fullDisks(count: number, seed: number, tell: (line: string) => void): Promise<Finding[]> {
  const problem = fullDiskProblem();
  if (problem !== undefined) tell(`skipped: full disk, ${problem}`);
  if (problem !== undefined || count === 0) return [];
  const bundle = await bundleServer();
  const violations: string[] = [];
  try {
    for (let i = 0; i < count; i++) violations.push(...(await fillDisk(bundle.path, `${seed}-${i}`, tell)));
  } finally {
    bundle.remove();
  }
  return [{ name: 'D1 a full disk', judged: `${count} disks`, violations }];
}

async function fillDisk(bundle: string, name: string, tell: (line: string) => void): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), `flyball-full-${name}-`));
  const server = await Server.make({ bundle, directory });
  mkdirSync(server.store, { recursive: true });
  mount('-t', 'tmpfs', '-o', SMALL, 'tmpfs', server.store);
  const history = new History();
  try {
    await server.start();
    await fill(server, history);
    const violations: string[] = [];
    if (!(await server.ended(10_000))) violations.push('the server did not end though its disk was full');
    else if (server.end !== 1) violations.push(`the server ended by ${server.end}, not by 1`);
    await server.kill();
    mount('-o', `remount,${ENOUGH}`, server.store);
    await server.start();
    await server.kill();
    const reading = { ...(await readStore(server.store)), atLeast: 1, whole: true };
    const findings = judge({ operations: history.operations, readings: [journalReading(directory), reading], compacting: false });
    const acknowledged = history.operations.filter(({ status }) => status === 200).length;
    tell(
      `a full disk: ${acknowledged} writes were acknowledged, then ${history.operations.filter(({ status }) => status >= 500).length} answered 500`,
    );
    return [...violations, ...findings.flatMap((finding) => finding.violations)];
  } catch (error) {
    return [`a full disk: ${error}`];
  } finally {
    await server.close();
    spawnSync('umount', [server.store]);
    rmSync(directory, { recursive: true, force: true });
  }
}

async function fill(server: Server, history: History): Promise<void> {
  const client = createClient({ kubeconfig: server.kubeconfig, userAgent: 'full/1.0' });
  let writes = 0;
  const writer = async (id: number): Promise<void> => {
    const recorded = new RecordedClient(`w${id}`, client, history);
    while (writes < MAX_WRITES && server.alive) {
      const name = `c${writes++}`;
      const metadata = { name, namespace: 'default', annotations: { [TOKEN]: name } };
      const { status } = await recorded.create(configmaps, { ...bare(configmaps), metadata, ...{ data: { x: 'x'.repeat(PAYLOAD) } } });
      if (status === 0) return;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, i) => writer(i)));
  await client.close();
}
