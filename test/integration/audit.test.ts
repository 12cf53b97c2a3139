/** The audit log of a real API server: stages, levels, who and what, ids, and that no secret is ever in it. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, type Member, type Send, sender } from '../fixtures/http.ts';

interface Audited {
  readonly send: Send;
  readonly text: () => string;
  /** Stops the server, so that all is written. */
  readonly events: () => Promise<Member[]>;
  readonly url: string;
}

async function audited(t: TestContext, rules: string | undefined): Promise<Audited> {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [auditLogPath, auditPolicyFile] = [join(folder, 'audit.log'), join(folder, 'policy.yaml')];
  if (rules !== undefined) writeFileSync(auditPolicyFile, `apiVersion: audit.k8s.io/v1\nkind: Policy\n${rules}`);
  const server = await startTestApiServer(t, { auditLogPath, ...(rules !== undefined && { auditPolicyFile }) });
  const text = (): string => readFileSync(auditLogPath, 'utf8');
  const events = async (): Promise<Member[]> => {
    await server.stop();
    return text()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  };
  return { send: sender(server.client), text, events, url: server.url };
}

const EVERYTHING = 'rules: [{level: RequestResponse}]';

test('a create is recorded when it comes and when it is done, with what was sent and answered', async (t) => {
  const { send, events } = await audited(t, EVERYTHING);
  const answer = await send('POST', `${CONFIGMAPS}?fieldManager=m`, configMap('a', { n: '1' }), { headers: { 'audit-id': 'my-own-id' } });
  assert.equal(answer.headers['audit-id'], 'my-own-id');
  const [received, complete, ...more] = (await events()).filter((e) => e.auditID === 'my-own-id');
  assert.deepEqual([received.stage, complete.stage, more.length], ['RequestReceived', 'ResponseComplete', 0]);
  assert.equal(received.requestObject, undefined);
  const { kind, apiVersion, level, requestURI, verb, user, sourceIPs, userAgent, objectRef, responseStatus, annotations } = complete;
  assert.deepEqual(
    { kind, apiVersion, level, requestURI, verb, sourceIPs, userAgent, objectRef, responseStatus },
    {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'RequestResponse',
      requestURI: `${CONFIGMAPS}?fieldManager=m`,
      verb: 'create',
      sourceIPs: complete.sourceIPs,
      userAgent: 'test/1.0',
      objectRef: { resource: 'configmaps', namespace: 'default', name: 'a', apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 201 },
    },
  );
  assert.ok(user.username !== '' && user.groups.includes('system:masters'), JSON.stringify(user));
  assert.deepEqual(annotations['authorization.k8s.io/decision'], 'allow');
  assert.deepEqual(complete.requestObject, configMap('a', { n: '1' }));
  assert.equal(complete.responseObject.metadata.uid, answer.body.metadata.uid);
  assert.match(complete.stageTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
});

test('a watch is recorded when its answer begins and when it ends', async (t) => {
  const { send, events } = await audited(t, EVERYTHING);
  await send('GET', `${CONFIGMAPS}?watch=1&timeoutSeconds=1`);
  const stages = (await events()).filter((e) => e.verb === 'watch').map((e) => [e.stage, e.responseStatus?.code, 'responseObject' in e]);
  assert.deepEqual(stages, [
    ['RequestReceived', undefined, false],
    ['ResponseStarted', 200, false],
    ['ResponseComplete', 200, false],
  ]);
});

test('refusals say why: what was not found, who had no right, whose credentials were bad', async (t) => {
  const { send, events, url } = await audited(t, 'omitStages: [RequestReceived]\nrules: [{level: Metadata}]');
  await send('GET', `${CONFIGMAPS}/none`);
  const anonymous = { headers: { 'impersonate-user': 'system:anonymous', 'impersonate-group': 'system:unauthenticated' } };
  await send('GET', CONFIGMAPS, undefined, anonymous);
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  t.after(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']);
  assert.equal((await fetch(`${url}${CONFIGMAPS}`, { headers: { authorization: 'Bearer top-secret-token' } })).status, 401);
  const found = (await events()).filter((e) => e.objectRef?.resource === 'configmaps');
  assert.deepEqual(
    found.map((e) => [e.stage, e.responseStatus.code, e.responseStatus.reason, e.responseStatus.message]),
    [
      ['ResponseComplete', 404, 'NotFound', 'configmaps "none" not found'],
      ['ResponseComplete', 403, 'Forbidden', found[1].responseStatus.message],
      ['ResponseStarted', 401, undefined, 'Authentication failed, attempted: bearer'],
    ],
  );
  assert.equal(found[1].impersonatedUser.username, 'system:anonymous');
  assert.equal(found[1].annotations['authorization.k8s.io/decision'], 'forbid');
  assert.deepEqual(found[2].user, {});
  assert.ok(!JSON.stringify(found).includes('top-secret-token'));
});

test('secrets and tokens are in no event, whatever the policy asks', async (t) => {
  const { send, events, text } = await audited(t, EVERYTHING);
  const secret = (value: string): object => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', annotations: { a: value } },
    stringData: { k: value },
  });
  const path = '/api/v1/namespaces/default/secrets';
  await send('POST', path, secret('hunter2'));
  await send('PATCH', `${path}/s`, { stringData: { k: 'hunter2' } }, { type: 'application/merge-patch+json' });
  await send('PATCH', `${path}/s?fieldManager=m&force=true`, secret('hunter2'), { type: 'application/apply-patch+yaml' });
  await send('PUT', `${path}/s`, secret('hunter2'));
  await send('GET', path);
  await send('GET', `${path}/s`, undefined, { accept: 'application/yaml' });
  await send('DELETE', `${path}/s`);
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } };
  await send('POST', '/api/v1/namespaces/default/serviceaccounts', account);
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const token = (await send('POST', '/api/v1/namespaces/default/serviceaccounts/robot/token', request)).body.status.token as string;
  await send('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token },
  });
  const all = await events();
  assert.equal(all.filter((e) => e.objectRef?.resource === 'secrets' && e.stage === 'ResponseComplete').length, 7);
  assert.ok(all.filter((e) => e.objectRef?.resource === 'secrets').every((e) => e.level === 'Metadata'));
  for (const leak of ['hunter2', Buffer.from('hunter2').toString('base64'), token]) assert.ok(!text().includes(leak), leak.slice(0, 20));
});

