/** Watches over WebSocket: the same events as over chunked HTTP, one message each. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { parseYaml } from '../../machinery/api/yaml.ts';
import { startTestApiServer, type TestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, type Member, sender } from '../fixtures/http.ts';

interface Watched {
  readonly socket: WebSocket;
  /** The next message; undefined when the stream has ended. */
  next(): Promise<Buffer | string | undefined>;
  event(): Promise<Member>;
}

function credentials(server: TestApiServer): { cert: Buffer; key: Buffer } {
  const config = parseYaml(readFileSync(join(server.dataDir, 'kubeconfig'), 'utf8')) as Member;
  const user = config.users[0].user;
  return { cert: Buffer.from(user['client-certificate-data'], 'base64'), key: Buffer.from(user['client-key-data'], 'base64') };
}

function watch(
  server: TestApiServer,
  path: string,
  options: { headers?: Record<string, string>; protocols?: string[]; anonymous?: boolean } = {},
): Watched {
  const socket = new WebSocket(`${server.url.replace('https', 'wss')}${path}`, options.protocols ?? [], {
    rejectUnauthorized: false,
    headers: options.headers ?? {},
    ...(!options.anonymous && credentials(server)),
  });
  const queue: (Buffer | string | undefined)[] = [];
  const waiting: ((message: Buffer | string | undefined) => void)[] = [];
  const push = (message: Buffer | string | undefined): void => {
    const taker = waiting.shift();
    if (taker === undefined) queue.push(message);
    else taker(message);
  };
  socket.on('message', (data: Buffer, binary) => push(binary ? data : data.toString('utf8')));
  socket.on('close', () => push(undefined));
  socket.on('error', () => undefined);
  const next = (): Promise<Buffer | string | undefined> =>
    queue.length > 0 ? Promise.resolve(queue.shift()) : new Promise((resolve) => waiting.push(resolve));
  return { socket, next, event: async () => JSON.parse(String(await next())) };
}

/** The plain HTTP answer to a handshake. */
function refusal(watched: Watched): Promise<{ code: number; body: Member }> {
  return new Promise((resolve, reject) => {
    watched.socket.on('open', () => reject(new Error('the handshake went through')));
    watched.socket.on('unexpected-response', (_request, answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
      });
      answer.on('end', () => resolve({ code: answer.statusCode ?? 0, body: JSON.parse(text) }));
    });
  });
}

test('a watch over WebSocket', { timeout: 60_000 }, async (t) => {
  const server = await startTestApiServer(t);
  const send = sender(server.client);
  for (const name of ['a', 'b']) await send('POST', CONFIGMAPS, configMap(name));

  await t.test('shows the state there is, then every change, one text message each', async () => {
    const watched = watch(server, `${CONFIGMAPS}?watch=1`);
    assert.deepEqual([(await watched.event()).object.metadata.name, (await watched.event()).object.metadata.name], ['a', 'b']);
    await send('POST', CONFIGMAPS, configMap('c'));
    const added = await watched.event();
    assert.deepEqual([added.type, added.object.kind, added.object.metadata.name], ['ADDED', 'ConfigMap', 'c']);
    await send('DELETE', `${CONFIGMAPS}/c`);
    assert.equal((await watched.event()).type, 'DELETED');
    watched.socket.close();
    assert.equal(await watched.next(), undefined);
  });

  await t.test('takes selectors, Tables and a bookmark that ends the initial events', async () => {
    const query =
      'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&fieldSelector=metadata.name%3Db';
    const watched = watch(server, `${CONFIGMAPS}?${query}`, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
    const first = await watched.event();
    assert.deepEqual([first.object.kind, first.object.rows[0].cells[0]], ['Table', 'b']);
    const end = await watched.event();
    assert.deepEqual([end.type, end.object.rows[0].object.metadata.annotations], ['BOOKMARK', { 'k8s.io/initial-events-end': 'true' }]);
    watched.socket.close();
  });

  await t.test('sends protobuf events as binary messages without a length before them', async () => {
    const watched = watch(server, `${CONFIGMAPS}?watch=1`, { headers: { accept: 'application/vnd.kubernetes.protobuf;stream=watch' } });
    const message = await watched.next();
    assert.ok(Buffer.isBuffer(message));
    assert.equal(message.subarray(0, 7).toString('latin1'), '\n\u0005ADDED');
    watched.socket.close();
  });

  await t.test('ends with a clean close when its time is over', async () => {
    const watched = watch(server, `${CONFIGMAPS}?watch=1&timeoutSeconds=1&resourceVersion=1000000`);
    const code = await new Promise((resolve) => watched.socket.on('close', resolve));
    assert.equal(code, 1000);
  });

  await t.test('takes the one protocol a client names', async () => {
    const watched = watch(server, `${CONFIGMAPS}?watch=1`, { protocols: ['v1.example'] });
    await watched.event();
    assert.equal(watched.socket.protocol, 'v1.example');
    watched.socket.close();
  });

  await t.test('knows a browser by the token among its protocols', async () => {
    const token = (await send('POST', '/api/v1/namespaces/default/serviceaccounts/robot/token', { spec: {} })).body;
    assert.equal(token.code, 404);
    await send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
    const issued = (await send('POST', '/api/v1/namespaces/default/serviceaccounts/robot/token', { spec: {} })).body.status.token;
    const protocol = `base64url.bearer.authorization.k8s.io.${Buffer.from(issued).toString('base64url')}`;
    const watched = watch(server, `${CONFIGMAPS}?watch=1`, { anonymous: true, protocols: [protocol, 'v1.example'] });
    assert.equal((await watched.event()).type, 'ADDED');
    assert.equal(watched.socket.protocol, 'v1.example');
    watched.socket.close();
  });

  await t.test('is refused as any watch is: by a plain answer', async () => {
    const anonymous = await refusal(watch(server, `${CONFIGMAPS}?watch=1`, { anonymous: true }));
    assert.deepEqual([anonymous.code, anonymous.body.reason], [403, 'Forbidden']);
    const bad = await refusal(watch(server, `${CONFIGMAPS}?watch=1&labelSelector=%21%21`));
    assert.deepEqual([bad.code, bad.body.reason], [400, 'BadRequest']);
    const list = await refusal(watch(server, CONFIGMAPS));
    assert.deepEqual([list.code, list.body.kind], [200, 'ConfigMapList']);
  });

  await t.test('costs nothing when its client vanishes or sends too much', async () => {
    const watched = watch(server, `${CONFIGMAPS}?watch=1`);
    await watched.event();
    watched.socket.send('x'.repeat(100_000));
    const closed = await new Promise((resolve) => watched.socket.on('close', resolve));
    assert.equal(closed, 1009);
    const gone = watch(server, `${CONFIGMAPS}?watch=1`);
    await gone.event();
    gone.socket.terminate();
    assert.equal((await send('GET', CONFIGMAPS)).code, 200);
  });

  await t.test('ends when the server stops', async () => {
    const watched = watch(server, `${CONFIGMAPS}?watch=1`);
    await watched.event();
    const closed = new Promise((resolve) => watched.socket.on('close', resolve));
    await server.stop();
    await closed;
  });
});
