/** Everything about `kubectl apply`: from client-side to server-side, conflicts, what it prunes, sets, kustomize, what it remembers. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestCluster } from '../../fixtures/cluster.ts';
import { kubectls, type Shell, shell, unlessAny } from './kubectl.ts';

const binaries = kubectls();

test('kubectl is at hand', { skip: unlessAny(binaries, 'kubectl') }, () => {});

for (const { label, path } of binaries) {
  test(`${label} apply`, async (t) => {
    const { cluster } = await startTestCluster(t);
    const k = shell(t, path, cluster.kubeconfig, 'team');
    await k.ok('create namespace team', { namespace: '' });
    await t.test('fields pass from client-side to server-side apply', () => migrated(k));
    await t.test('two appliers share, conflict and give way', () => shared(k));
    await t.test('what is no longer in the files is pruned', () => pruned(k));
    await t.test('an apply set knows its members', () => inSets(k));
    await t.test('kustomize builds, applies, differs and deletes', () => kustomized(k));
    await t.test('what was applied last can be seen, set and edited', () => remembered(k));
  });
}

const configMap = (name: string, data: object, labels?: object): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(labels && { labels }) },
  data,
});
const input = (...items: object[]): { input: string } => ({ input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });

/** A folder with one file for each object. */
function folder(k: Shell, name: string, files: Readonly<Record<string, object>>): string {
  const path = join(k.home, name);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  for (const [file, content] of Object.entries(files)) writeFileSync(join(path, file), JSON.stringify(content));
  return path;
}

const managers = async (k: Shell, name: string): Promise<string> =>
  k.ok(`get cm ${name} --show-managed-fields -o jsonpath='{range .metadata.managedFields[*]}{.manager}={.operation} {end}'`);

async function migrated(k: Shell): Promise<void> {
  assert.equal(await k.ok('apply -f -', input(configMap('moving', { a: '1', b: '2' }))), 'configmap/moving created\n');
  assert.equal(await managers(k, 'moving'), 'kubectl-client-side-apply=Update ');
  assert.equal(await k.ok('apply --server-side -f -', input(configMap('moving', { a: '1' }))), 'configmap/moving serverside-applied\n');
  assert.match(await managers(k, 'moving'), /^(kubectl-last-applied=Apply )?kubectl=Apply (kubectl-last-applied=Apply )?$/);
  assert.equal(await k.ok(`get cm moving -o jsonpath='{.data}'`), '{"a":"1"}', 'a field dropped while moving goes');
  assert.equal(await k.ok('apply -f -', input(configMap('moving', { a: '3' }))), 'configmap/moving configured\n', 'and back');
  assert.equal(await k.ok(`get cm moving -o jsonpath='{.data}'`), '{"a":"3"}');
}

async function shared(k: Shell): Promise<void> {
  const apply = (manager: string, data: object, more = '') =>
    k.run(`apply --server-side --field-manager=${manager} ${more} -f -`, input(configMap('ours', data)));
  const done = async (...[manager, data, more]: Parameters<typeof apply>): Promise<void> => {
    const { code, stderr } = await apply(manager, data, more);
    assert.equal(code, 0, stderr);
  };
  await done('one', { a: '1', b: '1' });
  // the same value is no conflict
  await done('two', { b: '1', c: '1' });
  const refused = await apply('two', { a: '2' });
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /^error: Apply failed with 1 conflict: conflict with "one": \.data\.a\nPlease review the fields above--they currently have other managers\./,
  );
  await done('two', { a: '2' }, '--force-conflicts');
  assert.equal(await k.ok(`get cm ours -o jsonpath='{.data}'`), '{"a":"2","b":"1"}', 'b is still wanted by one, c by nobody');
  assert.match((await apply('three', { a: '2' }, '--dry-run=server')).stdout, /serverside-applied \(server dry run\)\n$/);
  assert.doesNotMatch(await managers(k, 'ours'), /three/);
}

