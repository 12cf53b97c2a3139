/** Kubeconfig files: what we write, what others write, and mistakes in them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { formatKubeconfig } from '../process/kubeconfig-file.ts';
import { clientConfig, mergeKubeconfigs, parseKubeconfig, readKubeconfig } from './kubeconfig.ts';

const ours = formatKubeconfig({
  server: 'https://127.0.0.1:6443',
  ca: 'CA',
  user: 'admin',
  client: { cert: 'CERT', key: 'KEY' },
  unixSocket: '/d/apiserver.sock',
});

test('what we write we read', () => {
  const config = clientConfig(parseKubeconfig(ours, '/'));
  assert.equal(config.server, 'https://127.0.0.1:6443');
  assert.deepEqual([config.ca, config.cert, config.key, config.unixSocket], ['CA', 'CERT', 'KEY', '/d/apiserver.sock']);
});

test('the Unix socket belongs to the address it was written for', () => {
  const moved = ours.replace('    server: "https://127.0.0.1:6443"', '    server: "https://127.0.0.1:7777"');
  assert.equal(clientConfig(parseKubeconfig(moved, '/')).unixSocket, undefined);
});

const file = (name: string, server: string, more = ''): string =>
  `current-context: ${name}\nclusters: [{name: ${name}, cluster: {server: '${server}'}}]\ncontexts: [{name: ${name}, context: {cluster: ${name}, user: ${name}, namespace: ns-${name}}}]\nusers: [{name: ${name}, user: {token: t-${name}${more}}}]\n`;

test('of several files the first to say something wins', () => {
  const merged = mergeKubeconfigs(
    [file('a', 'https://a/'), file('b', 'https://b:1'), file('a', 'https://other')].map((text) => parseKubeconfig(text, '/')),
  );
  assert.deepEqual([clientConfig(merged).server, clientConfig(merged).namespace], ['https://a', 'ns-a']);
  const other = clientConfig(merged, { context: 'b' });
  assert.deepEqual([other.server, other.token], ['https://b:1', 't-b']);
  assert.equal(clientConfig(merged, { user: 'b' }).token, 't-b');
});

test('relative paths are relative to the file', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  t.after(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'c.crt'), 'CERT');
  writeFileSync(join(directory, 'config'), file('a', 'https://a', ', client-certificate: c.crt'));
  assert.equal(readKubeconfig(join(directory, 'config')).cert, 'CERT');
});

test('mistakes are named', () => {
  const cases: [string, () => unknown, RegExp][] = [
    ['missing file', () => readKubeconfig('/does/not/exist'), /cannot read kubeconfig \/does\/not\/exist/],
    ['unknown context', () => clientConfig(parseKubeconfig(file('a', 'https://a'), '/'), { context: 'x' }), /context "x" does not exist/],
    ['unknown cluster', () => clientConfig(parseKubeconfig(file('a', 'https://a'), '/'), { cluster: 'x' }), /cluster "x" does not exist/],
    ['nothing', () => clientConfig(parseKubeconfig('', '/')), /no configuration has been provided/],
    ['a list', () => parseKubeconfig('[]', '/'), /must be a mapping/],
    ['a plugin', () => clientConfig(parseKubeconfig(file('a', 'https://a', ', exec: {command: x}'), '/')), /credential plugins/],
  ];
  for (const [name, run, message] of cases) assert.throws(run, message, name);
});
