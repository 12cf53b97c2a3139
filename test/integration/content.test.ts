/** What clients get byte by byte: protobuf lists and frames, exact numbers and texts, documents that have not changed, odd ways to ask for a watch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeObject } from '../../machinery/api/decode.ts';
import { decodeProtobuf } from '../../machinery/api/protobuf.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { startTestApiServer, type TestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, type Member, type Send, sender } from '../fixtures/http.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const as = (kind: string, type = 'application/json', version = 'v1'): string => `${type};as=${kind};v=${version};g=meta.k8s.io`;

const rawOf = async ({ client }: TestApiServer, path: string, accept: string) => client.raw({ method: 'GET', path, headers: { accept } });

/** The frames of a protobuf watch: type and object of each. */
function framesOf(bytes: Buffer): { type: string; object: Buffer }[] {
  const frames: { type: string; object: Buffer }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    const event = bytes.subarray(at + 4, end);
    const type = event.subarray(2, 2 + event[1]!).toString();
    frames.push({ type, object: event.subarray(event.indexOf('k8s\0', 0, 'latin1')) });
    at = end;
  }
  return frames;
}

async function fill(send: Send): Promise<void> {
  await send('POST', CONFIGMAPS, configMap('a'));
  const pod = {
    metadata: { name: 'p', labels: { a: 'b' } },
    spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] },
  };
  await send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  await send('POST', '/api/v1/namespaces/default/pods', pod);
  await send('POST', '/api/v1/namespaces/default/services', { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } });
}

test('protobuf says what JSON says', async (t) => {
  const server = await startTestApiServer(t);
  const send = sender(server.client);
  await fill(send);
  for (const [path, type] of [
    ['/api/v1/pods', 'core.v1.PodList'],
    ['/api/v1/services', 'core.v1.ServiceList'],
    ['/apis/scheduling.k8s.io/v1/priorityclasses', 'scheduling.k8s.io.v1.PriorityClassList'],
    ['/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', 'flowcontrol.apiserver.k8s.io.v1.FlowSchemaList'],
  ] as const) {
    await t.test(`of ${path}`, async () => {
      const { object, kind } = decodeProtobuf((await rawOf(server, path, PROTOBUF)).body);
      const decoded = decodeObject(typeSchema(type), object, { strict: false }).object as Member;
      const { body } = await send('GET', path);
      assert.equal(kind, body.kind);
      assert.deepEqual(
        decoded.items.map(({ metadata }: Member) => metadata.uid),
        body.items.map(({ metadata }: Member) => metadata.uid),
      );
      assert.deepEqual(decoded.items[0].spec, body.items[0].spec);
    });
  }

  await t.test('of an error', async () => {
    const answer = await rawOf(server, `${CONFIGMAPS}/none`, PROTOBUF);
    const { kind, apiVersion, object } = decodeProtobuf(answer.body);
    assert.deepEqual([answer.code, apiVersion, kind, (object as Member).reason], [404, 'v1', 'Status', 'NotFound']);
  });
});

test('a watch in protobuf has frames, of whole objects and of metadata alone', async (t) => {
  const server = await startTestApiServer(t);
  const send = sender(server.client);
  await fill(send);
  const query = 'watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  for (const [accept, apiVersion, kind] of [
    [`${PROTOBUF};stream=watch`, 'v1', 'ConfigMap'],
    [as('PartialObjectMetadata', PROTOBUF), 'meta.k8s.io/v1', 'PartialObjectMetadata'],
    [as('PartialObjectMetadata', PROTOBUF, 'v1beta1'), 'meta.k8s.io/v1beta1', 'PartialObjectMetadata'],
  ] as const) {
    const answer = await rawOf(server, `${CONFIGMAPS}?${query}`, accept);
    assert.equal(answer.headers['content-type'], 'application/vnd.kubernetes.protobuf;stream=watch');
    const frames = framesOf(answer.body);
    assert.deepEqual(
      frames.map(({ type }) => type),
      ['ADDED', 'BOOKMARK'],
    );
    const head = frames[0]!.object.toString('latin1');
    assert.ok(head.includes(apiVersion) && head.includes(kind) && head.includes('default'), head);
    assert.ok(frames[1]!.object.includes('k8s.io/initial-events-end'));
  }
});

