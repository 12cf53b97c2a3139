/** Every built-in kind through the eyes of kubectl: applied in both manners, printed, described, labelled, replaced by what was read, deleted. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestCluster } from '../../fixtures/cluster.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { everyKind } from './every-kind.ts';
import { kubectls, type Shell, shell, unlessAny } from './kubectl.ts';

const binaries = kubectls();

test('kubectl is at hand', { skip: unlessAny(binaries, 'kubectl') }, () => {});

/** What can be created and listed but is no kind of its own, or is made by others alone. */
const NOT_HERE = new Set(['customresourcedefinitions.apiextensions.k8s.io', 'apiservices.apiregistration.k8s.io', 'events.events.k8s.io']);

for (const { label, path } of binaries) {
  test(`${label} and every kind`, async (t) => {
    const { cluster } = await startTestCluster(t);
    const k = shell(t, path, cluster.kubeconfig, 'kinds');
    await k.ok('create namespace kinds', { namespace: '' });
    const file = join(k.home, 'every-kind.json');
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: everyKind }));
    await t.test('none is forgotten', () => complete(k));
    await t.test('apply makes them, and leaves them alone the second time', () => applied(k, file));
    await t.test('get prints them', () => printed(k, file));
    await t.test('describe tells of them', () => described(k, label));
    await t.test('what is read can be written', () => written(k, file));
    await t.test('server-side apply takes them over', () => owned(k, file));
    await t.test('delete takes them away', () => deleted(k, file));
  });
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

async function complete(k: Shell): Promise<void> {
  const served = linesOf(await k.ok('api-resources --verbs=create,list --no-headers')).map((line) => line.trim().split(/\s+/).at(-1));
  const names = linesOf(await k.ok('api-resources --verbs=create,list -o name'));
  const missing = names.filter((name, index) => !NOT_HERE.has(name) && !everyKind.some(({ kind }) => kind === served[index]));
  assert.deepEqual(missing, []);
}

async function applied(k: Shell, file: string): Promise<void> {
  const made = linesOf(await k.ok(`apply -f ${file}`));
  assert.deepEqual(
    made.filter((line) => !line.endsWith(' created')),
    [],
  );
  assert.equal(made.length, everyKind.length);
  // what has a list that must be replaced as a whole is sent again each time
  const again = linesOf(await k.ok(`apply -f ${file}`));
  assert.ok(again.filter((line) => line.endsWith(' unchanged')).length > everyKind.length / 2, again.join('\n'));
}

async function printed(k: Shell, file: string): Promise<void> {
  for (const output of ['', '-o wide']) {
    const tables = (await k.ok(`get -f ${file} ${output}`)).trim().split(/\n\n/);
    assert.equal(tables.length, everyKind.length);
    for (const table of tables) assert.match(table, /^(NAME|LAST SEEN) .*\n.*[a-z]+(\.[a-z0-9.]+)?\/(one|10\.11\.12\.13)/);
  }
  assert.equal(linesOf(await k.ok(`get -f ${file} -o name`)).length, everyKind.length);
}

/** Older clients describe these in versions that are served no more. */
const UNDESCRIBED: Readonly<Record<string, readonly string[]>> = {
  'v1.32': ['IPAddress', 'ServiceCIDR', 'VolumeAttributesClass'],
  'v1.33': ['VolumeAttributesClass'],
};

async function described(k: Shell, label: string): Promise<void> {
  const without = Object.entries(UNDESCRIBED).find(([version]) => label.includes(version))?.[1] ?? [];
  const items = everyKind.filter(({ kind }) => !without.includes(kind));
  const text = await k.ok('describe -f -', { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
  assert.equal(text.match(/^Name: +(one|10\.11\.12\.13)$/gm)?.length, items.length);
  assert.match(text, /Default backend: +<default>\nRules:\n[\s\S]*one\.example\.com/);
  assert.match(text, /resource cpu on pods {2}\(as a percentage of request\): +<unknown> \/ 60%/);
}

async function written(k: Shell, file: string): Promise<void> {
  const labelled = linesOf(await k.ok(`label -f ${file} seen=yes`));
  assert.equal(labelled.filter((line) => line.endsWith(' labeled')).length, everyKind.length);
  const read = join(k.home, 'read.json');
  const { items } = JSON.parse(await k.ok(`get -f ${file} -o json`)) as { items: { metadata: { resourceVersion?: string } }[] };
  // without a version, so that what the loops write meanwhile is no conflict
  for (const { metadata } of items) delete metadata.resourceVersion;
  writeFileSync(read, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const replaced = linesOf(await k.ok(`replace -f ${read}`));
  assert.equal(replaced.filter((line) => line.endsWith(' replaced')).length, everyKind.length);
}

async function owned(k: Shell, file: string): Promise<void> {
  const lines = linesOf(await k.ok(`apply --server-side --force-conflicts -f ${file}`));
  assert.equal(lines.filter((line) => line.endsWith(' serverside-applied')).length, everyKind.length);
}

async function deleted(k: Shell, file: string): Promise<void> {
  const lines = linesOf(await k.ok(`delete -f ${file} --wait=false`));
  assert.equal(lines.filter((line) => / deleted( from kinds namespace)?$/.test(line)).length, everyKind.length);
  // no loop looks after volumes: what protects them while they are in use stays
  await eventually('everything but the volumes is gone', async () =>
    linesOf(await k.ok(`get -f ${file} --ignore-not-found -o name`)).every((name) => name.includes('volume')),
  );
}
