/** The LevelDB store: the suite of every backend, what it refuses to open, what it survives (guarantees D1 to D4). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Level } from 'level';
import { type Store, StoreDamaged, StoreFailed, StoreLocked } from '../interface.ts';
import { storeSuite, textOf } from '../suite.ts';
import { compactRange } from './database.ts';
import { recordKey } from './record.ts';
import { openLevelStore } from './store.ts';
import { readTail } from './tail.ts';

const directories = new WeakMap<Store, string>();
const opened = new Map<string, Store[]>();

async function temporaryDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'flyball-store-'));
  t.after(async () => {
    for (const store of opened.get(directory) ?? []) await store.close();
    await rm(directory, { recursive: true, force: true });
  });
  return directory;
}

async function openIn(directory: string): Promise<Store> {
  const store = await openLevelStore(directory);
  directories.set(store, directory);
  opened.set(directory, [...(opened.get(directory) ?? []), store]);
  return store;
}

storeSuite('level', {
  create: async (t) => openIn(await temporaryDirectory(t)),
  reopen: async (_t, store) => {
    await store.close();
    return openIn(directories.get(store)!);
  },
});

/** A closed store with revisions 2 to 11, a compaction at 6, and its raw database to be tampered with. */
async function tampered(t: TestContext, tamper: (database: Level<Buffer, Buffer>) => Promise<unknown>): Promise<string> {
  const directory = await temporaryDirectory(t);
  const store = await openLevelStore(directory);
  for (let i = 0; i < 10; i++) await store.create(`/core/pods/x/${i}`, textOf('content'));
  await store.compact(6);
  await store.close();
  const database = new Level<Buffer, Buffer>(join(directory, 'db'), { keyEncoding: 'buffer', valueEncoding: 'buffer' });
  await tamper(database);
  await compactRange(database, Buffer.from('m'), Buffer.from('s')); // into tables: in the log, the newest records stand last
  await database.close();
  return directory;
}

describe('level store: what it refuses to open', () => {
  const flip = (revision: number, at: (length: number) => number) => async (database: Level<Buffer, Buffer>) => {
    const record = (await database.get(recordKey(revision)))!;
    record[at(record.length)] ^= 1;
    await database.put(recordKey(revision), record);
  };
  const cases: [string, (database: Level<Buffer, Buffer>) => Promise<unknown>, RegExp][] = [
    ['a changed byte in an object', flip(9, (length) => length - 20), /revision 9 is damaged: its content/],
    ['a changed byte below the compaction', flip(3, () => 40), /revision 3 is damaged: its content/],
    ['a changed hash', flip(11, (length) => length - 1), /revision 11 is damaged: its content/],
    ['a missing revision', (database) => database.del(recordKey(8)), /revision 8 is damaged: it is missing/],
    [
      'a missing record below the compaction',
      (database) => database.del(recordKey(4)),
      /of the 5 records kept up to revision 6, 4 are there/,
    ],
    [
      'a record in the place of another',
      async (database) => database.put(recordKey(8), (await database.get(recordKey(9)))!),
      /revision 8 is damaged: it is the record of revision 9/,
    ],
    ['the loss of the newest revisions', (database) => database.del(recordKey(11)), /ends at revision 10, but it has reached 11, /],
    ['the loss of everything', (database) => database.clear(), /ends there, after revision 1, but 11 was reached/],
  ];
  for (const [what, tamper, message] of cases) {
    it(what, async (t) => {
      const directory = await tampered(t, tamper);
      await assert.rejects(openLevelStore(directory), (error) => error instanceof StoreDamaged && message.test(error.message));
    });
  }

  it('a database without CURRENT, once it was ready', async (t) => {
    const directory = await tampered(t, async () => {});
    await rm(join(directory, 'db', 'CURRENT'));
    await assert.rejects(openLevelStore(directory), StoreDamaged);
  });

  it('a directory whose database is gone', async (t) => {
    const directory = await tampered(t, async () => {});
    await rm(join(directory, 'db'), { recursive: true });
    await assert.rejects(openLevelStore(directory), StoreDamaged);
  });
});

describe('level store: a log that ends early', () => {
  /** A server that was killed: nothing was written at the end. */
  async function killedImage(t: TestContext, write: (store: Store) => Promise<unknown>): Promise<string> {
    const directory = await temporaryDirectory(t);
    const store = await openIn(join(directory, 'live'));
    opened.set(directory, [store]);
    await write(store);
    const image = join(directory, 'image');
    assert.equal((await readTail(join(directory, 'live')))?.revision, store.revision, 'the mark is exact');
    await cp(join(directory, 'live'), image, { recursive: true });
    return image;
  }

  async function logOf(directory: string): Promise<{ path: string; size: number }> {
    const name = (await readdir(join(directory, 'db'))).filter((file) => file.endsWith('.log')).sort();
    const path = join(directory, 'db', name[name.length - 1]);
    return { path, size: (await stat(path)).size };
  }

  const creates = (count: number) => (store: Store) =>
    Promise.all(Array.from({ length: count }, (_, i) => store.create(`/core/pods/x/${i}`, textOf('content'))));

  it('is refused after a kill, in the middle of what was acknowledged', async (t) => {
    const image = await killedImage(t, creates(600));
    const { path, size } = await logOf(image);
    await truncate(path, Math.floor(size / 2));
    await assert.rejects(openLevelStore(image), (error) => {
      assert.ok(error instanceof StoreDamaged);
      assert.match(
        error.message,
        /\.log is damaged at byte \d+: it ends there, after revision \d+, but 601 was reached, as TAIL tells; nothing was changed; restore/,
      );
      return true;
    });
  });

  it('is refused after a clean stop, whatever is cut', async (t) => {
    const directory = await temporaryDirectory(t);
    const store = await openLevelStore(directory);
    for (let i = 0; i < 5; i++) await store.create(`/core/pods/x/${i}`, textOf('content'));
    await store.close();
    const { path, size } = await logOf(directory);
    await truncate(path, size - 3);
    await assert.rejects(openLevelStore(directory), /it ends there, after revision 5, but 6 was reached, /);
  });

  it('is refused after a kill, when it is empty', async (t) => {
    const image = await killedImage(t, async (store) => {
      await creates(5)(store);
      await store.compact(3);
    });
    const { path } = await logOf(image);
    await truncate(path, 0);
    await assert.rejects(openLevelStore(image), StoreDamaged);
  });

  for (const removed of [['READY'], ['READY', 'HOLDER'], ['READY', 'TAIL'], ['READY', 'TAIL', 'HOLDER']]) {
    for (const harm of ['emptied', 'removed']) {
      it(`and a database whose CURRENT was ${harm} is no beginning, though ${removed.join(' and ')} went`, async (t) => {
        const image = await killedImage(t, creates(600));
        for (const name of removed) await rm(join(image, name));
        const current = join(image, 'db', 'CURRENT');
        await (harm === 'emptied' ? writeFile(current, '') : rm(current));
        await assert.rejects(openLevelStore(image), StoreDamaged);
        assert.ok((await logOf(image)).size > 10_000, 'the data is still there');
      });
    }
  }
});

