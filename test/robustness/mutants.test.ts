/**
 * Each seeded bug is found, and right code is never accused. Without this the other tests of this folder would only show that they are silent. What is
 * built contains none of the bugs.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MUTANTS } from '../../machinery/process/mutants.ts';
import { scenarios } from './mutants/prove.ts';
import { played, playedWithBug } from './mutants/scenario.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const names = Object.keys(MUTANTS);

describe('a seeded bug is found', () => {
  for (const scenario of scenarios) {
    test(`${scenario.mutant}: ${MUTANTS[scenario.mutant]} (${scenario.guarantee})`, async () => {
      assert.deepEqual(await played(scenario), [], 'told without the bug');
      assert.notDeepEqual(await playedWithBug(scenario), [], 'not found');
    });
  }

  test('each has a story', () => {
    assert.deepEqual(scenarios.map(({ mutant }) => mutant).sort(), [...names].sort());
  });
});

/** `mutant('…')` in sources that are built. */
function uses(): string[] {
  const found: string[] = [];
  const search = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) search(path);
      else if (entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
        found.push(...[...readFileSync(path, 'utf8').matchAll(/\bmutant\('([^']+)'\)/g)].map(([, name]) => name!));
    }
  };
  for (const folder of ['apiserver', 'controllers', 'scheduler', 'kubelet', 'cli', 'cluster', 'machinery']) search(join(root, folder));
  return found;
}

test('each seeded bug is somewhere in the sources', () => {
  assert.deepEqual([...new Set(uses())].filter((name) => name !== '…').sort(), [...names].sort());
});

test('what is built has no seeded bug, not even its name', (t) => {
  const dist = mkdtempSync(join(tmpdir(), 'flyball-built-'));
  t.after(() => rmSync(dist, { recursive: true, force: true }));
  assert.equal(spawnSync(process.execPath, ['--import', 'tsx', 'scripts/build.ts', '--into', dist], { cwd: root }).status, 0);
  const built = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => /\.js(\.map)?$/.test(name));
  assert.ok(built.length > 0);
  const left = built.flatMap((file) => {
    const text = readFileSync(join(dist, file), 'utf8');
    return [...names, 'armMutants'].filter((name) => text.includes(name)).map((name) => `${file}: ${name}`);
  });
  assert.deepEqual(left, []);
});