test('at Metadata no body is in the log; managed fields go where the policy says so; numbers stay exact', async (t) => {
  const { send, events, text } = await audited(
    t,
    'omitStages: [RequestReceived]\nomitManagedFields: true\nrules:\n- {level: Metadata, resources: [{resources: [configmaps]}]}\n- {level: None, nonResourceURLs: ["/livez*"]}\n- level: RequestResponse',
  );
  await send('POST', CONFIGMAPS, configMap('quiet', { k: 'said-nowhere' }));
  await send('GET', '/livez');
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };
  await send('POST', '/api/v1/namespaces/default/services', service);
  const patch = '{"metadata":{"annotations":{"big":"x"}},"spec":{"healthCheckNodePort":9007199254740993}}';
  await send('PATCH', '/api/v1/namespaces/default/services/s', patch, { type: 'application/merge-patch+json' });
  const all = await events();
  assert.ok(!text().includes('said-nowhere'));
  assert.ok(text().includes('9007199254740993'));
  assert.ok(!all.some((e) => e.requestURI === '/livez'));
  const created = all.find((e) => e.objectRef?.resource === 'services' && e.verb === 'create');
  assert.equal(created.responseObject.metadata.managedFields, undefined);
  assert.equal(created.responseObject.spec.ports[0].port, 80);
});

test('without a policy the log has who did what when, once; a bad policy ends the start', async (t) => {
  const { send, events } = await audited(t, undefined);
  await send('POST', CONFIGMAPS, configMap('a'));
  const found = (await events()).filter((e) => e.objectRef?.resource === 'configmaps' && e.verb === 'create');
  assert.deepEqual(
    found.map((e) => [e.stage, e.level, e.requestObject]),
    [['ResponseComplete', 'Metadata', undefined]],
  );
  await assert.rejects(audited(t, 'rules: [{level: Everything}]'), /--audit-policy-file .*: rules\[0\]\.level: "Everything" is no level/);
});

test('an id that could not be sent back is replaced, a missing one is made', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  const made = (await send('GET', '/livez')).headers['audit-id'];
  assert.match(String(made), /^[0-9a-f-]{36}$/);
  assert.notEqual(
    (await send('GET', '/livez', undefined, { headers: { 'audit-id': 'x'.repeat(2000) } })).headers['audit-id'],
    'x'.repeat(2000),
  );
});
