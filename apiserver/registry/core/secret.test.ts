/** Secrets: what each type must hold, what never changes, and which key pairs are warned of. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { signCertificate } from '../../../machinery/process/pki-sign.ts';
import { NOW, refusals, warningsOf } from '../testing/kind-under-test.ts';
import { configmap } from './configmap.ts';
import { secret } from './secret.ts';

const encoded = (text: string): string => Buffer.from(text).toString('base64');
const secretOf = (type: string, data: Readonly<Record<string, string>>, more: object = {}): object => ({
  type,
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, encoded(text)])),
  ...more,
});
const REDACTED = 'Invalid value: "<secret contents redacted>": ';

describe('a secret', () => {
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [secretOf('example.com/any', {}), []],
    [secretOf('kubernetes.io/basic-auth', { username: '' }), []],
    [secretOf('kubernetes.io/basic-auth', { user: 'x' }), ['data[username]: Required value', 'data[password]: Required value']],
    [secretOf('kubernetes.io/ssh-auth', { 'ssh-privatekey': '' }), ['data[ssh-privatekey]: Required value']],
    [secretOf('kubernetes.io/tls', { 'tls.crt': '' }), ['data[tls.key]: Required value']],
    [secretOf('kubernetes.io/tls', { 'tls.key': 'x' }), ['data[tls.crt]: Required value']],
    [secretOf('kubernetes.io/service-account-token', {}), ['metadata.annotations[kubernetes.io/service-account.name]: Required value']],
    [secretOf('kubernetes.io/dockercfg', { '.dockerconfigjson': '{}' }), ['data[.dockercfg]: Required value']],
    [secretOf('kubernetes.io/dockercfg', { '.dockercfg': 'null' }), []],
    [
      secretOf('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': '[]' }),
      [`data[.dockerconfigjson]: ${REDACTED}json: cannot unmarshal array into Go value of type map[string]interface {}`],
    ],
    [
      secretOf('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': '7' }),
      [`data[.dockerconfigjson]: ${REDACTED}json: cannot unmarshal number into Go value of type map[string]interface {}`],
    ],
    [secretOf('kubernetes.io/dockercfg', { '.dockercfg': '' }), [`data[.dockercfg]: ${REDACTED}unexpected end of JSON input`]],
  ];
  for (const [object, expected] of cases) {
    it(`${JSON.stringify(object)} is ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
      assert.deepEqual(refusals(secret, object), expected);
    });
  }

  it('keeps its type, and all it has once it is immutable', () => {
    const old = secretOf('Opaque', { a: 'b' }, { immutable: true });
    const kept = 'Forbidden: field is immutable when `immutable` is set';
    assert.deepEqual(refusals(secret, old, { old }), []);
    assert.deepEqual(refusals(secret, secretOf('Opaque', { a: 'c' }), { old }), [`immutable: ${kept}`, `data: ${kept}`]);
    assert.deepEqual(refusals(secret, secretOf('Opaque', { a: 'b' }, { immutable: false }), { old }), [`immutable: ${kept}`]);
    assert.deepEqual(refusals(secret, secretOf('example.com/x', {}), { old: secretOf('Opaque', {}) }), [
      'type: Invalid value: "example.com/x": field is immutable',
    ]);
  });

  it('has a bound of all its values together', () => {
    const half = 'x'.repeat(512 * 1024);
    assert.deepEqual(refusals(secret, secretOf('Opaque', { a: half, b: half })), []);
    assert.deepEqual(refusals(secret, secretOf('Opaque', { a: half, b: `${half}y` })), [
      'data: Too long: may not be more than 1048576 bytes',
    ]);
  });
});

describe('a configuration', () => {
  const kept = 'Forbidden: field is immutable when `immutable` is set';

  it('has each key once, in text or in bytes', () => {
    assert.deepEqual(refusals(configmap, { data: { a: '1', b: '2' }, binaryData: { b: '', c: '' } }), [
      'data[b]: Invalid value: "b": duplicate of key present in binaryData',
    ]);
    for (const key of ['.', '..', '..x']) {
      assert.deepEqual(refusals(configmap, { data: { [key]: '' } }).length, 1, key);
      assert.deepEqual(refusals(configmap, { binaryData: { [key]: '' } }).length, 1, key);
    }
  });

  it('keeps all it has once it is immutable', () => {
    const old = { data: { a: '1' }, binaryData: { b: 'AA==' }, immutable: true };
    assert.deepEqual(refusals(configmap, { data: { a: '2' }, binaryData: {}, immutable: true }, { old }), [
      `data: ${kept}`,
      `binaryData: ${kept}`,
    ]);
    assert.deepEqual(refusals(configmap, { ...old, immutable: false }, { old }), [`immutable: ${kept}`]);
  });

  it('has a bound of all its values together', () => {
    const half = 'x'.repeat(512 * 1024);
    assert.deepEqual(refusals(configmap, { data: { a: half, b: half }, binaryData: { c: 'AA==' } }), [
      '[]: Too long: may not be more than 1048576 bytes',
    ]);
  });
});

describe('a key pair that cannot serve', () => {
  const CERTIFICATE = ['-----BEGIN CERTIFICATE-----', 'MIIBfTCCASOgAwIBAgIUQ0lq', '-----END CERTIFICATE-----'].join('\n');
  const KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const warned = (crt: string, key: string): string[] =>
    warningsOf(secret, secretOf('kubernetes.io/tls', { 'tls.crt': crt, 'tls.key': key }));

  it('is warned of by its first fault', () => {
    const other = '-----BEGIN PARAMETERS-----\nAAAA\n-----END PARAMETERS-----\n';
    const cases: readonly (readonly [string, string, string])[] = [
      ['', '', 'tls: failed to find any PEM data in certificate input'],
      ['-----BEGIN CERTIFICATE-----\n%%\n-----END CERTIFICATE-----\n', KEY, 'tls: failed to find any PEM data in certificate input'],
      [
        KEY,
        CERTIFICATE,
        'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
      ],
      [
        other + KEY,
        KEY,
        'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [PARAMETERS PRIVATE KEY]',
      ],
      [CERTIFICATE, 'x', 'tls: failed to find any PEM data in key input'],
      [CERTIFICATE, CERTIFICATE, 'tls: found a certificate rather than a key in the PEM for the private key'],
      [
        CERTIFICATE,
        other,
        'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [PARAMETERS]',
      ],
      [CERTIFICATE, other + KEY, 'x509: malformed certificate'],
    ];
    for (const [crt, key, text] of cases) assert.deepEqual(warned(crt, key), [text]);
  });

  it('is one whose key is of another certificate, or none', async () => {
    const request = { subject: [['CN', 'a']], days: 1, hosts: ['a'], usages: ['server'] } as const;
    const [a, b] = [signCertificate(request, NOW), signCertificate(request, NOW)];
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    assert.deepEqual(warned(a.cert, a.key), []);
    assert.deepEqual(warned(`some words\n${a.cert}${b.cert}`, a.key), []);
    assert.deepEqual(warned(a.cert, b.key), ['tls: private key does not match public key']);
    assert.deepEqual(warned(a.cert, rsa), ['tls: private key type does not match public key type']);
    assert.deepEqual(warned(a.cert, '-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n'), [
      'tls: failed to parse private key',
    ]);
  });
});
