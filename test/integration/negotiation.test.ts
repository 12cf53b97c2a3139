/** In which form answers come: JSON, YAML, Table, metadata only, protobuf. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, sender } from '../fixtures/http.ts';

test('an answer', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  await send('POST', CONFIGMAPS, configMap('a'));
  const as = (kind: string): string => `application/json;as=${kind};v=v1;g=meta.k8s.io`;

  await t.test('comes as a Table', async () => {
    const { body } = await send('GET', CONFIGMAPS, undefined, { accept: `${as('Table')},application/json` });
    assert.equal(body.kind, 'Table');
    assert.deepEqual(body.rows[0].cells.slice(0, 2), ['a', 1]);
    assert.equal(body.rows[0].object.kind, 'PartialObjectMetadata');
  });

  await t.test('comes as metadata only', async () => {
    const one = await send('GET', `${CONFIGMAPS}/a`, undefined, { accept: as('PartialObjectMetadata') });
    assert.deepEqual(Object.keys(one.body), ['kind', 'apiVersion', 'metadata']);
    const many = await send('GET', CONFIGMAPS, undefined, { accept: as('PartialObjectMetadataList') });
    assert.equal(many.body.items[0].metadata.name, 'a');
  });

  await t.test('comes as YAML, errors too', async () => {
    const found = await send('GET', `${CONFIGMAPS}/a`, undefined, { accept: 'application/yaml' });
    assert.match(found.text, /^apiVersion: v1\ndata:\n {2}k: v\nkind: ConfigMap\n/);
    const missing = await send('GET', `${CONFIGMAPS}/none`, undefined, { accept: 'application/yaml' });
    assert.match(missing.text, /reason: NotFound/);
  });

  await t.test('comes as protobuf, and protobuf is taken', async () => {
    const accept = 'application/vnd.kubernetes.protobuf';
    const raw = await client.raw({ method: 'GET', path: `${CONFIGMAPS}/a`, headers: { accept } });
    assert.equal(raw.body.subarray(0, 4).toString('latin1'), 'k8s\0');
    const again = await send('PUT', `${CONFIGMAPS}/a`, raw.body, { type: accept });
    assert.equal(again.code, 200, again.text);
    assert.deepEqual(again.body.data, { k: 'v' });
  });

  await t.test('is indented for people', async () => {
    const { text } = await send('GET', `${CONFIGMAPS}/a?pretty=true`);
    assert.match(text, /^\{\n {2}"kind": "ConfigMap",/);
  });

  for (const accept of ['application/xml', 'application/*', as('Foo')]) {
    await t.test(`is refused as ${accept}`, async () => {
      assert.equal((await send('GET', `${CONFIGMAPS}/a`, undefined, { accept })).code, 406);
    });
  }
});
