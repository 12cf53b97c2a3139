/** The four kinds of patches. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, sender } from '../fixtures/http.ts';

test('a patch', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  await send('POST', CONFIGMAPS, configMap('a', { k: 'v', gone: 'x' }));
  const path = `${CONFIGMAPS}/a`;
  const cases: [string, string, unknown, number, Record<string, string> | RegExp][] = [
    ['merge', 'application/merge-patch+json', { data: { gone: null, m: '1' } }, 200, { k: 'v', m: '1' }],
    ['strategic', 'application/strategic-merge-patch+json', { data: { s: '2' } }, 200, { k: 'v', m: '1', s: '2' }],
    ['JSON', 'application/json-patch+json', [{ op: 'remove', path: '/data/s' }], 200, { k: 'v', m: '1' }],
    [
      'JSON that fails',
      'application/json-patch+json',
      [{ op: 'test', path: '/data/k', value: 'w' }],
      422,
      /the server rejected our request due to an error/,
    ],
    ['JSON that is none', 'application/json-patch+json', {}, 400, /cannot unmarshal object into Go value of type/],
    ['of an unknown type', 'text/plain', {}, 415, /415: Unsupported Media Type/],
    ['that renames', 'application/merge-patch+json', { metadata: { name: 'b' } }, 400, /does not match the name on the URL/],
    ['that does not decode', 'application/merge-patch+json', { data: { k: 5 } }, 422, /^ "" is invalid: patch: Invalid value/],
  ];
  for (const [what, type, body, code, expected] of cases) {
    await t.test(`${what}: ${code}`, async () => {
      const answer = await send('PATCH', path, body, { type });
      assert.equal(answer.code, code, answer.text);
      if (expected instanceof RegExp) assert.match(answer.body.message, expected);
      else assert.deepEqual(answer.body.data, expected);
    });
  }

  await t.test('by apply creates, owns, and conflicts', async () => {
    const type = 'application/apply-patch+yaml';
    const apply = (manager: string, value: string, force = '') =>
      send('PATCH', `${CONFIGMAPS}/applied?fieldManager=${manager}${force}`, configMap('applied', { k: value }), { type });
    assert.equal((await apply('one', '1')).code, 201);
    assert.equal((await apply('one', '1')).code, 200);
    const conflict = await apply('two', '2');
    assert.equal(conflict.code, 409);
    assert.match(conflict.body.message, /Apply failed with 1 conflict: conflict with "one": .data.k/);
    assert.equal((await apply('two', '2', '&force=true')).body.data.k, '2');
  });
});
