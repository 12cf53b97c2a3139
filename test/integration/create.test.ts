/** Creating objects through the API, against a real server in process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, sender } from '../fixtures/http.ts';

test('a create', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);

  await t.test('answers 201 with what the server owns filled in', async () => {
    const { code, body } = await send(
      'POST',
      CONFIGMAPS,
      configMap('a', { k: 'v' }, { uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z' }),
    );
    assert.equal(code, 201);
    assert.match(body.metadata.uid, /^[0-9a-f-]{36}$/);
    assert.notEqual(body.metadata.creationTimestamp, '2001-01-01T00:00:00Z');
    assert.equal(body.metadata.namespace, 'default');
    assert.deepEqual(body.metadata.managedFields[0].fieldsV1, { 'f:data': { '.': {}, 'f:k': {} } });
  });

  const refusals: [string, string, unknown, number, RegExp][] = [
    ['a taken name', CONFIGMAPS, configMap('a'), 409, /^configmaps "a" already exists$/],
    ['no name', CONFIGMAPS, configMap(''), 422, /metadata.name: Required value: name or generateName is required/],
    ['a bad name', CONFIGMAPS, configMap('A_'), 422, /a lowercase RFC 1123 subdomain/],
    ['a missing namespace', '/api/v1/namespaces/none/configmaps', configMap('x'), 404, /^namespaces "none" not found$/],
    [
      'another namespace than the URL',
      CONFIGMAPS,
      configMap('x', {}, { namespace: 'other' }),
      400,
      /does not match the namespace sent on the request/,
    ],
    ['a resourceVersion', CONFIGMAPS, configMap('x', {}, { resourceVersion: '5' }), 500, /should not be set on objects to be created/],
    ['another kind', CONFIGMAPS, { kind: 'Secret', apiVersion: 'v1' }, 400, /unknown conversion/],
    ['broken JSON', CONFIGMAPS, '{', 400, /unexpected end of JSON input \(\{\)/],
    ['a list', CONFIGMAPS, '[]', 400, /cannot unmarshal array into Go value/],
  ];
  for (const [what, path, body, code, message] of refusals) {
    await t.test(`refuses ${what} with ${code}`, async () => {
      const answer = await send('POST', path, body);
      assert.equal(answer.code, code);
      assert.match(answer.body.message, message);
    });
  }

  await t.test('draws a name from generateName', async () => {
    const { code, body } = await send('POST', CONFIGMAPS, { metadata: { generateName: 'gen-' } });
    assert.equal(code, 201);
    assert.match(body.metadata.name, /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  await t.test('warns of unknown and duplicate fields, and refuses them when strict', async () => {
    const text = '{"metadata":{"name":"w"},"nope":1,"data":{"k":"1","k":"2"}}';
    const lenient = await send('POST', CONFIGMAPS, text);
    assert.equal(lenient.code, 201);
    assert.match(String(lenient.headers['warning']), /unknown field \\"nope\\".*duplicate field \\"data.k\\"/);
    assert.equal(lenient.body.data.k, '2');
    const strict = await send('POST', `${CONFIGMAPS}?fieldValidation=Strict`, text);
    assert.equal(strict.code, 400);
    assert.match(strict.body.message, /strict decoding error: unknown field "nope", duplicate field "data.k"/);
  });

  await t.test('stores nothing in a dry run', async () => {
    const dry = await send('POST', `${CONFIGMAPS}?dryRun=All`, configMap('dry'));
    assert.equal(dry.code, 201);
    assert.equal(dry.body.metadata.resourceVersion, undefined);
    assert.equal((await send('GET', `${CONFIGMAPS}/dry`)).code, 404);
  });

  await t.test('goes without ownership where only that makes the object too large, and an apply is refused', async () => {
    const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key-that-is-rather-long-as-keys-go-${i}`, '']));
    const created = await send('POST', CONFIGMAPS, configMap('large', data));
    assert.equal(created.code, 201);
    assert.equal(created.body.metadata.managedFields, undefined);
    const applied = await send('PATCH', `${CONFIGMAPS}/applied?fieldManager=a`, configMap('applied', data), {
      type: 'application/apply-patch+yaml',
    });
    assert.equal(applied.code, 500);
    assert.equal(applied.body.message, 'etcdserver: request is too large');
  });

  await t.test('keeps __proto__ as a key', async () => {
    const { body } = await send('POST', CONFIGMAPS, '{"metadata":{"name":"p"},"data":{"__proto__":"x","constructor":"y"}}');
    assert.deepEqual(Object.entries(body.data), [
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });
});
