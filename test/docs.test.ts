/**
 * What the pages say about the tree is so: links lead somewhere, files that are named exist, decisions are numbered once and listed, every npm script
 * is documented, every seeded bug breaks a promise that is on the page of guarantees.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
const FOLDERS = ['apiserver', 'controllers', 'scheduler', 'kubelet', 'cli', 'cluster', 'machinery', 'scripts', 'test', 'docs'];
const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path.replaceAll('\\', '/')}`),
);
const under = (folder: string, end: string): string[] => files.filter((path) => path.startsWith(folder) && path.endsWith(end));
const PAGES = ['README.md', ...under('docs/', '.md')];

test('every link leads to a file', () => {
  const dead = PAGES.flatMap((page) =>
    [...textOf(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map(([, target]) => target!)
      .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(root, dirname(page), target)))
      .map((target) => `${page}: ${target}`),
  );
  assert.deepEqual(dead, []);
});

/** Pages may leave out the folders before a name, and use `*`. */
function isThere(name: string): boolean {
  const pattern = new RegExp(`(?:^|/)${name.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`);
  return files.some((path) => pattern.test(path));
}

test('every file that is named exists', () => {
  const missing = PAGES.flatMap((page) =>
    [...textOf(page).matchAll(/`([\w*.-]+(?:\/[\w*.-]+)*\.ts)`/g)]
      .map(([, name]) => name!)
      .filter((name) => !isThere(name))
      .map((name) => `${page}: ${name}`),
  );
  assert.deepEqual(missing, []);
});

test('decisions have numbers of their own and are listed in architecture.md', () => {
  const names = under('docs/decisions/', '.md').map((path) => path.slice('docs/'.length));
  const numbers = names.map((name) => name.slice('decisions/'.length, 'decisions/'.length + 4));
  assert.equal(new Set(numbers).size, numbers.length);
  const listed = textOf('docs/architecture.md');
  assert.deepEqual(
    names.filter((name) => !listed.includes(`](${name}) |`)),
    [],
  );
});

test('every npm script is documented', () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const readme = textOf('README.md');
  const table = readme.slice(readme.indexOf('## Work on it'), readme.indexOf('## Read on'));
  const called = Object.keys(scripts).filter(
    (name) => !(name.startsWith('pre') && scripts[name.slice(3)] !== undefined) && name !== 'prepare',
  );
  assert.deepEqual(
    called.filter((name) => !new RegExp(`\`${name}\\b`).test(table)),
    [],
  );
});

test('every promise that a seeded bug breaks is on the page of guarantees', () => {
  const page = textOf('docs/guarantees.md');
  const promised = new Set([...page.matchAll(/^\| ([A-Z]\d+(?:, [A-Z]\d+)*) \|/gm)].flatMap(([, letters]) => letters!.split(', ')));
  const broken = under('test/robustness/mutants/', '.ts').flatMap((path) =>
    [...textOf(path).matchAll(/guarantee: '([A-Z]\d+)'/g)].map(([, letter]) => letter!),
  );
  assert.ok(broken.length > 20);
  assert.deepEqual(
    broken.filter((letter) => !promised.has(letter)),
    [],
  );
});