test('a Table shows of its objects what is asked for', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  await send('POST', CONFIGMAPS, configMap('a'));
  const shown = async (query: string) =>
    (await send('GET', `${CONFIGMAPS}/a${query}`, undefined, { accept: as('Table') })).body.rows[0].object;
  assert.equal((await shown('')).kind, 'PartialObjectMetadata');
  assert.equal((await shown('?includeObject=Metadata')).kind, 'PartialObjectMetadata');
  assert.deepEqual((await shown('?includeObject=Object')).data, { k: 'v' });
  assert.equal(await shown('?includeObject=None'), null);
  assert.equal((await send('GET', `${CONFIGMAPS}/a?includeObject=All`, undefined, { accept: as('Table') })).code, 400);
  const fallback = await send('GET', CONFIGMAPS, undefined, { accept: `${as('Table', PROTOBUF)},${PROTOBUF};q=0.5,application/yaml` });
  assert.equal(fallback.headers['content-type'], 'application/yaml');
});

test('documents that have not changed are not sent again', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  const index = (await send('GET', '/openapi/v3')).body.paths;
  for (const [path, accept] of [
    ['/openapi/v2', 'application/json'],
    ['/openapi/v2', 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'],
    [index['apis/apps/v1'].serverRelativeURL, 'application/json'],
    ['/apis', 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'],
    ['/api', 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'],
  ] as const) {
    const first = await send('GET', path, undefined, { accept });
    const etag = String(first.headers['etag']);
    assert.match(etag, /^"[0-9A-F]{128}"$/, path);
    const again = await send('GET', path, undefined, { accept, headers: { 'if-none-match': etag } });
    assert.deepEqual([again.code, again.text, again.headers['etag']], [304, '', etag], path);
    assert.equal((await send('GET', path, undefined, { accept, headers: { 'if-none-match': '"other"' } })).code, 200, path);
  }
});

test('numbers and texts come back exactly', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);

  await t.test('a whole number beyond what a double holds', async () => {
    await send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
    const pod =
      '{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],"terminationGracePeriodSeconds":9007199254740993}}';
    const created = await send('POST', '/api/v1/namespaces/default/pods', pod);
    assert.match(created.text, /"terminationGracePeriodSeconds":9007199254740993[,}]/);
    for (const accept of ['application/json', 'application/yaml']) {
      assert.match((await send('GET', '/api/v1/namespaces/default/pods/p', undefined, { accept })).text, /9007199254740993/);
    }
    const patched = await send(
      'PATCH',
      '/api/v1/namespaces/default/pods/p',
      { metadata: { labels: { a: 'b' } } },
      { type: 'application/merge-patch+json' },
    );
    assert.match(patched.text, /"terminationGracePeriodSeconds":9007199254740993[,}]/);
  });

  const texts = [
    '',
    ' ',
    '\t\r\n',
    '<a href="x">&amp;</a>',
    '\u2028\u2029',
    '\u0000\u0001\u007f\u0080',
    'ä€😀',
    '\\u0041',
    '1e3',
    'null',
    '---\n- a\n...',
    '\ufeff',
  ];
  await t.test('any text under any legal key', async () => {
    const data: Record<string, string> = { __proto__: '' };
    texts.forEach((text, i) => {
      data[`k.${i}_-`] = text;
    });
    for (const key of ['constructor', 'toString', '0', '00', '1e3']) data[key] = key;
    assert.equal((await send('POST', CONFIGMAPS, configMap('texts', data))).code, 201);
    assert.deepEqual((await send('GET', `${CONFIGMAPS}/texts`)).body.data, data);
    const raw = await client.raw({ method: 'GET', path: `${CONFIGMAPS}/texts`, headers: { accept: PROTOBUF } });
    assert.equal((await send('PUT', `${CONFIGMAPS}/texts`, raw.body, { type: PROTOBUF })).code, 200);
    assert.deepEqual((await send('GET', `${CONFIGMAPS}/texts`)).body.data, data);
    const yaml = await send('GET', `${CONFIGMAPS}/texts`, undefined, { accept: 'application/yaml' });
    assert.equal((await send('PUT', `${CONFIGMAPS}/texts`, yaml.text, { type: 'application/yaml' })).code, 200);
    assert.deepEqual((await send('GET', `${CONFIGMAPS}/texts`)).body.data, data);
  });

  await t.test('any byte of a secret and of binaryData', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i)).toString('base64');
    const made = await send('POST', CONFIGMAPS, { metadata: { name: 'bytes' }, binaryData: { b: bytes } });
    assert.equal(made.body.binaryData.b, bytes);
    const secret = await send('POST', '/api/v1/namespaces/default/secrets', { metadata: { name: 'bytes' }, data: { b: bytes } });
    assert.equal(secret.body.data.b, bytes);
  });
});

