/** What is asked of pods in a namespace that is missing or being deleted: nothing new is made there, evictions, bindings and tokens included. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { sender } from '../fixtures/http.ts';

const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'x' }, target: { name: 'n' } };
const QUESTIONS: readonly (readonly [path: string, body: object, told: string])[] = [
  ['pods/x/eviction', { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'x' } }, 'pods "x"'],
  ['pods/x/binding', binding, 'pods "x"'],
  ['bindings', binding, 'bindings "x"'],
  ['serviceaccounts/x/token', { spec: {} }, 'serviceaccounts "x"'],
];

test('in a namespace that is missing or ends', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  await send('POST', '/api/v1/namespaces', { metadata: { name: 'ending' } });
  await send('POST', '/api/v1/namespaces/ending/configmaps', { metadata: { name: 'keeps', finalizers: ['example.com/f'] } });
  await send('DELETE', '/api/v1/namespaces/ending');
  for (const [path, body, told] of QUESTIONS) {
    await t.test(path, async () => {
      const missing = await send('POST', `/api/v1/namespaces/none/${path}`, body);
      assert.deepEqual([missing.code, missing.body.message], [404, 'namespaces "none" not found']);
      const ending = await send('POST', `/api/v1/namespaces/ending/${path}`, body);
      const because = 'unable to create new content in namespace ending because it is being terminated';
      assert.deepEqual([ending.code, ending.body.message], [403, `${told} is forbidden: ${because}`]);
      assert.equal(ending.body.details.causes[0].reason, 'NamespaceTerminating');
    });
  }
});
