/**
 * A sweep of requests that nobody would send in earnest: every verb, odd paths, queries, headers and bodies, for a few kinds of each shape. None ends
 * the process, none gives a 5xx that is not one of upstream's own.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { type Send, type SendOptions, sender } from '../fixtures/http.ts';

const NS = '/namespaces/default';
/** One of each shape: namespaced and not, with status, scale and views of its own, made by POST only, of two groups. */
const COLLECTIONS = [
  `/api/v1${NS}/configmaps`,
  `/api/v1${NS}/pods`,
  `/api/v1${NS}/services`,
  `/api/v1${NS}/events`,
  '/api/v1/namespaces',
  '/api/v1/nodes',
  `/apis/apps/v1${NS}/deployments`,
  `/apis/batch/v1${NS}/jobs`,
  `/apis/autoscaling/v1${NS}/horizontalpodautoscalers`,
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
];
const ODD_PATHS = [
  '/',
  '/..',
  '/%2e%2e/',
  '/__proto__',
  '/api/__proto__/constructor',
  '/apis/__proto__/v1/x',
  '/apis/constructor',
  '/apis//v1',
  '/openapi/v3/__proto__',
  '/openapi/v3/api/v1?hash=x',
  '/version/x',
  '/healthz/x',
  '/livez?exclude=x',
  '/metrics/x',
  '/api/v1/namespaces/%00/pods',
  '/api/v1/namespaces/a/b/c/d/e',
  '/api/v1/namespaces/default/pods/x/constructor',
  '/api/v1/watch',
  '/api/v1/watch/namespaces/default/pods/x/log?timeoutSeconds=1',
  '/api/v1/nodes/x/proxy/a/b?c=d',
  `/api/v1${NS}/services/https:x:443/proxy/`,
  `/api/v1${NS}/configmaps/${'a'.repeat(5_000)}`,
  `/api/v1${NS}/configmaps?labelSelector=${'a,'.repeat(5_000)}`,
  `/apis/${'x/'.repeat(1_000)}`,
];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const QUERIES = [
  'watch=1&timeoutSeconds=0.1',
  'limit=-1&continue=',
  'limit=9223372036854775808',
  'continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0',
  'resourceVersion=-1',
  'resourceVersion=18446744073709551616',
  'resourceVersion=00',
  'labelSelector=%00',
  'fieldSelector=%00',
  'fieldSelector=%5C',
  'fieldSelector=,,,',
  'dryRun=All&dryRun=None',
  'timeoutSeconds=-9223372036854775808&watch=1',
  'includeObject=x',
  '=&&&;',
  '%',
  'timeout=1e9h',
  'gracePeriodSeconds=99999999999999999999',
];
const ACCEPTS = [
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  'application/vnd.kubernetes.protobuf',
  'application/yaml',
  '*/*;q=x',
  ';;,,',
  'application/json;as',
];
const HEADERS: readonly Record<string, string>[] = [
  { 'impersonate-user': '' },
  { 'impersonate-user': 'a', 'impersonate-extra-%zz': 'x' },
  { authorization: `Bearer ${'a'.repeat(9_000)}` },
  { 'content-type': 'application/json;;;' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-encoding': 'br' },
  { 'accept-encoding': 'gzip;q=x' },
  { 'if-none-match': '*' },
  { range: 'bytes=0-1' },
  { 'audit-id': 'x'.repeat(5_000) },
];
const named = (more: object): object => ({ metadata: { name: 'x' }, ...more });
const BODIES: readonly unknown[] = [
  'null',
  '[]',
  '1',
  'true',
  '{"metadata":null}',
  '{"metadata":[]}',
  named({ spec: null }),
  named({ spec: [] }),
  named({ spec: { template: null, selector: null } }),
  named({ spec: { template: { spec: { containers: [null, {}], volumes: [null, {}] } } } }),
  named({ spec: { containers: [{}, null], tolerations: [{}], topologySpreadConstraints: [{}], affinity: { nodeAffinity: {} } } }),
  named({ spec: { ports: [null, {}], taints: [null, {}], versions: [null, {}], names: {}, rules: [null, {}], metrics: [null, {}] } }),
  named({ rules: [null, {}], subjects: [null, {}], roleRef: {}, webhooks: [null, {}] }),
  named({ data: { a: null }, status: {} }),
  { metadata: { name: 'x', ownerReferences: [null, {}], finalizers: [null, ''], labels: { a: null }, managedFields: [null, {}] } },
  '{"__proto__":{"x":1},"constructor":{},"metadata":{"name":"x","labels":{"__proto__":"x"}}}',
  '{"spec":{"replicas":-1e999}}',
  '{"metadata":{"name":"x","generation":9223372036854775807},"spec":{"parallelism":9223372036854775807}}',
];
const PATCHES = ['merge-patch+json', 'strategic-merge-patch+json', 'json-patch+json', 'apply-patch+yaml'];
const PROTOBUF = { type: 'application/vnd.kubernetes.protobuf' };

/** Texts of upstream's own 500s: what server-side apply and strategic patches cannot read, versions that are none, namespaces that are no key. */
const KNOWN_500 =
  /^(failed to (create|convert)|map: map|list element types|merging an object|unable to find api field|cannot convert|resourceVersion: Invalid|strconv|invalid key|target\.name)/;

type Ask = readonly [method: string, path: string, body?: unknown, options?: SendOptions];

function* asks(): Generator<Ask> {
  for (const path of ODD_PATHS) for (const method of METHODS) yield [method, path, hasBody(method) ? '{}' : undefined];
  for (const collection of COLLECTIONS) {
    for (const method of METHODS) yield [method, `${collection}/x/none`, hasBody(method) ? '{}' : undefined];
    for (const query of QUERIES) yield ['GET', `${collection}?${query}`];
    for (const query of QUERIES) yield ['DELETE', `${collection}/none?${query}`];
    for (const accept of ACCEPTS) for (const path of [collection, `${collection}/none`]) yield ['GET', path, undefined, { accept }];
    for (const headers of HEADERS) yield ['POST', `${collection}?dryRun=All`, '{}', { headers }];
    for (const body of BODIES) yield* writes(collection, body);
    yield ['POST', collection, Buffer.from('k8s\0\x0a\x00\x12\xff', 'latin1'), PROTOBUF];
    yield ['POST', collection, Buffer.from([0x6b, 0x38, 0x73, 0, 0x12, 4, 0x0a, 0xff, 0xff, 0xff]), PROTOBUF];
  }
}

const hasBody = (method: string): boolean => method !== 'GET' && method !== 'HEAD';

function* writes(collection: string, body: unknown): Generator<Ask> {
  yield ['POST', collection, body];
  yield ['POST', collection, body, { type: 'application/yaml' }];
  for (const path of [`${collection}/x`, `${collection}/x/status`]) yield ['PUT', path, body];
  for (const type of PATCHES) yield ['PATCH', `${collection}/x?fieldManager=a`, body, { type: `application/${type}` }];
  yield ['DELETE', `${collection}/none`, body];
}

async function check(send: Send, ask: Ask): Promise<string | undefined> {
  const { code, text, body } = await send(...ask);
  if (code < 500 || (code === 500 && KNOWN_500.test(body?.message ?? ''))) return undefined;
  return `${ask[0]} ${ask[1].slice(0, 100)} ${JSON.stringify(ask[2] ?? '').slice(0, 200)}: ${code} ${text.slice(0, 200)}`;
}

test('no hostile request ends the server or gives an error that upstream would not', { timeout: 120_000 }, async (t) => {
  const { client } = await startTestApiServer(t, { requestTimeoutMs: 5_000 });
  const send = sender(client);
  await send('POST', `/api/v1${NS}/serviceaccounts`, { metadata: { name: 'default' } });
  const all = [...asks()];
  const wrong: string[] = [];
  const work = async (): Promise<void> => {
    for (let ask = all.pop(); ask !== undefined; ask = all.pop()) {
      const problem = await check(send, ask);
      if (problem !== undefined) wrong.push(problem);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  assert.deepEqual(wrong, []);
  assert.equal((await send('GET', '/readyz')).text, 'ok');
});
