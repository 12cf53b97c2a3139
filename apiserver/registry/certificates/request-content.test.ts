/** Certificate requests that are none are refused, whatever bytes they are made of. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestMistake } from './request-content.ts';

const pem = (type: string, body: string): string =>
  Buffer.from(`-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`).toString('base64');
const NOT_A_REQUEST = 'PEM block type must be CERTIFICATE REQUEST';

const CASES: readonly (readonly [string, string | undefined, RegExp | string])[] = [
  ['nothing', undefined, NOT_A_REQUEST],
  ['another block', pem('CERTIFICATE', 'AAAA'), NOT_A_REQUEST],
  ['no bytes', pem('CERTIFICATE REQUEST', ''), /^asn1: /],
  [
    'zeros',
    pem('CERTIFICATE REQUEST', 'AAAA'),
    "asn1: structure error: tags don't match (16 vs {class:0 tag:0 length:0 isCompound:false})",
  ],
  [
    'a string',
    pem('CERTIFICATE REQUEST', 'DAFh'),
    "asn1: structure error: tags don't match (16 vs {class:0 tag:12 length:1 isCompound:false})",
  ],
  ['a sequence that is cut short', pem('CERTIFICATE REQUEST', 'MIIB'), /^asn1: /],
  ['a length without end', pem('CERTIFICATE REQUEST', 'MIA='), /^asn1: /],
];

for (const [name, request, expected] of CASES) {
  test(`a request of ${name} is refused`, () => {
    const mistake = requestMistake(request);
    if (typeof expected === 'string') assert.equal(mistake, expected);
    else assert.match(mistake ?? '', expected);
  });
}
