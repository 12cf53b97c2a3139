/** Stored bytes at another revision. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { withRevision } from './with-revision.ts';

const cases: [string, string][] = [
  [
    '{"kind":"Pod","metadata":{"name":"a","resourceVersion":"5"},"spec":{}}',
    '{"kind":"Pod","metadata":{"name":"a","resourceVersion":"1234"},"spec":{}}',
  ],
  [
    '{"data":{"metadata":{"resourceVersion":"5"},"s":"\\\\\\"}{"},"list":[{"a":[1,-2.5e3,null]}],"metadata":{"annotations":{"resourceVersion":"5"},"resourceVersion":"5","uid":"u"}}',
    '{"data":{"metadata":{"resourceVersion":"5"},"s":"\\\\\\"}{"},"list":[{"a":[1,-2.5e3,null]}],"metadata":{"annotations":{"resourceVersion":"5"},"resourceVersion":"1234","uid":"u"}}',
  ],
  [
    '{"big":9223372036854775807,"t":true,"metadata":{"resourceVersion":""}}',
    '{"big":9223372036854775807,"t":true,"metadata":{"resourceVersion":"1234"}}',
  ],
];

for (const [before, after] of cases) {
  it(`changes only metadata.resourceVersion of ${before.slice(0, 40)}…`, () => {
    assert.equal(withRevision(Buffer.from(before), 1234).toString(), after);
  });
}
