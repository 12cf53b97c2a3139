/** Objects that name another namespace than the path: refused in a namespace, before their names are looked at, and ignored where there is none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, sender } from '../fixtures/http.ts';

const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const FOREIGN = { metadata: { namespace: 'elsewhere' } };
const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';

test('a foreign namespace in a body', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  await send('POST', CONFIGMAPS, configMap('a'));
  await send('POST', ROLES, { metadata: { name: 'r' } });
  const role = (name: string): object => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, namespace: 'elsewhere' },
  });

  const ignored: [string, string, string, object, string | undefined, number][] = [
    ['a merge patch', 'PATCH', `${ROLES}/r`, FOREIGN, MERGE, 200],
    ['a strategic patch', 'PATCH', `${ROLES}/r`, FOREIGN, 'application/strategic-merge-patch+json', 200],
    ['an apply', 'PATCH', `${ROLES}/r?fieldManager=m`, role('r'), APPLY, 200],
    ['an apply that creates', 'PATCH', `${ROLES}/s?fieldManager=m`, role('s'), APPLY, 201],
    ['a replacement', 'PUT', `${ROLES}/r`, role('r'), undefined, 200],
    ['a creation', 'POST', ROLES, role('u'), undefined, 201],
  ];
  for (const [what, method, path, body, type, code] of ignored) {
    await t.test(`is ignored by ${what} of what has none`, async () => {
      const answer = await send(method, path, body, type === undefined ? {} : { type });
      assert.equal(answer.code, code, answer.text);
      assert.equal(answer.body.metadata.namespace, undefined);
    });
  }

  const wrong = { ...configMap('b'), metadata: { name: 'b', namespace: 'elsewhere' } };
  for (const [method, path, type] of [
    ['PUT', `${CONFIGMAPS}/a`, undefined],
    ['PATCH', `${CONFIGMAPS}/a`, MERGE],
    ['PATCH', `${CONFIGMAPS}/a?fieldManager=m`, APPLY],
  ] as const) {
    await t.test(`is told before the wrong name of a ${method} ${type ?? ''}`, async () => {
      const { code, body } = await send(
        method,
        path,
        { apiVersion: 'v1', kind: 'ConfigMap', ...wrong },
        type === undefined ? {} : { type },
      );
      assert.equal(code, 400);
      assert.match(body.message, /the namespace of the provided object does not match the namespace sent on the request/);
    });
  }
});
