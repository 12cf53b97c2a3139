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

  await t.test('tells of odd members in operations and of repeated ones in patches, or refuses or ignores them', async () => {
    const json = (body: string, validation: string) =>
      send('PATCH', `${path}?fieldValidation=${validation}&dryRun=All`, body, { type: 'application/json-patch+json' });
    const odd = '[{"op":"add","op":"add","path":"/data/x","value":"1","comment":1}]';
    const warned = await json(odd, 'Warn');
    assert.equal(warned.code, 200);
    assert.deepEqual(warned.headers['warning'], [
      '299 - "json patch unknown field \\"[0].comment\\""',
      '299 - "json patch duplicate field \\"[0].op\\""',
    ]);
    const refused = await json(odd, 'Strict');
    assert.equal(refused.code, 422);
    assert.match(refused.body.message, /strict decoding error: json patch unknown field "\[0\]\.comment", json patch duplicate field/);
    assert.equal((await json(odd, 'Ignore')).headers['warning'], undefined);
    assert.match(
      (await json('[{"op":5}]', 'Warn')).body.message,
      /cannot unmarshal number into Go struct field jsonPatchOp\.op of type string/,
    );
    assert.equal((await json('[{"op":5}]', 'Ignore')).code, 422);
    assert.match((await json('{}', 'Ignore')).body.message, /^json: cannot unmarshal object into Go value of type jsonpatch\.Patch$/);
    const merge = await send('PATCH', `${path}?dryRun=All`, '{"data":{"a":"1","a":"2"},"zzz":1}', { type: 'application/merge-patch+json' });
    assert.deepEqual(merge.headers['warning'], ['299 - "duplicate field \\"data.a\\""', '299 - "unknown field \\"zzz\\""']);
  });

  await t.test('that breaks metadata gets as many causes as the kind checks it', async () => {
    const type = 'application/merge-patch+json';
    const labels = { metadata: { labels: { '-': 'x' } } };
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
    await send('POST', rbac, { metadata: { name: 'r' } });
    const causes = async (of: string): Promise<number> => (await send('PATCH', of, labels, { type })).body.details.causes.length;
    assert.equal(await causes(path), 4);
    assert.equal(await causes(`${rbac}/r`), 4);
    await send('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', { metadata: { name: 'b' }, spec: { minAvailable: 1 } });
    assert.equal(await causes('/apis/policy/v1/namespaces/default/poddisruptionbudgets/b'), 2);
    await send('POST', '/apis/coordination.k8s.io/v1/namespaces/default/leases', { metadata: { name: 'l' } });
    assert.equal(await causes('/apis/coordination.k8s.io/v1/namespaces/default/leases/l'), 3);
  });

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
