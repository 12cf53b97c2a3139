/** Wrong and hostile requests: each has its answer, none ends the process or gives a stray 5xx. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { DELETES, READS, VALUES } from '../fixtures/bad-read-rows.ts';
import { BODIES, type Row, WRITES } from '../fixtures/bad-write-rows.ts';
import { CONFIGMAPS, configMap, type Send, sender } from '../fixtures/http.ts';

const TEXT_404 = '404 page not found\n';

test('a bad request', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);

  const paths: [string, string, number, string | undefined][] = [
    ['GET', '/foo', 404, TEXT_404],
    ['GET', '/apis/none.example.com/v1/foos', 404, TEXT_404],
    ['GET', '/api/v1/foos', 404, undefined],
    ['GET', '/api/v1/../v1/pods', 404, undefined],
    ['GET', '//api/v1/pods', 404, TEXT_404],
    ['GET', '/api/v1/namespaces/x/pods/a/nope', 404, undefined],
    ['GET', '/api/v1/namespaces/default/configmaps/%2e%2e', 400, undefined],
    ['GET', '/api/v1/namespaces/default/configmaps/%zz', 400, '400 Bad Request'],
    ['POST', '/api/v1/namespaces/default/configmaps/a', 405, undefined],
    ['DELETE', '/api/v1/namespaces', 405, undefined],
    ['HEAD', '/api/v1/namespaces', 405, ''],
    ['OPTIONS', '/api/v1/namespaces', 405, undefined],
    ['GET', '/api/v1/n%61mespaces/default/configmaps', 200, undefined],
    ['GET', '/api/v1/namespaces/default/configmaps/?x=%zz', 200, undefined],
  ];
  for (const [method, path, code, text] of paths) {
    await t.test(`${method} ${path}: ${code}`, async () => {
      const answer = await send(method, path);
      assert.equal(answer.code, code);
      if (text !== undefined) assert.equal(answer.text, text);
      assert.equal(answer.headers['allow'], undefined);
    });
  }

  const bodies: [string, unknown, string | undefined, number][] = [
    ['null', 'null', undefined, 422],
    ['nothing', '', undefined, 400],
    ['text', 'x', 'text/plain', 415],
    ['10001 levels', `{"metadata":${'['.repeat(10001)}`, undefined, 400],
    ['a number for a string', { metadata: { name: 5 } }, undefined, 400],
    ['3 MiB and more', `{"data":{"k":"${'x'.repeat(3 * 1024 * 1024)}"}}`, undefined, 413],
    ['bytes that are no protobuf', 'k8s\0', 'application/vnd.kubernetes.protobuf', 400],
    ['gzip', Buffer.from([0x1f, 0x8b, 8, 0]), undefined, 400],
    [
      'aliases without end',
      `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n`,
      'application/yaml',
      400,
    ],
  ];
  for (const [what, body, type, code] of bodies) {
    await t.test(`with ${what} as its body: ${code}`, async () => {
      const answer = await send('POST', CONFIGMAPS, body, type === undefined ? {} : { type });
      assert.equal(answer.code, code, answer.text.slice(0, 300));
    });
  }

  await t.test('leaves the server as it was', async () => {
    assert.equal((await send('POST', CONFIGMAPS, configMap('after'))).code, 201);
    assert.equal((await send('GET', '/readyz')).text, 'ok');
  });
});

test('an element without its name is told as invalid, also to what reads it before validation', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  await send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  const spec = { volumes: [{}], containers: [{ name: 'c', image: 'i' }] };
  const pod = await send('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'a' }, spec });
  assert.equal(pod.code, 422, pod.text);
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const set = await send('POST', '/apis/apps/v1/namespaces/default/statefulsets', {
    metadata: { name: 'a' },
    spec: { selector: { matchLabels: { a: 'b' } }, template, volumeClaimTemplates: [{}] },
  });
  assert.equal(set.code, 422, set.text);
});

/** What the rows speak of: a held and a plain config map, a bound pod under a budget, a deployment, a lease, a namespace that ends. */
async function prepare(send: Send): Promise<void> {
  const make = async (path: string, body: unknown): Promise<void> => {
    const { code, text } = await send('POST', path, body);
    assert.equal(code, 201, text);
  };
  const labels = { a: 'b' };
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  await make(CONFIGMAPS, configMap('a'));
  await make(CONFIGMAPS, configMap('held', {}, { finalizers: ['example.com/two'] }));
  await send('DELETE', `${CONFIGMAPS}/held`);
  await make('/api/v1/namespaces', { metadata: { name: 'ending' } });
  await send('DELETE', '/api/v1/namespaces/ending');
  await make('/apis/coordination.k8s.io/v1/namespaces/default/leases', { metadata: { name: 'l' }, spec: {} });
  await make('/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'd' },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
  await make('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  await make('/api/v1/namespaces/default/pods', { metadata: { name: 'p', labels }, spec: { ...spec, nodeName: 'n' } });
  const ready = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
  await send('PATCH', '/api/v1/namespaces/default/pods/p/status', ready, { type: 'application/strategic-merge-patch+json' });
  await make('/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
    metadata: { name: 'b' },
    spec: { minAvailable: 1, selector: { matchLabels: labels } },
  });
  const counted = { status: { observedGeneration: 1, expectedPods: 1, desiredHealthy: 1, currentHealthy: 1, disruptionsAllowed: 0 } };
  await send('PATCH', '/apis/policy/v1/namespaces/default/poddisruptionbudgets/b/status', counted, {
    type: 'application/merge-patch+json',
  });
}

test('a wrong request is answered as a real API server answers it', { timeout: 120_000 }, async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  await prepare(send);
  const check = async ({ ask, code, reason, message }: Row): Promise<void> => {
    const answer = await send(...ask);
    assert.equal(answer.code, code, answer.text.slice(0, 300));
    if (reason !== undefined) assert.equal(answer.body.reason, reason ?? undefined);
    if (typeof message === 'string') assert.equal(answer.body.message, message);
    else if (message !== undefined) assert.match(answer.body.message, message);
  };
  for (const row of [...BODIES, ...WRITES, ...READS, ...DELETES, ...VALUES]) await t.test(row.what, () => check(row));
});
