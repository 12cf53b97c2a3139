/** Tokens of service accounts: what they may be bound to and asked for, and what reviews say of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { sender } from '../fixtures/http.ts';

const NAMESPACE = '/api/v1/namespaces/default';
const TOKEN = `${NAMESPACE}/serviceaccounts/robot/token`;
const AUTHENTICATION = '/apis/authentication.k8s.io/v1';
const named = (kind: string, name: string, spec?: object): object => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
  ...(spec && { spec }),
});
const podOf = (serviceAccountName: string, nodeName: string): object => ({
  serviceAccountName,
  nodeName,
  containers: [{ name: 'c', image: 'i' }],
});

test('tokens of service accounts', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  const request = (spec: object, metadata: object = {}) =>
    send('POST', TOKEN, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec });
  const bound = (boundObjectRef: object) => request({ boundObjectRef });
  const review = async (token: string, audiences: string[]) =>
    (await send('POST', `${AUTHENTICATION}/tokenreviews`, { spec: { token, audiences } })).body.status;
  await send('POST', `${NAMESPACE}/serviceaccounts`, named('ServiceAccount', 'robot'));
  await send('POST', `${NAMESPACE}/serviceaccounts`, named('ServiceAccount', 'clerk'));
  await send('POST', '/api/v1/nodes', named('Node', 'here'));
  await send('POST', `${NAMESPACE}/pods`, named('Pod', 'on-node', podOf('robot', 'here')));
  await send('POST', `${NAMESPACE}/pods`, named('Pod', 'nowhere', podOf('robot', 'gone')));
  await send('POST', `${NAMESPACE}/pods`, named('Pod', 'of-clerk', podOf('clerk', 'here')));

  await t.test('are refused for what they cannot be bound to', async () => {
    const other = 'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.';
    const cases: [object, number, string][] = [
      [{ kind: 'Pod', apiVersion: 'apps/v1', name: 'on-node' }, 400, 'cannot bind token to object of type apps/v1, Kind=Pod'],
      [{ kind: 'Service', name: 'kubernetes' }, 400, 'cannot bind token to object of type /, Kind=Service'],
      [{ kind: 'Secret', apiVersion: 'v1' }, 400, 'Name parameter required.'],
      [{ kind: 'Node', apiVersion: 'v1' }, 400, 'Name parameter required.'],
      [{ kind: 'Pod', apiVersion: 'v1', name: 'of-clerk' }, 400, other],
      [{ kind: 'Pod', apiVersion: 'v1', name: 'of-clerk', uid: 'x' }, 400, other],
    ];
    for (const [ref, code, message] of cases) {
      const { code: answered, body } = await bound(ref);
      assert.deepEqual([answered, body.message], [code, message], JSON.stringify(ref));
    }
  });

  await t.test('are asked for under the name of the account, by somebody who is noted', async () => {
    assert.match(
      (await request({}, { name: 'clerk' })).body.message,
      /^TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: /,
    );
    assert.match((await request({}, { namespace: 'kube-system' })).body.message, /^the namespace of the provided object does not match/);
    const { metadata, spec } = (await request({ audiences: ['a', 'b'] }, { uid: 'x', labels: { a: 'b' } })).body;
    assert.deepEqual([metadata.labels, metadata.name, spec.audiences], [{ a: 'b' }, 'robot', ['a', 'b']]);
    assert.notEqual(metadata.uid, 'x');
    const owned = { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } }, 'f:spec': { 'f:audiences': {}, 'f:expirationSeconds': {} } };
    assert.deepEqual(metadata.managedFields[0].fieldsV1, owned);
    assert.equal(metadata.managedFields[0].subresource, 'token');
    const missing = await send('POST', '/api/v1/namespaces/none/serviceaccounts/robot/token', { spec: {} });
    assert.equal(missing.body.message, 'namespaces "none" not found');
  });

  await t.test('name the node of the pod, with its uid while it is there', async () => {
    const extra = async (pod: string): Promise<Record<string, string[]>> => {
      const { token } = (await bound({ kind: 'Pod', apiVersion: 'v1', name: pod })).body.status;
      return (await send('POST', `${AUTHENTICATION}/tokenreviews`, { spec: { token } })).body.status.user.extra;
    };
    const { metadata } = (await send('GET', '/api/v1/nodes/here')).body;
    const onNode = await extra('on-node');
    assert.deepEqual(onNode['authentication.kubernetes.io/node-name'], ['here']);
    assert.deepEqual(onNode['authentication.kubernetes.io/node-uid'], [metadata.uid]);
    const nowhere = await extra('nowhere');
    assert.deepEqual(nowhere['authentication.kubernetes.io/node-name'], ['gone']);
    assert.equal(nowhere['authentication.kubernetes.io/node-uid'], undefined);
  });

  await t.test('are good for the audiences they share with the review', async () => {
    const { token } = (await request({ audiences: ['a', 'b'] })).body.status;
    assert.deepEqual((await review(token, ['x', 'b', 'a'])).audiences, ['b', 'a']);
    assert.equal(
      (await review(token, ['x', 'y'])).error,
      '[invalid bearer token, token audiences ["a" "b"] is invalid for the target audiences ["x" "y"]]',
    );
    assert.equal((await review(`${token}x`, ['x'])).error, 'invalid bearer token');
  });

  await t.test('reviews do not mind what the server fills in, and keep nothing of questions about oneself', async () => {
    const about = { resourceAttributes: { verb: 'get', resource: 'pods' } };
    const metadata = { uid: 'x', creationTimestamp: '2020-01-01T00:00:00Z', namespace: 'n' };
    const answer = await send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { metadata, spec: about });
    assert.equal(answer.code, 201);
    const self = await send('POST', `${AUTHENTICATION}/selfsubjectreviews`, { metadata: { name: 'x', labels: { a: 'b' } } });
    assert.deepEqual(Object.keys(self.body.metadata), ['creationTimestamp']);
    const rules = await send('POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
      metadata: { name: 'x' },
      spec: { namespace: 'n' },
    });
    assert.deepEqual([rules.body.metadata, rules.body.spec], [{}, {}]);
  });
});
