/** What the server says it has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { sender } from '../fixtures/http.ts';

test('discovery', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);

  await t.test('lists groups, versions and resources', async () => {
    assert.deepEqual((await send('GET', '/api')).body.versions, ['v1']);
    const groups = (await send('GET', '/apis')).body.groups.map((g: { name: string }) => g.name);
    assert.ok(groups.includes('apps'));
    const resources = (await send('GET', '/apis/apps/v1')).body.resources.map((r: { name: string }) => r.name);
    assert.ok(resources.includes('deployments/scale'));
  });

  await t.test('is aggregated when asked, with an ETag', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const first = await send('GET', '/apis', undefined, { accept });
    assert.equal(first.body.kind, 'APIGroupDiscoveryList');
    const again = await send('GET', '/apis', undefined, { accept, headers: { 'if-none-match': String(first.headers['etag']) } });
    assert.equal(again.code, 304);
  });

  await t.test('says which version it is', async () => {
    const { body, text } = await send('GET', '/version');
    assert.equal(body.gitVersion, 'v1.36.3');
    assert.match(text, /\n {2}"major"/);
  });

  await t.test('has OpenAPI documents that clients validate by', async () => {
    const index = (await send('GET', '/openapi/v3')).body;
    const { body } = await send('GET', index.paths['apis/apps/v1'].serverRelativeURL);
    const { patch } = body.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'];
    assert.ok(patch.parameters.some((p: { name: string }) => p.name === 'fieldValidation'));
    const spec = body.components.schemas['io.k8s.api.core.v1.PodSpec'];
    assert.equal(spec.properties.containers['x-kubernetes-patch-merge-key'], 'name');
    assert.equal((await send('GET', '/openapi/v2')).body.swagger, '2.0');
  });

  for (const path of ['/livez', '/readyz', '/healthz', '/livez/ping']) {
    await t.test(`is healthy at ${path}`, async () => {
      assert.equal((await send('GET', path)).text, 'ok');
    });
  }

  await t.test('counts requests in /metrics', async () => {
    await send('GET', '/api/v1/namespaces/default/configmaps');
    for (let i = 0; i < 5; i++) await send('GET', `/api/v1/namespaces/default/made-up-${i}`);
    await send('GET', '/api/v1/namespaces/default/pods/x/made-up');
    const { text } = await send('GET', '/metrics');
    assert.match(
      text,
      /apiserver_request_total\{verb="LIST",dry_run="",group="",version="v1",resource="configmaps",subresource="",scope="namespace",component="apiserver",code="200"\} 1/,
    );
    assert.match(text, /apiserver_request_duration_seconds_bucket\{le="0.005",verb="LIST",dry_run=""/);
    // What a client made up is no name of a figure.
    assert.doesNotMatch(text, /made-up/);
  });
});