describe('level store: without permission', () => {
  it('says so, and speaks of no backups', async (t) => {
    const directory = await tampered(t, async () => {});
    const cause = new Error(`IO error: ${directory}/db/LOCK: Permission denied`);
    const open = t.mock.method(Level.prototype, 'open', () => Promise.reject(new Error('Database failed to open', { cause })));
    await assert.rejects(openLevelStore(directory), (error) => {
      assert.ok(!(error instanceof StoreDamaged));
      assert.match((error as Error).message, /: no permission \(IO error: .*Permission denied\); the user who runs the API server must/);
      return true;
    });
    open.mock.restore();
    await openIn(directory);
  });
});

describe('level store: what it survives', () => {
  it('a creation that was cut short', async (t) => {
    const directory = await temporaryDirectory(t);
    await (await openLevelStore(directory)).close();
    for (const name of ['READY', 'TAIL']) await rm(join(directory, name));
    await writeFile(join(directory, 'db', 'CURRENT'), '');
    const store = await openIn(directory);
    assert.equal(store.revision, 1);
  });

  it('a torn tail: the cut group is gone, what was before it is there', async (t) => {
    const directory = await temporaryDirectory(t);
    const store = await openLevelStore(directory);
    for (let i = 0; i < 5; i++) await store.create(`/core/pods/x/${i}`, textOf('content'));
    await store.close();
    const log = (await readdir(join(directory, 'db'))).find((name) => name.endsWith('.log'))!;
    const { size } = await import('node:fs/promises').then((fs) => fs.stat(join(directory, 'db', log)));
    await truncate(join(directory, 'db', log), size - 3);
    // After a power cut nothing has recorded how far the log came.
    await rm(join(directory, 'TAIL'));
    const again = await openIn(directory);
    assert.deepEqual([again.revision, again.count('/')], [5, 4]);
    assert.equal((await again.create('/core/pods/x/new', textOf('p'))).revision, 6);
  });

  it('a second opener, which is told who has it', async (t) => {
    const directory = await temporaryDirectory(t);
    await openIn(directory);
    const url = JSON.stringify(new URL('./store.ts', import.meta.url).href);
    const code = `import(${url}).then((m) => m.openLevelStore(${JSON.stringify(directory)})).catch((e) => console.log(e.constructor.name + ': ' + e.message))`;
    const { stdout } = spawnSync(process.execPath, ['--import', 'tsx', '-e', code], { encoding: 'utf8' });
    assert.match(stdout, new RegExp(`^StoreLocked: .* is in use by process ${process.pid}: `));
    await assert.rejects(openLevelStore(directory), StoreLocked);
  });

  it('a power cut, by flushing every batch it writes', async (t) => {
    const directory = await temporaryDirectory(t);
    const batch = t.mock.method(Level.prototype, 'batch');
    const store = await openIn(directory);
    for (let i = 0; i < 20; i++) await store.create(`/core/pods/x/${i}`, textOf('p'));
    await store.compact(10);
    assert.ok(batch.mock.callCount() >= 21);
    for (const { arguments: args } of batch.mock.calls) assert.deepEqual((args as unknown[])[1], { sync: true });
  });

  it('a write error by fencing itself', async (t) => {
    const directory = await temporaryDirectory(t);
    const store = await openLevelStore(directory);
    await store.create('/core/pods/x/a', textOf('a'));
    t.mock.method(Level.prototype, 'batch', () => Promise.reject(new Error('IO error: no space left on device')));
    const results = await Promise.allSettled([
      store.create('/core/pods/x/b', textOf('b')),
      store.create('/core/pods/x/b', textOf('b')),
      store.create('/core/pods/x/c', textOf('c')),
    ]);
    for (const result of results) assert.ok(result.status === 'rejected' && result.reason instanceof StoreFailed);
    assert.ok((await store.failed) instanceof StoreFailed);
    t.mock.restoreAll();
    await assert.rejects(store.create('/core/pods/x/d', textOf('d')), StoreFailed);
    assert.deepEqual([store.revision, store.count('/')], [2, 1]);
    await store.close();
    const again = await openIn(directory);
    assert.deepEqual([again.revision, again.count('/')], [2, 1]);
  });
});
