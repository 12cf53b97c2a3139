/** The life of a process: ready, signals, a parent that goes away, exit codes. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('testing/sample-main.ts', import.meta.url));

interface Run {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; out: string; err: string }>;
  message(type: string): Promise<unknown>;
  /** Settles when it has logged this. */
  logged(text: string): Promise<void>;
}

function run(t: TestContext, argv: readonly string[], ipc = true): Run {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...argv], { stdio: ['ignore', 'pipe', 'pipe', ipc ? 'ipc' : 'ignore'] });
  t.after(() => child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    err += chunk;
  });
  // 'close' is not told for a child whose channel we closed
  const ended = Promise.all([once(child, 'exit'), once(child.stdout!, 'close'), once(child.stderr!, 'close')]).then(([[code]]) => ({
    code: code as number | null,
    out,
    err,
  }));
  const messages: { type: string }[] = [];
  child.on('message', (message) => messages.push(message as { type: string }));
  return {
    child,
    ended,
    message: (type) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = messages.find((message) => message.type === type);
          if (found) resolve(found);
        };
        child.on('message', look);
        look();
      }),
    logged: (text) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (err.includes(text)) resolve();
        };
        child.stderr?.on('data', look);
        look();
      }),
  };
}

test('a process tells its parent when it is ready, and ends with 0 when told to', async (t) => {
  const { child, ended, message } = run(t, []);
  assert.deepEqual(await message('ready'), { type: 'ready', address: 'http://127.0.0.1:1' });
  child.kill('SIGTERM');
  assert.deepEqual((await ended).code, 0);
});

test('it ends when its parent is gone', async (t) => {
  const { child, ended, message } = run(t, []);
  await message('ready');
  child.disconnect();
  assert.equal((await ended).code, 0);
});

test('even when it does not want to', async (t) => {
  const { child, ended, message } = run(t, ['--stuck']);
  await message('ready');
  child.disconnect();
  assert.equal((await ended).code, 1);
});

test('a second signal ends it at once', async (t) => {
  const { child, ended, message, logged } = run(t, ['--stuck']);
  await message('ready');
  child.kill('SIGINT');
  await logged('stopping');
  child.kill('SIGINT');
  assert.equal((await ended).code, 1);
});

test('it waits for the word of its parent when told to', async (t) => {
  const { child, ended, logged } = run(t, ['--wait-for-order', '--fail=started', '--v=4']);
  await logged('waits for the word of its parent');
  assert.equal(child.exitCode, null);
  child.send({ type: 'start' });
  assert.match((await ended).err, /waits for the word[\s\S]*started/);
});

test('all mistakes on the command line are said at once, without a stack', async (t) => {
  const { code, err } = await run(t, ['--nope', '--v=lots'], false).ended;
  assert.equal(code, 1);
  assert.equal(err, 'sample: unknown flag: --nope\nsample: --v: "lots" is not a whole number\nSee \'sample --help\'.\n');
});

test('a failed start by hand says why on one line, without a stack', async (t) => {
  const { code, err } = await run(t, ['--fail=port in use'], false).ended;
  assert.deepEqual([code, err], [1, 'sample: port in use: the cause of it\n']);
});

test('a failed start under a parent is logged with its error and ends with 1', async (t) => {
  const { code, err } = await run(t, ['--fail=port in use']).ended;
  assert.equal(code, 1);
  const line = JSON.parse(err.trim()) as { msg: string; err: { message: string }; component: string };
  assert.deepEqual([line.msg, line.err.message, line.component], ['ended by an error', 'port in use: the cause of it', 'sample']);
});

test('--help and --version answer and end', async (t) => {
  const help = await run(t, ['--help'], false).ended;
  assert.deepEqual([help.code, help.err], [0, '']);
  assert.match(help.out, /^Usage: sample \[flags\]\n[\s\S]*--failpoints string/);
  assert.match((await run(t, ['--version'], false).ended).out, /^sample \d+\.\d+\.\d+/);
});
