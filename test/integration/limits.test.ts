/** What one client can hold of the server: requests in flight, time, bodies, headers, connections; and large answers in gzip. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { type TestContext, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { systemClock } from '../../machinery/process/clock.ts';
import { startTestApiServer, type TestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, sender } from '../fixtures/http.ts';
import { bare, credentials, type Got, http1, within } from '../fixtures/sockets.ts';

/** A request of a plain user that stays in flight: its body does not come. */
async function hold(t: TestContext, server: TestApiServer, path: string, method: string): Promise<TLSSocket> {
  const { socket } = await bare(t, server);
  const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\n${PLAIN_LINES}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
  socket.write(head);
  await systemClock.sleep(100);
  return socket;
}
const PLAIN = { 'impersonate-user': 'ann', 'impersonate-group': 'devs' };
const PLAIN_LINES = 'Impersonate-User: ann\r\nImpersonate-Group: devs\r\n';

test('too many at once are answered 429 with Retry-After; leases, health, administrators and watches are not', async (t) => {
  const server = await startTestApiServer(t, { maxMutatingRequestsInflight: 1, maxRequestsInflight: 1 });
  const post = (path: string, body: object, headers: object = PLAIN): Promise<Got> =>
    http1(server, { path, method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
  const held = await hold(t, server, CONFIGMAPS, 'POST');
  const refused = await post(CONFIGMAPS, configMap('a'));
  assert.deepEqual(
    [refused.code, refused.headers['retry-after'], refused.headers['content-type'], refused.body.toString()],
    [429, '1', 'text/plain; charset=utf-8', 'Too many requests, please try again later.\n'],
  );
  const figures = (await http1(server, { path: '/metrics' })).body.toString();
  assert.match(figures, /apiserver_current_inflight_requests\{request_kind="mutating"\} 1/);
  assert.match(figures, /apiserver_request_terminations_total\{verb="CREATE",.*resource="configmaps",.*code="429"\} 1/);
  assert.equal((await post(CONFIGMAPS, configMap('a'), {})).code, 201);
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: {} };
  assert.equal((await post('/apis/coordination.k8s.io/v1/namespaces/default/leases', lease)).code, 201);
  assert.equal((await http1(server, { path: CONFIGMAPS, headers: PLAIN })).code, 200);
  held.destroy();
  await systemClock.sleep(100);
  assert.equal((await post(CONFIGMAPS, configMap('b'))).code, 201);

  // A GET may have a body too: it waits for nothing, so the reads are held by a list that waits for a revision to come.
  const reading = http1(server, { path: `${CONFIGMAPS}?resourceVersion=100000&resourceVersionMatch=NotOlderThan`, headers: PLAIN });
  await systemClock.sleep(100);
  assert.equal((await http1(server, { path: CONFIGMAPS, headers: PLAIN })).code, 429);
  assert.equal((await http1(server, { path: '/livez', headers: PLAIN })).code, 200);
  assert.equal((await http1(server, { path: `${CONFIGMAPS}?watch=1&timeoutSeconds=1`, headers: PLAIN })).code, 200);
  await reading;
  assert.equal((await http1(server, { path: CONFIGMAPS, headers: PLAIN })).code, 200);
});

test('watches that are open take no place of others', async (t) => {
  const server = await startTestApiServer(t, { maxRequestsInflight: 1 });
  const watches = [1, 2, 3].map(() => http1(server, { path: `${CONFIGMAPS}?watch=1&timeoutSeconds=1`, headers: PLAIN }));
  await systemClock.sleep(100);
  assert.equal((await http1(server, { path: CONFIGMAPS, headers: PLAIN })).code, 200);
  for (const watch of watches) assert.equal((await watch).code, 200);
});

test('a body that does not come is answered 504 at --request-timeout, and its connection closed', async (t) => {
  const server = await startTestApiServer(t, { requestTimeoutMs: 500 });
  const { socket, text, closed } = await bare(t, server);
  socket.write(`POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
  await within(5_000, closed);
  assert.match(text(), /^HTTP\/1\.1 504 /);
  assert.match(text(), /"message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout"/);
  const figures = (await http1(server, { path: '/metrics' })).body.toString();
  assert.match(figures, /apiserver_request_terminations_total\{verb="CREATE",.*resource="configmaps",.*code="504"\} 1/);

  const session = connectHttp2(server.url, credentials(server));
  session.on('error', () => undefined);
  t.after(() => session.destroy());
  const stream = session.request({ ':method': 'POST', ':path': CONFIGMAPS, 'content-type': 'application/json' });
  stream.on('error', () => undefined);
  stream.write('{');
  const [headers] = (await within(5_000, once(stream, 'response'))) as [Record<string, unknown>];
  assert.equal(headers[':status'], 504);
  stream.resume();
  await within(5_000, once(stream, 'close'));
  // The connection itself goes on.
  const again = session.request({ ':path': '/livez' });
  const [second] = (await once(again, 'response')) as [Record<string, unknown>];
  assert.equal(second[':status'], 200);
});

test('a watch outlives the request timeout', async (t) => {
  const server = await startTestApiServer(t, { requestTimeoutMs: 300 });
  const started = performance.now();
  assert.equal((await http1(server, { path: `${CONFIGMAPS}?watch=1&timeoutSeconds=2` })).code, 200);
  assert.ok(performance.now() - started > 1_500);
});

test('headers that come slowly, or no request at all, are cut off', async (t) => {
  const server = await startTestApiServer(t, { requestTimeoutMs: 500 });
  const silent = await bare(t, server);
  const slow = await bare(t, server);
  slow.socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n');
  const drip = setInterval(() => slow.socket.write('X-A: b\r\n'), 100);
  t.after(() => clearInterval(drip));
  await within(5_000, Promise.all([silent.closed, slow.closed]));
  assert.ok(!slow.text().startsWith('HTTP/1.1 200'));
});

test('a client that does not read its answer is cut off at the request timeout', async (t) => {
  const server = await startTestApiServer(t, { requestTimeoutMs: 1_500 });
  const send = sender(server.client);
  for (let i = 0; i < 16; i++) await send('POST', CONFIGMAPS, configMap(`big-${i}`, { k: 'x'.repeat(1_000_000) }));
  const { socket, closed } = await bare(t, server);
  socket.pause();
  socket.write(`GET ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await systemClock.sleep(3_000);
  socket.resume();
  await within(5_000, closed);
  assert.ok(socket.bytesRead < 16_000_000, String(socket.bytesRead));

  const session = connectHttp2(server.url, credentials(server));
  session.on('error', () => undefined);
  t.after(() => session.destroy());
  const stream = session.request({ ':path': CONFIGMAPS });
  stream.on('error', () => undefined);
  await once(stream, 'response');
  stream.pause();
  const reset = new Promise((resolve) => stream.once('close', resolve));
  await systemClock.sleep(3_000);
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  stream.resume();
  await within(5_000, reset);
  assert.ok(bytes < 16_000_000, String(bytes));
});

test('headers of a million bytes pass, of more than the limit are 431; bodies of more than 3 MiB are 413', async (t) => {
  const server = await startTestApiServer(t);
  assert.equal((await http1(server, { path: '/livez', headers: { 'x-large': 'x'.repeat(1_000_000) } })).code, 200);
  assert.equal((await http1(server, { path: '/livez', headers: { 'x-large': 'x'.repeat(1_100_000) } })).code, 431);
  const body = JSON.stringify(configMap('a', { k: 'x'.repeat(3 * 1024 * 1024) }));
  const headers = { 'content-type': 'application/json' };
  const large = await http1(server, { path: CONFIGMAPS, method: 'POST', headers, body });
  assert.deepEqual([large.code, JSON.parse(large.body.toString()).reason], [413, 'RequestEntityTooLarge']);
  const chunked = await http1(server, { path: CONFIGMAPS, method: 'POST', headers: { ...headers, 'transfer-encoding': 'chunked' }, body });
  assert.equal(chunked.code, 413);
});

test('an endless body is cut off', async (t) => {
  const server = await startTestApiServer(t, { requestTimeoutMs: 500 });
  const { socket, closed } = await bare(t, server);
  socket.write(`POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
  const flood = setInterval(() => socket.write(chunk), 5);
  t.after(() => clearInterval(flood));
  await within(15_000, closed);
});

test('an idle connection stays open for as long as clients pool it, and says so', async (t) => {
  const server = await startTestApiServer(t, { requestTimeoutMs: 500 });
  const { socket, text } = await bare(t, server);
  socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  await systemClock.sleep(2_500);
  assert.match(text(), /keep-alive: timeout=120/i);
  socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  await systemClock.sleep(200);
  assert.equal(text().match(/HTTP\/1\.1 200/g)?.length, 2);
});

test('gets and lists from 128 KiB on are compressed for clients that ask; smaller answers, writes and watches are not', async (t) => {
  const server = await startTestApiServer(t);
  const send = sender(server.client);
  const gzip = { 'accept-encoding': 'deflate, gzip' };
  const large = configMap('large', { k: 'x'.repeat(200_000) });
  const path = `${CONFIGMAPS}/large`;
  const created = await send('POST', CONFIGMAPS, large, { headers: gzip });
  assert.equal(created.headers['content-encoding'], undefined);
  await send('POST', CONFIGMAPS, configMap('small'));
  for (const address of [path, CONFIGMAPS]) {
    const [plain, packed] = [await http1(server, { path: address }), await http1(server, { path: address, headers: gzip })];
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.deepEqual([packed.headers['content-encoding'], packed.headers['vary']], ['gzip', 'Accept-Encoding']);
    assert.ok(packed.body.length < 20_000);
    assert.deepEqual(gunzipSync(packed.body), plain.body);
    assert.equal(Number(packed.headers['content-length']), packed.body.length);
  }
  for (const address of [`${CONFIGMAPS}/small`, `${CONFIGMAPS}?watch=1&timeoutSeconds=1`, `${path}x`])
    assert.equal((await http1(server, { path: address, headers: gzip })).headers['content-encoding'], undefined, address);
  assert.equal((await http1(server, { path, headers: { 'accept-encoding': 'br' } })).headers['content-encoding'], undefined);
});