test('a list becomes a watch by what the parameter says', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  await send('POST', CONFIGMAPS, configMap('a'));
  const isWatch = async (parameter: string): Promise<boolean> =>
    (await send('GET', `${CONFIGMAPS}?timeoutSeconds=1&${parameter}`)).text.startsWith('{"type":"ADDED"');
  for (const parameter of ['watch=1', 'watch', 'watch=', 'watch=true', 'watch=maybe', 'watch=1&watch=0'])
    assert.ok(await isWatch(parameter), parameter);
  for (const parameter of ['watch=0', 'watch=false', 'watch=FALSE', 'watch=0&watch=1', 'Watch=1'])
    assert.ok(!(await isWatch(parameter)), parameter);
});

/** Options of lists and watches, the code, and each rule that is broken, in upstream's order. */
const NEEDS_VERSION = 'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided';
const WITH_CONTINUE = 'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided';
const NO_MATCH = 'resourceVersionMatch: Unsupported value: "X": supported values: "Exact", "NotOlderThan", ""';
const LIST_INITIAL = 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list';
const WATCH_MATCH = 'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
const WATCH_ONLY = 'resourceVersionMatch: Unsupported value: "X": supported values: "NotOlderThan"';
const WATCH_NEEDS = 'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
const COMBINATIONS: readonly (readonly [query: string, broken: readonly string[]])[] = [
  ['resourceVersionMatch=X', [NEEDS_VERSION, NO_MATCH]],
  ['resourceVersionMatch=X&continue=abc&sendInitialEvents=false', [NEEDS_VERSION, WITH_CONTINUE, NO_MATCH, LIST_INITIAL]],
  ['resourceVersionMatch=NotOlderThan&resourceVersion=0&limit=1', []],
  ['resourceVersionMatch=NotOlderThan&resourceVersion=1&limit=1', []],
  [
    'resourceVersionMatch=Exact&resourceVersion=0&limit=1',
    ['resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"'],
  ],
  ['watch=1&resourceVersionMatch=X', [WATCH_MATCH, WATCH_ONLY]],
  ['watch=1&resourceVersionMatch=X&sendInitialEvents=true&continue=abc', [WATCH_NEEDS, WATCH_ONLY, WITH_CONTINUE]],
  ['watch=1&sendInitialEvents=false', [WATCH_NEEDS]],
  ['watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0&timeoutSeconds=1', []],
  ['watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&timeoutSeconds=1', []],
];

test('options of lists and watches that contradict each other are all named', async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  for (const [query, broken] of COMBINATIONS) {
    const { code, body } = await send('GET', `${CONFIGMAPS}?${query}`);
    assert.equal(code, broken.length === 0 ? 200 : 422, query);
    const found = (body?.details?.causes ?? []).map(({ field, message }: Member) => `${field}: ${message}`);
    assert.deepEqual(found, broken, query);
  }
});
