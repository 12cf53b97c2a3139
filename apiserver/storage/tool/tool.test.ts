/** The store's tools: what they answer, and that a restored store is a new history that holds all of the old state (guarantee D4). */
import assert from 'node:assert/strict';
import { cp, lstat, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { RevisionCompacted, type Store } from '../interface.ts';
import { openLevelStore } from '../level/store.ts';
import { textOf } from '../suite.ts';
import { writeBackup } from './backup-file.ts';
import { runTool } from './run.ts';

async function temporaryDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'flyball-tool-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

const podAt =
  (name: string, text = '') =>
  (revision: number): Buffer =>
    Buffer.from(JSON.stringify({ kind: 'Pod', metadata: { name, resourceVersion: String(revision) }, text }));

async function fill(store: Store): Promise<void> {
  for (const name of ['a', 'b ü "quoted"', 'c']) await store.create(`/core/pods/x/${name}`, podAt(name));
  await store.update('/core/pods/x/a', 2, podAt('a', 'second\\ "text" é'));
  await store.delete('/core/pods/x/c', 4, podAt('c'));
}

/** A data directory whose store was filled and closed. */
async function filled(t: TestContext): Promise<string> {
  const dataDir = await temporaryDirectory(t);
  const store = await openLevelStore(join(dataDir, 'store'));
  await fill(store);
  await store.close();
  return dataDir;
}

async function tool(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const lines: Record<'out' | 'err', string[]> = { out: [], err: [] };
  const code = await runTool(words, { out: (line) => void lines.out.push(line), err: (line) => void lines.err.push(line) });
  return { code, out: lines.out.join('\n'), err: lines.err.join('\n') };
}

async function contentOf(directory: string): Promise<Record<string, string>> {
  const files = await readdir(directory, { recursive: true, withFileTypes: true });
  const contents: Record<string, string> = {};
  for (const file of files.filter((entry) => entry.isFile())) {
    const path = join(file.parentPath ?? file.path, file.name);
    contents[path] = (await readFile(path)).toString('hex');
  }
  return contents;
}

async function logOf(dataDir: string): Promise<string> {
  const names = (await readdir(join(dataDir, 'store', 'db'))).filter((name) => name.endsWith('.log')).sort();
  return join(dataDir, 'store', 'db', names[names.length - 1]);
}

describe('store check', () => {
  it('tells what is in a store and changes nothing', async (t) => {
    const dataDir = await filled(t);
    const before = await contentOf(dataDir);
    const { code, out, err } = await tool('check', '--data-dir', dataDir);
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^state {8}whole$/m);
    assert.match(out, /^revision {5}6$/m);
    assert.match(out, /^history {6}5 changes after revision 0$/m);
    assert.match(out, /^objects {6}2, with/m);
    assert.match(out, /^ +2 {2}core\/pods$/m);
    assert.deepEqual(await contentOf(dataDir), before);
  });

  it('names the place of damage, ends with 1 and changes nothing', async (t) => {
    const dataDir = await filled(t);
    const log = await logOf(dataDir);
    const bytes = await readFile(log);
    bytes[200] ^= 1;
    await writeFile(log, bytes);
    const before = await contentOf(dataDir);
    const { code, out, err } = await tool('check', '--data-dir', dataDir);
    assert.equal(code, 1);
    assert.match(out, /^state {8}damaged$/m);
    assert.match(err, new RegExp(`^damaged: .*${log} is damaged at byte \\d+, after revision \\d+: a piece does not have its checksum`));
    assert.deepEqual(await contentOf(dataDir), before);
  });

  it('tells of an unfinished write, which is no damage', async (t) => {
    const dataDir = await filled(t);
    const log = await logOf(dataDir);
    await writeFile(log, Buffer.concat([await readFile(log), Buffer.from('half a record')]));
    const { code, out } = await tool('check', '--data-dir', dataDir);
    assert.equal(code, 0);
    assert.match(out, /^unfinished {3}13 bytes of .*\.log from \d+: a write that was under way, acknowledged to nobody$/m);
  });

  it('names an object that tells another revision than it has', async (t) => {
    const dataDir = await temporaryDirectory(t);
    const store = await openLevelStore(join(dataDir, 'store'));
    await store.create('/core/pods/x/a', () => podAt('a')(7));
    await store.close();
    const { code, err } = await tool('check', '--data-dir', dataDir);
    assert.deepEqual([code, err], [1, 'damaged: /core/pods/x/a at revision 2 holds a at 7']);
  });

  it('does not touch a store that is open', async (t) => {
    const dataDir = await temporaryDirectory(t);
    const store = await openLevelStore(join(dataDir, 'store'));
    t.after(() => store.close());
    const { code, err } = await tool('check', '--data-dir', dataDir);
    assert.equal(code, 1);
    assert.match(err, /is in use by process \d+: stop it first/);
    await store.create('/core/pods/x/a', textOf('goes on'));
  });

  it('says so when there is no store', async (t) => {
    const dataDir = await temporaryDirectory(t);
    assert.match((await tool('check', '--data-dir', dataDir)).err, /has no store in it; name the data directory/);
    assert.equal((await tool('mend')).code, 2);
    assert.equal((await tool('backup')).code, 2);
    assert.match((await tool('restore', '--help')).out, /--bump-revision integer/);
  });
});

