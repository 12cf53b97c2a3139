/** Versions that are off by default, and defaults that are turned off, through `--runtime-config`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { type Member, sender } from '../fixtures/http.ts';

const PREFIX = '/apis/networking.k8s.io';
const OLD = `${PREFIX}/v1beta1/servicecidrs`;
const NEW = `${PREFIX}/v1/servicecidrs`;
const WARNING = '299 - "networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+, unavailable in v1.37+"';
const cidr = (apiVersion: string, name: string, range: string) => ({
  apiVersion,
  kind: 'ServiceCIDR',
  metadata: { name },
  spec: { cidrs: [range] },
});

test('a version that was turned on', async (t) => {
  const { client } = await startTestApiServer(t, { runtimeConfig: ['api/beta=true', 'admissionregistration.k8s.io/v1alpha1=true'] });
  const send = sender(client);

  await t.test('is in every form of discovery, after the preferred one', async () => {
    const group = (await send('GET', PREFIX)).body;
    assert.deepEqual(
      group.versions.map((v: Member) => v.version),
      ['v1', 'v1beta1'],
    );
    assert.equal(group.preferredVersion.version, 'v1');
    const resources = (await send('GET', `${PREFIX}/v1beta1`)).body.resources.map((r: Member) => r.name);
    assert.deepEqual(resources, ['ipaddresses', 'servicecidrs', 'servicecidrs/status']);
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const found = (await send('GET', '/apis', undefined, { accept })).body.items.find(
      (g: Member) => g.metadata.name === 'networking.k8s.io',
    );
    assert.deepEqual(
      found.versions.map((v: Member) => v.version),
      ['v1', 'v1beta1'],
    );
    assert.equal((await send('GET', '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.networking.k8s.io')).code, 200);
  });

  await t.test('has its own OpenAPI schemas', async () => {
    const { paths } = (await send('GET', '/openapi/v3')).body;
    const { components, paths: operations } = (await send('GET', paths['apis/networking.k8s.io/v1beta1'].serverRelativeURL)).body;
    const schema = components.schemas['io.k8s.api.networking.v1beta1.ServiceCIDR'];
    assert.deepEqual(schema['x-kubernetes-group-version-kind'], [{ group: 'networking.k8s.io', kind: 'ServiceCIDR', version: 'v1beta1' }]);
    assert.ok(operations[`${OLD}/{name}`].patch);
    const v2 = (await send('GET', '/openapi/v2')).body;
    assert.ok(v2.definitions['io.k8s.api.networking.v1beta1.IPAddressSpec']);
  });

  await t.test('serves the same object as v1, under its own apiVersion and with its warning', async () => {
    const made = await send('POST', `${OLD}?fieldManager=old`, cidr('networking.k8s.io/v1beta1', 'one', '10.1.0.0/24'));
    assert.equal(made.code, 201);
    assert.equal(made.body.apiVersion, 'networking.k8s.io/v1beta1');
    assert.equal(made.headers['warning'], WARNING);
    const seen = await send('GET', `${NEW}/one`);
    assert.equal(seen.body.apiVersion, 'networking.k8s.io/v1');
    assert.equal(seen.headers['warning'], undefined);
    assert.equal(seen.body.metadata.managedFields[0].apiVersion, 'networking.k8s.io/v1beta1');
    assert.equal(seen.body.metadata.uid, made.body.metadata.uid);
    const list = await send('GET', OLD);
    assert.equal(list.body.apiVersion, 'networking.k8s.io/v1beta1');
    assert.equal(list.body.items[0].apiVersion, undefined);
    assert.equal(list.headers['warning'], WARNING);
    assert.match(
      (await send('GET', '/metrics')).text,
      /apiserver_requested_deprecated_apis\{group="networking.k8s.io",version="v1beta1",resource="servicecidrs",subresource="",removed_release="1.37"\} 1/,
    );
  });

  await t.test('shares the ownership of fields with v1', async () => {
    const body = (value: string) => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: { name: 'one', labels: { a: value } },
    });
    const apply = { type: 'application/apply-patch+yaml' };
    assert.equal((await send('PATCH', `${NEW}/one?fieldManager=x`, body('1'), apply)).code, 200);
    const other = { ...body('2'), apiVersion: 'networking.k8s.io/v1beta1' };
    const refused = await send('PATCH', `${OLD}/one?fieldManager=y`, other, apply);
    assert.equal(refused.code, 409);
    assert.equal(refused.body.message, 'Apply failed with 1 conflict: conflict with "x": .metadata.labels.a');
  });

  await t.test('is watched in its own form', async () => {
    const { text } = await send('GET', `${OLD}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Done`);
    assert.equal(JSON.parse(text.split('\n')[0]!).object.apiVersion, 'networking.k8s.io/v1beta1');
  });

  await t.test('takes and gives protobuf', async () => {
    const accept = 'application/vnd.kubernetes.protobuf';
    const { text } = await send('GET', `${OLD}/one`, undefined, { accept });
    assert.match(text, /^k8s\0.*networking\.k8s\.io\/v1beta1.*ServiceCIDR/s);
  });

  await t.test('does not take a body of another version', async () => {
    const refused = await send('POST', OLD, cidr('networking.k8s.io/v1', 'two', '10.2.0.0/24'));
    assert.equal(refused.code, 400);
    assert.equal(
      refused.body.message,
      'the API version in the data (networking.k8s.io/v1) does not match the expected API version (networking.k8s.io/v1beta1)',
    );
  });

  await t.test('may be alpha', async () => {
    const path = '/apis/admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicybindings';
    const object = {
      apiVersion: 'admissionregistration.k8s.io/v1alpha1',
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: { name: 'b' },
      spec: { policyName: 'p' },
    };
    const made = await send('POST', path, object);
    assert.equal(made.code, 201);
    assert.equal(
      made.headers['warning'],
      '299 - "admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyBinding is deprecated in v1.35+, unavailable in v1.38+"',
    );
    assert.equal((await send('GET', path.replace('v1alpha1', 'v1beta1'))).body.items.length, 1);
  });

  await t.test('is not served where upstream has removed it', async () => {
    assert.equal((await send('GET', '/apis/admissionregistration.k8s.io/v1beta1/validatingadmissionpolicies')).code, 404);
    assert.equal((await send('GET', '/apis/authentication.k8s.io/v1beta1')).code, 404);
  });
});

test('what was turned off', async (t) => {
  const { client } = await startTestApiServer(t, { runtimeConfig: ['batch/v1=false', 'autoscaling/v2=false', 'apps/v1/daemonsets=false'] });
  const send = sender(client);

  await t.test('is in no discovery and answers 404: text without a version of the group, a Status with one', async () => {
    const groups = (await send('GET', '/apis')).body.groups;
    assert.ok(!groups.some((g: Member) => g.name === 'batch'));
    assert.equal(groups.find((g: Member) => g.name === 'autoscaling').preferredVersion.version, 'v1');
    for (const path of ['/apis/batch', '/apis/batch/v1', '/apis/batch/v1/jobs'])
      assert.equal((await send('GET', path)).text, '404 page not found\n');
    for (const path of ['/apis/autoscaling/v2', '/apis/autoscaling/v2/horizontalpodautoscalers', '/apis/apps/v1/daemonsets']) {
      const { code, body } = await send('GET', path);
      assert.deepEqual([code, body?.reason, body?.message], [404, 'NotFound', 'the server could not find the requested resource'], path);
    }
    const index = (await send('GET', '/openapi/v3')).body.paths;
    assert.ok(!('apis/batch/v1' in index) && 'apis/apps/v1' in index);
  });

  await t.test('leaves the rest as it was', async () => {
    assert.equal((await send('GET', '/apis/apps/v1/deployments')).code, 200);
    assert.equal((await send('GET', '/apis/autoscaling/v1/horizontalpodautoscalers')).code, 200);
  });
});
