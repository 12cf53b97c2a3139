/**
 * Durability, attacked: a real process is killed at random moments, and power cuts are imitated by cutting the log anywhere after what was flushed.
 * Every acknowledged write must be there afterwards, with its revision and bytes (guarantees D1 to D4).
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { systemClock, turnEnd } from '../../../machinery/process/clock.ts';
import { type Random, seededRandom, systemRandom } from '../../../machinery/process/random.ts';
import type { Store } from '../interface.ts';
import { openLevelStore } from './store.ts';

const KILLS = 6;
const POWER_CUTS = 40;

interface Acknowledged {
  readonly revision: number;
  readonly choice: string;
  readonly key: string;
  readonly text: string;
}

async function temporaryDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'flyball-crash-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

function seedOf(t: TestContext): { seed: number; random: Random } {
  const seed = systemRandom.integer(2 ** 31);
  t.diagnostic(`seed ${seed}`);
  return { seed, random: seededRandom(seed) };
}

/** Runs the writer until it is killed, `afterMs` after its first acknowledgement. */
async function runAndKill(directory: string, seed: number, afterMs: number): Promise<Acknowledged[]> {
  const script = new URL('./crash-writer.ts', import.meta.url).pathname;
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', script, directory, String(seed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  let armed = false;
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    if (armed || !output.includes('\nack ')) return;
    armed = true;
    systemClock.setTimer(afterMs, () => child.kill('SIGKILL'));
  });
  await once(child, 'close');
  assert.match(output, /^open \d+/, 'the writer opened the store');
  return output
    .slice(0, output.lastIndexOf('\n'))
    .split('\n')
    .filter((line) => line.startsWith('ack '))
    .map((line) => {
      const [, revision, choice, key, text] = line.split(' ');
      return { revision: Number(revision), choice, key, text };
    });
}

/** Each acknowledged write is in the history, or was superseded by one that is. */
function check(store: Store, acknowledged: readonly Acknowledged[]): void {
  const newest = new Map<string, Acknowledged>();
  const changes = new Map(
    store.changes('/', store.compactedRevision, Number.POSITIVE_INFINITY).changes.map((c) => [c.current.revision, c]),
  );
  for (const write of acknowledged) {
    assert.ok(write.revision <= store.revision, `revision ${write.revision} was acknowledged, the store is at ${store.revision}`);
    if (write.revision > (newest.get(write.key)?.revision ?? 0)) newest.set(write.key, write);
    const change = changes.get(write.revision);
    if (change === undefined) assert.ok(write.revision <= store.compactedRevision, `revision ${write.revision} is gone`);
    else assert.deepEqual([change.current.key, JSON.parse(change.current.bytes.toString()).v], [write.key, write.text]);
  }
  for (const [key, write] of newest) {
    const current = store.get(key);
    if (current === undefined || current.revision > write.revision) continue;
    assert.equal(current.revision, write.revision, `${key} went back`);
    assert.equal(JSON.parse(current.bytes.toString()).v, write.text);
  }
}

it(`keeps every acknowledged write through ${KILLS} kills at random moments`, async (t) => {
  const { seed, random } = seedOf(t);
  const directory = await temporaryDirectory(t);
  const acknowledged: Acknowledged[] = [];
  for (let i = 0; i < KILLS; i++) {
    const known = acknowledged.reduce((max, { revision }) => Math.max(max, revision), 1);
    const more = await runAndKill(directory, seed + i, random.integer(300));
    for (const { revision } of more) assert.ok(revision > known, 'no revision is given twice');
    acknowledged.push(...more);
    const store = await openLevelStore(directory);
    check(store, acknowledged);
    await store.close();
  }
  assert.equal(new Set(acknowledged.map(({ revision }) => revision)).size, acknowledged.length);
  t.diagnostic(`${acknowledged.length} acknowledged writes`);
});

it(`keeps every acknowledged write through ${POWER_CUTS} power cuts`, async (t) => {
  const { random } = seedOf(t);
  const directory = await temporaryDirectory(t);
  const store = await openLevelStore(join(directory, 'live'));
  const acknowledged: Acknowledged[] = [];
  const put = async (i: number): Promise<void> => {
    const [key, text] = [`/core/pods/x/p${i}`, 'x'.repeat(random.integer(3000))];
    const { revision } = await store.create(key, () => Buffer.from(JSON.stringify({ v: text })));
    acknowledged.push({ revision, choice: 'create', key, text });
  };
  for (let cut = 0, i = 0; cut < POWER_CUTS; cut++) {
    await Promise.all(Array.from({ length: 1 + random.integer(5) }, () => put(i++)));
    const [expected, flushed] = [[...acknowledged], await logSize(directory)];
    const tail = await readFile(join(directory, 'live', 'TAIL'));
    const unflushed = Array.from({ length: random.integer(4) }, () => put(i++));
    await turnEnd();
    const image = join(directory, `image${cut}`);
    await cp(join(directory, 'live'), image, { recursive: true });
    await Promise.all(unflushed);
    await cutLog(join(image, 'db'), flushed, random);
    await writeFile(join(image, 'TAIL'), tail);
    const recovered = await openLevelStore(image);
    check(recovered, expected);
    await recovered.close();
    await rm(image, { recursive: true });
  }
  await store.close();
});

async function logFile(database: string): Promise<string> {
  const logs = (await readdir(database)).filter((name) => name.endsWith('.log')).sort();
  return join(database, logs[logs.length - 1]);
}

async function logSize(directory: string): Promise<number> {
  return (await stat(await logFile(join(directory, 'live', 'db')))).size;
}

/** What a power cut may leave of the log: all that was flushed, any part of what was not, perhaps garbage behind. */
async function cutLog(database: string, flushed: number, random: Random): Promise<void> {
  const path = await logFile(database);
  const bytes = await readFile(path);
  const kept = bytes.subarray(0, flushed + random.integer(bytes.length - flushed + 1));
  const garbage = Buffer.from(Array.from({ length: random.integer(2) * random.integer(200) }, () => random.integer(256)));
  await writeFile(path, Buffer.concat([kept, garbage]));
}
