/** Scales: what is sent with the number is checked, and each kind answers in its own words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { type Member, sender } from '../fixtures/http.ts';

const APPS = '/apis/apps/v1/namespaces/default';
const MERGE = { type: 'application/merge-patch+json' };

test('a scale', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  const template = { metadata: { labels: { app: 'clock' } }, spec: { containers: [{ name: 'm', image: 'registry.example/clock:1' }] } };
  const selector = { matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'clock'] }] };
  for (const kind of ['deployments', 'replicasets', 'statefulsets']) {
    assert.equal((await send('POST', `${APPS}/${kind}`, { metadata: { name: 'a' }, spec: { selector, template } })).code, 201);
  }
  const put = (kind: string, metadata: object, replicas: number): Promise<Member> =>
    send('PUT', `${APPS}/${kind}/a/scale`, { metadata: { name: 'a', ...metadata }, spec: { replicas } });

  await t.test('is refused for what stands beside the number', async () => {
    const { code, body } = await put('deployments', { labels: { '-bad': '' }, finalizers: ['plain'] }, -2);
    assert.equal(code, 422);
    assert.match(body.message, /^Scale\.autoscaling "a" is invalid: \[metadata\.labels: Invalid value: "-bad": /);
    assert.deepEqual(
      body.details.causes.map((cause: { field: string }) => cause.field),
      ['metadata.labels', 'metadata.finalizers[0]', 'spec.replicas'],
    );
  });

  await t.test('is written in every kind, with the same selector text', async () => {
    for (const kind of ['deployments', 'replicasets', 'statefulsets']) {
      const { code, body } = await put(kind, {}, 3);
      assert.equal(code, 200);
      assert.deepEqual([body.spec.replicas, body.status.selector], [3, 'app in (clock,x)'], kind);
      const { body: object } = await send('GET', `${APPS}/${kind}/a`);
      const [owner] = object.metadata.managedFields.filter((entry: { subresource?: string }) => entry.subresource === 'scale');
      assert.deepEqual(owner.fieldsV1, { 'f:spec': { 'f:replicas': {} } }, kind);
    }
  });

  await t.test('tells a conflict of the kind that is scaled', async () => {
    const patched = await send(
      'PATCH',
      `${APPS}/statefulsets/a/scale`,
      { metadata: { resourceVersion: '1' }, spec: { replicas: 1 } },
      MERGE,
    );
    assert.equal(patched.code, 409);
    assert.match(patched.body.message, /^Operation cannot be fulfilled on statefulsets\.apps "a": the object has been modified; /);
    const missing = await send('GET', `${APPS}/replicasets/none/scale`);
    assert.equal(missing.body.message, 'replicasets.apps "none" not found');
  });
});