describe('store backup and restore', () => {
  async function restored(t: TestContext, ...flags: string[]): Promise<{ dataDir: string; file: string }> {
    const from = await filled(t);
    const dataDir = await temporaryDirectory(t);
    const file = join(dataDir, 'backup');
    assert.match((await tool('backup', file, '--data-dir', from)).out, /: 2 objects at revision 6, \d+ bytes$/);
    assert.deepEqual((await tool('restore', file, '--data-dir', dataDir, ...flags)).err, '');
    return { dataDir, file };
  }

  it('brings every object back as it was, under a revision that was never given out', async (t) => {
    const { dataDir } = await restored(t);
    const store = await openLevelStore(join(dataDir, 'store'));
    t.after(() => store.close());
    const { revision, items } = store.list('/');
    assert.ok(revision > 6 + 1e15, String(revision));
    const name = 'b ü "quoted"';
    assert.deepEqual(
      items.map((item) => [item.key, item.revision, item.bytes.toString()]),
      [
        ['/core/pods/x/a', 5, podAt('a', 'second\\ "text" é')(5).toString()],
        [`/core/pods/x/${name}`, 3, podAt(name)(3).toString()],
      ],
    );
    assert.throws(() => store.watch('/', 6, () => {}), RevisionCompacted, 'a watch of the old history begins anew');
    assert.throws(() => store.list('/', { revision: 6 }), RevisionCompacted);
    assert.equal((await store.update('/core/pods/x/a', 5, podAt('a'))).revision, revision + 1);
  });

  it('gives no revision twice, however often the same backup is restored', async (t) => {
    const { file, dataDir } = await restored(t);
    const first = await openLevelStore(join(dataDir, 'store'));
    const { revision } = await first.update('/core/pods/x/a', 5, podAt('a'));
    await writeBackup(first, join(dataDir, 'later'));
    await first.close();
    const given = [revision];
    for (const again of [file, join(dataDir, 'later'), join(dataDir, 'later')]) {
      const next = await temporaryDirectory(t);
      assert.equal((await tool('restore', again, '--data-dir', next)).code, 0);
      const store = await openLevelStore(join(next, 'store'));
      given.push(store.revision);
      await store.close();
    }
    assert.deepEqual(
      given,
      [...new Set(given)].sort((a, b) => a - b),
      'each is above all before',
    );
  });

  it('restores through a link to an empty directory, and leaves the link', async (t) => {
    const { file } = await restored(t);
    const [dataDir, elsewhere] = [await temporaryDirectory(t), await temporaryDirectory(t)];
    await symlink(elsewhere, join(dataDir, 'store'));
    assert.equal((await tool('restore', file, '--data-dir', dataDir)).code, 0);
    assert.ok((await lstat(join(dataDir, 'store'))).isSymbolicLink());
    assert.ok((await readdir(elsewhere)).includes('READY'));
  });

  it('changes no other file when it writes a backup, not even one of the name it would write aside under', async (t) => {
    const from = await filled(t);
    const directory = await temporaryDirectory(t);
    const [file, precious] = [join(directory, 'backup'), join(directory, 'precious')];
    await writeFile(precious, 'kept');
    await symlink(precious, `${file}.unfinished`);
    assert.equal((await tool('backup', file, '--data-dir', from)).code, 0);
    assert.equal(await readFile(precious, 'utf8'), 'kept');
    assert.equal((await lstat(file)).mode & 0o777, 0o600);
    assert.deepEqual((await readdir(directory)).sort(), ['backup', 'backup.unfinished', 'precious']);
  });

  it('goes on through restarts, compaction and a kill', async (t) => {
    const { dataDir } = await restored(t, '--bump-revision', '50');
    const directory = join(dataDir, 'store');
    let store = await openLevelStore(directory);
    for (let i = 0; i < 10; i++) await store.update('/core/pods/x/a', store.get('/core/pods/x/a')!.revision, podAt('a', String(i)));
    await store.compact(60);
    const image = join(dataDir, 'image');
    await cp(directory, image, { recursive: true });
    await store.close();
    for (const place of [directory, image]) {
      store = await openLevelStore(place);
      assert.deepEqual([store.revision, store.compactedRevision, store.count('/')], [66, 60, 2]);
      await store.close();
    }
    assert.equal((await tool('check', '--data-dir', dataDir)).code, 0);
  });

  it('refuses to overwrite', async (t) => {
    const { dataDir, file } = await restored(t);
    assert.match(
      (await tool('restore', file, '--data-dir', dataDir)).err,
      /store is not empty; move it away first: nothing is overwritten$/,
    );
    assert.match((await tool('backup', file, '--data-dir', dataDir)).err, /backup exists; nothing is overwritten$/);
  });

  const breaks: [string, (bytes: Buffer) => Buffer, RegExp][] = [
    ['changed', (bytes) => Buffer.from(bytes.toString().replace('second', 'sekond')), /has changed since it was written/],
    ['cut short', (bytes) => bytes.subarray(0, bytes.length - 30), /does not end as a backup does/],
    ['empty', () => Buffer.alloc(0), /does not end as a backup does/],
  ];
  for (const [what, broken, message] of breaks) {
    it(`refuses a file that was ${what}, and leaves nothing`, async (t) => {
      const { file } = await restored(t);
      await writeFile(file, broken(await readFile(file)));
      const dataDir = await temporaryDirectory(t);
      const { code, err } = await tool('restore', file, '--data-dir', dataDir);
      assert.equal(code, 1);
      assert.match(err, message);
      assert.deepEqual(await readdir(dataDir), []);
    });
  }

  it('backs up no store that is damaged or open', async (t) => {
    const dataDir = await filled(t);
    const file = join(dataDir, 'backup');
    const store = await openLevelStore(join(dataDir, 'store'));
    assert.match((await tool('backup', file, '--data-dir', dataDir)).err, /is in use by process/);
    await store.close();
    await rm(join(dataDir, 'store', 'db', 'CURRENT'));
    assert.match((await tool('backup', file, '--data-dir', dataDir)).err, /CURRENT is missing; nothing was changed; restore the directory/);
    assert.deepEqual(await readdir(dataDir), ['store']);
  });
});
