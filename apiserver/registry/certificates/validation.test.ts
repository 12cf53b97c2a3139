/** Signer names, and what approval and status may do to conditions and certificates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldError } from '../../../machinery/api/field-error.ts';
import { refusals } from '../testing/kind-under-test.ts';
import { certificatesigningrequest } from './certificatesigningrequest.ts';
import { signerNameErrors } from './validation.ts';

function signerMistakes(name: string): string[] {
  const errors: FieldError[] = [];
  signerNameErrors(name, 's', errors);
  return errors.map(({ message }) => message.replace(/ \(e\.g\..*/, ''));
}

const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";

const SIGNERS: readonly (readonly [string, readonly string[]])[] = [
  ['example.com/ns.name', []],
  ['A_.B_.com/x', [`s: Invalid value: "A_.B_.com": validating label "A_": ${LABEL}`]],
  ['example.com/X_.Y_', [`s: Invalid value: "X_.Y_": validating label "X_": ${SUBDOMAIN}`]],
  [
    '/',
    [
      `s: Invalid value: "": validating label "": ${LABEL}`,
      's: Invalid value: "": should be a domain with at least two segments separated by dots',
      `s: Invalid value: "": validating label "": ${SUBDOMAIN}`,
    ],
  ],
  [`example.com/${'a.'.repeat(290)}a`, ['s: Too long: may not be more than 571 bytes']],
];

for (const [name, expected] of SIGNERS) {
  test(`a signer ${name.slice(0, 20)} is ${expected.length === 0 ? 'accepted' : 'refused'}`, () => {
    assert.deepEqual(signerMistakes(name), expected);
  });
}

const condition = (type: string, reason: string, status = 'True'): object => ({
  type,
  status,
  reason,
  lastTransitionTime: 't',
  lastUpdateTime: 't',
});
const csr = (conditions: readonly object[], certificate?: string): object => ({
  spec: { signerName: 'example.com/a' },
  status: { conditions, ...(certificate && { certificate: Buffer.from(certificate).toString('base64') }) },
});
const forbidden = (what: string, type: string): string =>
  `status.conditions: Forbidden: updates may not ${what} a condition of type "${type}"`;

test('an approval may be worded anew through approval, and stays as it was through status', () => {
  const old = csr([condition('Approved', 'A')]);
  const other = csr([condition('Approved', 'B')]);
  assert.deepEqual(refusals(certificatesigningrequest, other, { old, subresource: 'approval' }), []);
  assert.deepEqual(refusals(certificatesigningrequest, other, { old, subresource: 'status' }), []);
});

test('a failure may be worded anew by both, and removed by none', () => {
  const old = csr([condition('Failed', 'A')]);
  for (const subresource of ['approval', 'status']) {
    assert.deepEqual(refusals(certificatesigningrequest, csr([condition('Failed', 'B')]), { old, subresource }), []);
    assert.deepEqual(refusals(certificatesigningrequest, csr([]), { old, subresource }), [forbidden('remove', 'Failed')]);
  }
});

test('what is removed is told before what is added', () => {
  const old = csr([condition('Failed', 'A')]);
  assert.deepEqual(refusals(certificatesigningrequest, csr([condition('Approved', 'B')]), { old, subresource: 'status' }), [
    forbidden('remove', 'Failed'),
    forbidden('add', 'Approved'),
  ]);
  assert.deepEqual(
    refusals(certificatesigningrequest, csr([condition('Denied', 'B', 'False'), condition('Approved', 'B')]), {
      old,
      subresource: 'approval',
    }),
    [
      'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
      'status.conditions[1].type: Invalid value: "Approved": Approved and Denied conditions are mutually exclusive',
      forbidden('remove', 'Failed'),
    ],
  );
});

test('a block without a certificate is no certificate', () => {
  const text = '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n';
  assert.deepEqual(refusals(certificatesigningrequest, csr([], text), { old: csr([]), subresource: 'status' }), [
    'status.certificate: Invalid value: "<certificate data>": found CERTIFICATE PEM block containing 0 certificates',
  ]);
});
