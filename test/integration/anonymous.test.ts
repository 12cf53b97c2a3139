/** Callers without credentials: what they see, and that no header gives them more. */
import assert from 'node:assert/strict';
import { request } from 'node:https';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, sender } from '../fixtures/http.ts';

interface Answer {
  readonly code: number;
  readonly text: string;
}

function bare(url: string, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, headers, rejectUnauthorized: false, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
      });
      answer.on('end', () => resolve({ code: answer.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

const messageOf = (answer: Answer): string => (JSON.parse(answer.text) as { message: string }).message;

test('a caller without credentials', async (t) => {
  const { url, client } = await startTestApiServer(t);
  const send = sender(client);
  await send('POST', CONFIGMAPS, configMap('a'));

  for (const path of ['/livez', '/readyz', '/healthz', '/version']) {
    await t.test(`may read ${path}`, async () => assert.equal((await bare(url, path)).code, 200));
  }

  const refused: [string, string, string][] = [
    ['GET', '/', 'forbidden: User "system:anonymous" cannot get path "/"'],
    ['GET', '/livez/ping', 'forbidden: User "system:anonymous" cannot get path "/livez/ping"'],
    ['POST', '/api', 'forbidden: User "system:anonymous" cannot post path "/api"'],
    ['GET', '/nothing', 'forbidden: User "system:anonymous" cannot get path "/nothing"'],
    [
      'GET',
      `${CONFIGMAPS}/a`,
      'configmaps "a" is forbidden: User "system:anonymous" cannot get resource "configmaps" in API group "" in the namespace "default"',
    ],
    [
      'GET',
      `${CONFIGMAPS}?watch=1`,
      'configmaps is forbidden: User "system:anonymous" cannot watch resource "configmaps" in API group "" in the namespace "default"',
    ],
    [
      'DELETE',
      '/api/v1/nodes',
      'nodes is forbidden: User "system:anonymous" cannot deletecollection resource "nodes" in API group "" at the cluster scope',
    ],
    [
      'GET',
      '/apis/none/v1/foos',
      'foos.none is forbidden: User "system:anonymous" cannot list resource "foos" in API group "none" at the cluster scope',
    ],
  ];
  for (const [method, path, message] of refused) {
    await t.test(`may not ${method} ${path}`, async () => {
      const answer = await bare(url, path, {}, method);
      assert.equal(answer.code, 403);
      assert.equal(messageOf(answer), message);
    });
  }

  await t.test('may not act as somebody else', async () => {
    const answer = await bare(url, '/version', { 'impersonate-user': 'admin' });
    assert.equal(answer.code, 403);
    assert.equal(messageOf(answer), 'forbidden: User "system:anonymous" cannot impersonate-on:user-info:get path "/version"');
    const group = await bare(url, '/api', { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' });
    assert.equal(group.code, 403);
  });

  await t.test('is what other schemes and an empty bearer token are', async () => {
    for (const authorization of ['Basic YTpi', 'Bearer ', 'nonsense']) {
      assert.equal((await bare(url, '/api', { authorization })).code, 403);
      assert.equal((await bare(url, '/livez', { authorization })).code, 200);
    }
    assert.equal((await bare(url, '/livez', { authorization: 'Bearer abc' })).code, 401);
  });

  await t.test('is what an administrator becomes who acts as system:anonymous', async () => {
    const answer = await send('GET', CONFIGMAPS, undefined, { headers: { 'impersonate-user': 'system:anonymous' } });
    assert.equal(answer.code, 403);
    assert.equal((await send('GET', CONFIGMAPS, undefined, { headers: { 'impersonate-user': 'ann' } })).code, 200);
  });
});

test('with --anonymous-auth=false nobody without credentials is answered', async (t) => {
  const { url, client } = await startTestApiServer(t, { anonymousAuth: false });
  for (const path of ['/livez', '/version', '/api', CONFIGMAPS]) {
    const answer = await bare(url, path);
    assert.equal(answer.code, 401);
    assert.equal(messageOf(answer), 'Unauthorized');
  }
  assert.equal((await sender(client)('GET', CONFIGMAPS)).code, 200);
});

test('an authorization mode that is not known keeps the server from starting', async (t) => {
  await assert.rejects(
    startTestApiServer(t, { authorizationMode: ['RBAC'] }),
    /--authorization-mode: RBAC is not known here; known: AlwaysAllow/,
  );
});
