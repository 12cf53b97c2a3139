/**
 * A disk that fails under a running store: errors and delays of single system calls (strace), and a file system that is really full (tmpfs). Nothing is
 * acknowledged that did not reach the disk, the process ends, and what was acknowledged is there when it starts again (guarantees D1 to D4).
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { openLevelStore } from '../../../apiserver/storage/level/store.ts';
import { systemClock } from '../../../machinery/process/clock.ts';
import { newestLog } from '../journal.ts';
import { reopened } from './kills.ts';
import { Ledger } from './ledger.ts';
import { bundleWriter, runWriter, type Told, type WriterOptions } from './run-writer.ts';

let bundle: Awaited<ReturnType<typeof bundleWriter>>;
before(async () => {
  bundle = await bundleWriter();
});
after(() => bundle.remove());

const SETTINGS = { seed: 1, keys: 40, writers: 16, textBytes: 1500 } satisfies Partial<WriterOptions>;

function temporaryDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'flyball-disk-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Why strace cannot be used here; undefined when it can. */
function noStrace(): string | undefined {
  const sleeper = spawn('sleep', ['5'], { stdio: 'ignore' });
  const { error, stderr } = spawnSync(
    'strace',
    ['-f', '-qq', '-o', '/dev/null', '-e', 'inject=fdatasync:error=EIO', '-p', String(sleeper.pid)],
    {
      timeout: 500,
      encoding: 'utf8',
    },
  );
  sleeper.kill('SIGKILL');
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'ETIMEDOUT') return undefined;
  return code === 'ENOENT' ? 'strace is not installed' : `strace may not attach here (${stderr?.trim() || code})`;
}

/** From now on the calls of the writer fail or are slow; `%log` is the active log file. */
const inject =
  (store: string, ...rules: readonly string[]) =>
  async (writer: ChildProcess): Promise<void> => {
    await systemClock.sleep(30);
    const log = join(store, 'db', newestLog(join(store, 'db'))!.file);
    const words = rules.map((rule) => rule.replace('%log', log));
    spawn('strace', ['-f', '-qq', '-o', '/dev/null', ...words, '-p', String(writer.pid)], { stdio: 'ignore' });
  };

async function expectFenced(told: Told, directory: string): Promise<void> {
  assert.deepEqual([told.failed, told.end], [true, 3], told.errors);
  const ledger = new Ledger();
  assert.deepEqual(ledger.add(told), []);
  assert.ok(ledger.size > 0);
  assert.deepEqual(await reopened(directory, ledger), []);
  // And what became of the writes that were not acknowledged does not change any more.
  assert.deepEqual(await reopened(directory, ledger), []);
}

describe('a disk that fails', { skip: noStrace() }, () => {
  const cases: [what: string, rules: string[]][] = [
    ['EIO of every flush', ['-e', 'inject=fdatasync:error=EIO']],
    ['EIO of one flush', ['-e', 'inject=fdatasync:error=EIO:when=3']],
    ['EIO of a write to the log', ['-P', '%log', '-e', 'inject=write,writev:error=EIO']],
    ['ENOSPC of one write to the log', ['-P', '%log', '-e', 'inject=write,writev:error=ENOSPC:when=2']],
  ];
  for (const [what, rules] of cases) {
    it(what, async (t) => {
      const directory = join(temporaryDirectory(t), 'store');
      await expectFenced(
        await runWriter({ bundle: bundle.path, options: { ...SETTINGS, directory }, strike: inject(directory, ...rules) }),
        directory,
      );
    });
  }

  it('a slow flush delays answers and loses nothing', async (t) => {
    const directory = join(temporaryDirectory(t), 'store');
    const strike = async (writer: ChildProcess): Promise<void> => {
      await inject(directory, '-e', 'inject=fdatasync:delay_exit=300000')(writer);
      await systemClock.sleep(1000);
      writer.kill('SIGKILL');
    };
    const told = await runWriter({ bundle: bundle.path, options: { ...SETTINGS, directory }, strike });
    const ledger = new Ledger();
    assert.deepEqual([...ledger.add(told), ...(await reopened(directory, ledger))], []);
  });
});

/** Mounts a file system of 4 MB; undefined and the reason when that is not allowed. */
function smallDisk(t: TestContext): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'flyball-disk-'));
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', directory], { encoding: 'utf8' });
  t.after(() => {
    if (status === 0) spawnSync('umount', ['-l', directory]);
    rmSync(directory, { recursive: true, force: true });
  });
  if (status !== 0) {
    t.skip(`no file system can be mounted here (${stderr?.trim() ?? 'no mount'})`);
    return undefined;
  }
  return directory;
}

describe('a disk that is full', () => {
  it('ends the process; with room again everything acknowledged is there', async (t) => {
    const disk = smallDisk(t);
    if (disk === undefined) return;
    const directory = join(disk, 'store');
    const ballast = join(disk, 'ballast');
    writeFileSync(ballast, Buffer.alloc(2_000_000));
    const told = await runWriter({ bundle: bundle.path, options: { ...SETTINGS, directory } });
    assert.deepEqual([told.failed, told.end], [true, 3], told.errors);
    const ledger = new Ledger();
    assert.deepEqual(ledger.add(told), []);
    await assert.rejects(
      openLevelStore(directory),
      /: the disk is full \(.*\); make room and start again: nothing that was acknowledged is lost$/,
    );
    rmSync(ballast);
    assert.deepEqual(await reopened(directory, ledger), []);
    assert.deepEqual(await reopened(directory, ledger), []);
  });
});

describe('two at once', () => {
  it('the second ends within two seconds and says who is first, who does not notice', async (t) => {
    const directory = join(temporaryDirectory(t), 'store');
    let second: { code: unknown; errors: string; ms: number } | undefined;
    const strike = async (writer: ChildProcess): Promise<void> => {
      const start = performance.now();
      const child = spawn(process.execPath, [bundle.path, JSON.stringify({ ...SETTINGS, directory })], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let errors = '';
      child.stderr.on('data', (chunk) => {
        errors += String(chunk);
      });
      const [code] = await once(child, 'close');
      second = { code, errors, ms: performance.now() - start };
      await systemClock.sleep(50);
      writer.kill('SIGKILL');
    };
    const told = await runWriter({ bundle: bundle.path, options: { ...SETTINGS, directory }, strike });
    assert.equal(second?.code, 1);
    assert.match(second?.errors ?? '', /StoreLocked.*: .* is in use by process \d+: stop it first/);
    assert.ok((second?.ms ?? 0) < 2000);
    const ledger = new Ledger();
    assert.deepEqual([told.failed, ...ledger.add(told), ...(await reopened(directory, ledger))], [false]);
  });
});
