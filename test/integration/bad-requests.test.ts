/** Wrong and hostile requests: each has its answer, none ends the process or gives a stray 5xx. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../machinery/process/clock.ts';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { KEPT, NAMELESS, PODS_TO_DELETE } from '../fixtures/bad-object-rows.ts';
import { DELETES, READS, VALUES } from '../fixtures/bad-read-rows.ts';
import { BODIES, type Row, WRITES } from '../fixtures/bad-write-rows.ts';
import { CONFIGMAPS, configMap, type Member, type Send, sender } from '../fixtures/http.ts';

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
  for (const row of [...BODIES, ...WRITES, ...READS, ...DELETES, ...VALUES, ...NAMELESS]) await t.test(row.what, () => check(row));
  for (const body of PODS_TO_DELETE) assert.equal((await send('POST', '/api/v1/namespaces/default/pods', body)).code, 201);
  for (const { what, ask, code, kept } of KEPT) {
    await t.test(what, async () => {
      const answer = await send(...ask);
      assert.equal(answer.code, code, answer.text.slice(0, 300));
      assert.deepEqual(...kept(answer.body, answer.headers));
    });
  }
});

test('what history no longer holds is told as gone', { timeout: 60_000 }, async (t) => {
  const { client } = await startTestApiServer(t, { compactionIntervalMs: 300 });
  const send = sender(client);
  for (const name of ['a', 'b', 'c']) await send('POST', CONFIGMAPS, configMap(name));
  const first = await send('GET', `${CONFIGMAPS}?limit=1`);
  const { resourceVersion, continue: token } = first.body.metadata;
  await send('DELETE', `${CONFIGMAPS}/b`);
  const isGone = async (): Promise<boolean> => {
    await send('POST', CONFIGMAPS, { metadata: { generateName: 'later-' } });
    return (await send('GET', `${CONFIGMAPS}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`)).code === 410;
  };
  for (let i = 0; i < 100 && !(await isGone()); i++) await systemClock.sleep(100);

  await t.test('45 a list of the past', async () => {
    for (const query of ['&resourceVersionMatch=Exact', '&limit=5']) {
      const { code, body } = await send('GET', `${CONFIGMAPS}?resourceVersion=${resourceVersion}${query}`);
      assert.deepEqual([code, body.reason, body.message], [410, 'Expired', 'The resourceVersion for the provided list is too old.']);
    }
  });

  await t.test('42 the rest of a list, with a token that goes on at the latest version', async () => {
    const { code, body } = await send('GET', `${CONFIGMAPS}?limit=1&continue=${token}`);
    assert.deepEqual([code, body.reason], [410, 'Expired']);
    assert.match(
      body.message,
      /^The provided continue parameter is too old to display a consistent list result\. You can start a new list/,
    );
    const fresh = Buffer.from(body.metadata.continue, 'base64url').toString();
    assert.match(
      fresh,
      /^\{"v":"meta\.k8s\.io\/v1","rv":-1,"start":"default\/a\\u0000"\}$|^\{"v":"meta\.k8s\.io\/v1","rv":-1,"start":"a\\u0000"\}$/,
    );
    const rest = await send('GET', `${CONFIGMAPS}?limit=1&continue=${body.metadata.continue}`);
    assert.equal(rest.code, 200);
    assert.equal(rest.body.items[0].metadata.name, 'c');
    assert.ok(Number(rest.body.metadata.resourceVersion) > Number(resourceVersion));
  });

  await t.test('46 a watch from then', async () => {
    for (const [accept, path] of [
      ['application/json', CONFIGMAPS],
      ['application/json;as=Table;v=v1;g=meta.k8s.io', CONFIGMAPS],
      ['application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', CONFIGMAPS],
      ['application/json', '/api/v1/watch/namespaces/default/configmaps/a'],
    ] as const) {
      const { code, text } = await send('GET', `${path}?watch=1&resourceVersion=${resourceVersion}`, undefined, { accept });
      const [event, ...more] = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Member);
      assert.deepEqual(
        [code, more.length, event.type, event.object.kind, event.object.code, event.object.reason],
        [200, 0, 'ERROR', 'Status', 410, 'Expired'],
      );
      assert.match(event.object.message, new RegExp(`^too old resource version: ${resourceVersion} \\(\\d+\\)$`));
    }
  });
});