async function pruned(k: Shell): Promise<void> {
  const labels = { set: 'p' };
  const both = folder(k, 'prune', { 'a.json': configMap('pa', { x: '1' }, labels), 'b.json': configMap('pb', { x: '1' }, labels) });
  const prune = `apply -f ${both} --prune -l set=p --prune-allowlist=core/v1/ConfigMap`;
  assert.equal(await k.ok(prune), 'configmap/pa created\nconfigmap/pb created\n');
  folder(k, 'prune', { 'a.json': configMap('pa', { x: '1' }, labels) });
  assert.match(await k.ok(`${prune} --dry-run=server`), /configmap\/pb pruned \(server dry run\)\n/);
  assert.equal(await k.ok(prune), 'configmap/pa unchanged\nconfigmap/pb pruned\n');
  assert.match(await k.ok(`apply -f ${both} --prune -l set=p`), /configmap\/pa unchanged\n/, 'every kind that kubectl prunes is listed');
}

async function inSets(k: Shell): Promise<void> {
  const env = { KUBECTL_APPLYSET: 'true' };
  const path = folder(k, 'set', { 'a.json': configMap('sa', {}), 'b.json': configMap('sb', {}) });
  const apply = `apply -f ${path} --prune --applyset=team`;
  assert.equal(await k.ok(apply, { env }), 'configmap/sa created\nconfigmap/sb created\n');
  assert.match(await k.ok('get secret team -o yaml'), /applyset\.kubernetes\.io\/contains-group-kinds: ConfigMap\n/);
  assert.match(await k.ok('get cm sa --show-labels'), /applyset\.kubernetes\.io\/part-of=applyset-\S+-v1\n$/);
  folder(k, 'set', { 'a.json': configMap('sa', {}) });
  assert.match(await k.ok(`${apply} --server-side`, { env }), /configmap\/sa serverside-applied\nconfigmap\/sb pruned\n$/);
}

async function kustomized(k: Shell): Promise<void> {
  const path = folder(k, 'kustomize', {
    'a.json': configMap('a', { x: '1' }),
    'kustomization.yaml': { resources: ['a.json'], namePrefix: 'k-', configMapGenerator: [{ name: 'gen', literals: ['y=2'] }] },
  });
  assert.match(await k.ok(`kustomize ${path}`, { namespace: '' }), /kind: ConfigMap\n[\s\S]*name: k-gen-\w+\n/);
  assert.match(
    await k.ok(`apply -k ${path}`),
    /^configmap\/k-a created\nconfigmap\/k-gen-\w+ created\n$|^configmap\/k-gen-\w+ created\nconfigmap\/k-a created\n$/,
  );
  assert.equal((await k.run(`diff -k ${path}`)).code, 0);
  assert.match(await k.ok(`get -k ${path}`), /k-a +1 [\s\S]*k-gen-\w+ +1 |k-gen-\w+ +1 [\s\S]*k-a +1 /);
  assert.match(await k.ok(`delete -k ${path}`), /configmap "k-a" deleted/);
}

async function remembered(k: Shell): Promise<void> {
  await k.ok('apply -f -', input(configMap('last', { a: '1' })));
  assert.match(await k.ok('apply view-last-applied cm/last'), /^apiVersion: v1\ndata:\n {2}a: "1"\n/);
  const file = join(folder(k, 'last', { 'l.json': configMap('last', { a: '1', b: '2' }) }), 'l.json');
  assert.equal(await k.ok(`apply set-last-applied -f ${file}`), 'configmap/last configured\n');
  assert.match(await k.ok('apply view-last-applied cm/last'), / {2}b: "2"\n/);
  assert.equal(await k.ok(`get cm last -o jsonpath='{.data}'`), '{"a":"1"}', 'only the memory was set');
  const env = { EDITOR: `sed -i 's/b: "2"/b: "3"/'` };
  assert.equal(await k.ok('apply edit-last-applied cm/last', { env }), 'configmap/last edited\n');
  assert.match(await k.ok('apply view-last-applied cm/last -o json'), /"b": "3"/);
}
