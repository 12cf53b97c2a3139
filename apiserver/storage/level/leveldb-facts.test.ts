/**
 * What LevelDB itself does with damaged files (docs/decisions/0012): the reasons why ours are looked at before. When a new version of `classic-level`
 * makes one of these fail, what was built on it may be reconsidered.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { appendFile, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { openLevel } from './database.ts';
import type { Database } from './log.ts';

const keyOf = (i: number): Buffer => Buffer.from(String(i).padStart(4, '0'));

async function temporaryDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'flyball-facts-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** 100 values of 1 KB that do not compress, each flushed; closed. */
async function written(t: TestContext): Promise<string> {
  const directory = await temporaryDirectory(t);
  const database = await openLevel(directory, true);
  for (let i = 0; i < 100; i++) await database.put(keyOf(i), randomFillSync(Buffer.alloc(1000)), { sync: true });
  await database.close();
  return directory;
}

/** The same, in a table. */
async function inTables(t: TestContext): Promise<string> {
  const directory = await written(t);
  await (await openLevel(directory, false)).close();
  return directory;
}

async function fileOf(directory: string, pattern: RegExp): Promise<string> {
  const names = (await readdir(directory)).filter((name) => pattern.test(name)).sort();
  return join(directory, names[names.length - 1]);
}

async function flip(path: string, at: number): Promise<void> {
  const bytes = await readFile(path);
  bytes[at] ^= 1;
  await writeFile(path, bytes);
}

async function keysIn(directory: string, look: (database: Database) => Promise<unknown> = async () => {}): Promise<number[]> {
  const database = await openLevel(directory, false);
  try {
    await look(database);
    return (await database.keys().all()).map((key) => Number(key.toString()));
  } finally {
    await database.close();
  }
}

it('drops the rest of a block of the log behind a changed byte, opens as if nothing were, and deletes the file', async (t) => {
  const directory = await written(t);
  const log = await fileOf(directory, /\.log$/);
  await flip(log, 10_500);
  const keys = await keysIn(directory);
  assert.deepEqual([keys[0], keys[9], keys[10]], [0, 9, 32], 'the ten before are there, and those of the next block on');
  assert.notEqual(await fileOf(directory, /\.log$/), log);
});

it('drops the end of a log that was cut', async (t) => {
  const directory = await written(t);
  const log = await fileOf(directory, /\.log$/);
  await truncate(log, 50_000);
  assert.equal((await keysIn(directory)).at(-1), 47);
});

it('takes a directory without CURRENT for a new one, and deletes the tables in it', async (t) => {
  const directory = await inTables(t);
  await rm(join(directory, 'CURRENT'));
  await (await openLevel(directory, true)).close();
  assert.deepEqual(await keysIn(directory), []);
  assert.deepEqual(
    (await readdir(directory)).filter((name) => name.endsWith('.ldb')),
    [],
  );
});

it('serves a changed byte of a table', async (t) => {
  const directory = await inTables(t);
  const table = await fileOf(directory, /\.ldb$/);
  const before = await openLevel(directory, false);
  const value = await before.get(keyOf(0));
  await before.close();
  await flip(table, 500);
  assert.equal((await keysIn(directory, async (database) => assert.ok(!(await database.get(keyOf(0)))!.equals(value!)))).length, 100);
});

const refusals: [what: string, harm: (directory: string) => Promise<unknown>, message: RegExp][] = [
  ['a table is missing', async (directory) => rm(await fileOf(directory, /\.ldb$/)), /1 missing files/],
  ['CURRENT is empty', (directory) => writeFile(join(directory, 'CURRENT'), ''), /CURRENT file does not end with newline/],
  ['the MANIFEST is missing', async (directory) => rm(await fileOf(directory, /^MANIFEST/)), /MANIFEST-\d+: No such file/],
  [
    'the MANIFEST ends in a piece with a wrong checksum',
    async (directory) => appendFile(await fileOf(directory, /^MANIFEST/), Buffer.from([1, 2, 3, 4, 5, 0, 1, 5, 4, 3, 2, 1])),
    /Corruption: /,
  ],
];
for (const [what, harm, message] of refusals) {
  it(`does not open when ${what}`, async (t) => {
    const directory = await inTables(t);
    await harm(directory);
    await assert.rejects(openLevel(directory, false), (error) => message.test(((error as Error).cause as Error).message));
  });
}

it('goes on after a failed write, and loses what it then acknowledges', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'flyball-facts-'));
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory], { encoding: 'utf8' });
  t.after(async () => {
    if (status === 0) spawnSync('umount', ['-l', directory]);
    await rm(directory, { recursive: true, force: true });
  });
  if (status !== 0) {
    t.skip(`no file system can be mounted here (${stderr?.trim() ?? 'no mount'})`);
    return;
  }
  await writeFile(join(directory, 'ballast'), Buffer.alloc(700_000));
  const database = await openLevel(join(directory, 'db'), true);
  let failed = 0;
  for (let i = 0; i < 100 && failed === 0; i++) {
    await database.put(keyOf(i), randomFillSync(Buffer.alloc(10_000)), { sync: true }).catch(() => {
      failed = i;
    });
  }
  assert.ok(failed > 0);
  await rm(join(directory, 'ballast'));
  for (let i = 200; i < 220; i++) await database.put(keyOf(i), Buffer.from('acknowledged'), { sync: true });
  await database.close();
  const keys = await keysIn(join(directory, 'db'));
  assert.ok(!keys.includes(200), `acknowledged and gone: ${keys}`);
});
