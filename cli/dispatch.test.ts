/** The whole command line without a server: verbs, help, completion, mistakes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Ran, runHere } from './testing/run-here.ts';
import { VERBS } from './verbs.ts';

const run = (line: string): Promise<Ran> =>
  runHere(
    line.split(' ').filter((word) => word !== ''),
    { kubeconfig: '/nowhere/kubeconfig', home: '/nowhere' },
  );

describe('one clear line and exit code 1 for a mistake', () => {
  const cases: [line: string, err: RegExp][] = [
    ['nope', /^error: unknown command "nope" for "flyball"\n$/],
    ['gett', /^error: unknown command "gett" for "flyball"\n\nDid you mean this\?\n\tget\n/],
    ['get pods --foo', /^error: unknown flag: --foo\nSee 'flyball get --help' for usage.\n$/],
    ['get', /^You must specify the type of resource to get\./],
    ['create deployment web', /^error: required flag\(s\) "image" not set\n$/],
    ['create deployment', /^error: required flag\(s\) "image" not set\n$/],
    ['create ns', /^error: exactly one NAME is required, got 0\nSee 'flyball create ns -h' for help and examples\n$/],
    ['rollout nope', /^error: unknown command "nope" for "flyball rollout"\n/],
    ['apply', /^error: must specify one of -f and -k\n$/],
    ['kill', /^error: a COMPONENT is required; see flyball ps\nSee 'flyball kill -h'/],
    ['kill scheduler --data-dir /nowhere/else', /^error: no cluster is running in \/nowhere\/else; start one with: flyball up\n$/],
    ['get pods', /^The connection to the server localhost:8080 was refused - did you specify the right host or port\?\n$/],
    ['get pods --kubeconfig /nowhere/x', /^error: stat \/nowhere\/x: no such file or directory\n$/],
    ['get pods --context nope', /^error: context "nope" does not exist\n$/],
  ];
  for (const [line, err] of cases) {
    test(line, async () => {
      const ran = await run(line);
      assert.match(ran.err, err);
      assert.deepEqual([ran.out, ran.code], ['', 1]);
    });
  }
});

test('the socket that a killed cluster leaves behind is no cluster', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'flyball-cli-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const server = createServer().listen(join(dataDir, 'x.sock'));
  await once(server, 'listening');
  renameSync(join(dataDir, 'x.sock'), join(dataDir, 'control.sock')); // closing removes it under its first name only
  await new Promise((resolve) => server.close(resolve));
  const { err, code } = await run(`ps --data-dir ${dataDir}`);
  assert.deepEqual([err, code], [`error: no cluster is running in ${dataDir}; start one with: flyball up\n`, 1]);
});

describe('help', () => {
  test('of everything names every verb', async () => {
    const { out, code } = await run('--help');
    assert.equal(code, 0);
    for (const name of Object.keys(VERBS)) assert.match(out, new RegExp(`^ {2}${name} `, 'm'));
  });
  test('of one verb lists its flags', async () => {
    const { out, code } = await run('get -h');
    assert.equal(code, 0);
    assert.match(out, /-w, --watch/);
    assert.match(out, /-n, --namespace/);
  });
  test('every verb can be loaded', async () => {
    for (const entry of Object.values(VERBS)) assert.ok((await entry.load()).usage !== undefined);
  });
  test('completion scripts name verbs and flags', async () => {
    const { out } = await run('completion bash');
    assert.match(out, /rollout\) words="history pause restart resume status undo/);
  });
});

test('global flags may stand before the verb', async () => {
  const { out } = await run('-n web create serviceaccount x --dry-run=client -o name');
  assert.equal(out, 'serviceaccount/x\n');
});
