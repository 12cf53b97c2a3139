/** The certificates of a cluster: made once, kept while good. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ensurePki, issueClientCertificate } from './pki.ts';
import { FakeClock } from './testing/fake-clock.ts';

function temporary(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'flyball-pki-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test('everything is signed by one CA, and private keys are for their owner alone', async (t) => {
  const dataDir = temporary(t);
  const pki = await ensurePki(dataDir, { hosts: ['api.example', '10.0.0.7'] });
  const ca = new X509Certificate(pki.ca.cert);
  assert.ok(ca.ca);
  const server = new X509Certificate(pki.apiserver.cert);
  assert.ok(server.verify(ca.publicKey));
  for (const host of ['localhost', 'kubernetes.default.svc', 'api.example']) assert.ok(server.checkHost(host), host);
  for (const address of ['127.0.0.1', '::1', '10.96.0.1', '10.0.0.7']) assert.ok(server.checkIP(address), address);
  for (const file of readdirSync(pki.directory)) {
    const { mode } = statSync(join(pki.directory, file));
    assert.equal(mode & 0o777, file.endsWith('.key') ? 0o600 : 0o644, file);
  }
  assert.equal(statSync(pki.directory).mode & 0o777, 0o700);
});

test('what is good is kept; a new host, a near end, another CA or a broken file is made anew', async (t) => {
  const dataDir = temporary(t);
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const first = await ensurePki(dataDir, { clock });
  assert.deepEqual(await ensurePki(dataDir, { clock }), first);

  const withHost = await ensurePki(dataDir, { clock, hosts: ['new.example'] });
  assert.equal(withHost.ca.cert, first.ca.cert);
  assert.notEqual(withHost.apiserver.cert, first.apiserver.cert);

  clock.jumpWallClock(340 * 24 * 3_600_000);
  const later = await ensurePki(dataDir, { clock, hosts: ['new.example'] });
  assert.equal(later.ca.cert, first.ca.cert);
  assert.notEqual(later.apiserver.cert, withHost.apiserver.cert);

  writeFileSync(join(dataDir, 'pki/apiserver.crt'), 'broken');
  const mended = await ensurePki(dataDir, { clock });
  assert.ok(new X509Certificate(mended.apiserver.cert).verify(new X509Certificate(first.ca.cert).publicKey));

  rmSync(join(dataDir, 'pki/ca.key'));
  const anew = await ensurePki(dataDir, { clock });
  assert.notEqual(anew.ca.cert, first.ca.cert);
  assert.ok(new X509Certificate(anew.apiserver.cert).verify(new X509Certificate(anew.ca.cert).publicKey));
});

test('a client certificate names user and groups, and serves only when it has hosts', async (t) => {
  const pki = await ensurePki(temporary(t));
  const node = new X509Certificate(
    (await issueClientCertificate(pki, { user: 'system:node:a', groups: ['system:nodes'], hosts: ['a', '127.0.0.1'] })).cert,
  );
  assert.deepEqual(node.subject.split('\n').sort(), ['CN=system:node:a', 'O=system:nodes']);
  assert.deepEqual([...node.keyUsage].sort(), ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  const odd = new X509Certificate((await issueClientCertificate(pki, { user: 'a,CN=admin', groups: ['b+O=system:masters'] })).cert);
  assert.deepEqual([...odd.keyUsage], ['1.3.6.1.5.5.7.3.2']);
  assert.equal(odd.toLegacyObject().subject.CN, 'a,CN=admin', 'a name cannot smuggle in another');
  assert.equal(odd.toLegacyObject().subject.O, 'b+O=system:masters');
});
