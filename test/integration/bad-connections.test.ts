/** What is wrong with a request before it is one, and connections that want too much; the numbers are the rows of the recorded bad requests. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'node:test';
import { startTestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, sender } from '../fixtures/http.ts';
import { bare, credentials, within } from '../fixtures/sockets.ts';

const GET = `GET ${CONFIGMAPS}?limit=1 HTTP/1.1\r\n`;
const POST = `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
const BAD = '400 Bad Request';

/** Sent, status line, body; each ends its connection. */
const REFUSED: readonly (readonly [what: string, sent: string, status: string, body: string])[] = [
  ['two lengths', `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, BAD, BAD],
  ['a length that is no number', `${POST}Content-Length: abc\r\n\r\n{}`, BAD, BAD],
  ['a negative length', `${POST}Content-Length: -1\r\n\r\n{}`, BAD, BAD],
  ['a length and chunks', `${POST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`, BAD, BAD],
  [
    'an encoding of transfer nobody knows',
    `${POST}Transfer-Encoding: gzip\r\n\r\n{}`,
    '501 Not Implemented',
    'Unsupported transfer encoding',
  ],
  ['a chunk of no length', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`, BAD, BAD],
  ['a blank before the colon', `${GET}Host: x\r\nAccept : */*\r\n\r\n`, BAD, `${BAD}: invalid header name`],
  ['a NUL in a header', `${GET}Host: x\r\nX-A: a\0b\r\n\r\n`, BAD, `${BAD}: invalid header value`],
  ['a folded header', `${GET}Host: x\r\nAccept: application/json,\r\n  */*\r\n\r\n`, BAD, BAD],
  ['no host', `${GET}Accept: */*\r\n\r\n`, BAD, `${BAD}: missing required Host header`],
  ['two hosts', `${GET}Host: x\r\nHost: y\r\n\r\n`, BAD, `${BAD}: too many Host headers`],
  [
    'a version of the far future',
    `GET ${CONFIGMAPS} HTTP/9.9\r\nHost: x\r\n\r\n`,
    '505 HTTP Version Not Supported',
    '505 HTTP Version Not Supported: unsupported protocol version',
  ],
  ['bytes that are no request', '\x16\x03\x01\0garbage\r\n\r\n', BAD, BAD],
  ['a target without a slash', 'GET api/v1 HTTP/1.1\r\nHost: x\r\n\r\n', BAD, BAD],
  ['a NUL in the target', 'GET /api/v1/\0 HTTP/1.1\r\nHost: x\r\n\r\n', BAD, BAD],
];

test('90: what is no request is refused, and its connection closed', async (t) => {
  const server = await startTestApiServer(t);
  for (const [what, sent, status, body] of REFUSED) {
    await t.test(`${what}: ${status}`, async (t) => {
      const { socket, text, closed } = await bare(t, server);
      socket.write(sent, 'latin1');
      await within(5_000, closed);
      assert.ok(text().startsWith(`HTTP/1.1 ${status}\r\n`), text());
      assert.equal(text().split('\r\n\r\n')[1], body);
    });
  }

  await t.test('a tunnel is not allowed', async (t) => {
    const { socket, text, closed } = await bare(t, server);
    socket.write('CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n');
    await within(5_000, closed);
    assert.match(text(), /^HTTP\/1\.1 405 .*"reason":"MethodNotAllowed"/s);
  });

  await t.test('an expectation nobody meets is 417, one that is met is asked for its body', async (t) => {
    const { socket, text } = await bare(t, server);
    socket.write(`${POST}Expect: foo\r\nContent-Length: 2\r\n\r\n`);
    await once(socket, 'data');
    assert.match(text(), /^HTTP\/1\.1 417 /);
    const second = await bare(t, server);
    second.socket.write(`${POST}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`);
    await once(second.socket, 'data');
    assert.match(second.text(), /^HTTP\/1\.1 100 Continue/);
  });

  await t.test('a body is asked for before the head of its answer, also when the answer before it has not left yet', async (t) => {
    const { socket, text, closed } = await bare(t, server);
    const put = `PUT ${CONFIGMAPS}/none HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    const body = JSON.stringify(configMap('none'));
    socket.write(`${GET}Host: x\r\n\r\n${put}Expect: 100-continue\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    await within(5_000, closed);
    const codes = [...text().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code).join(' ');
    assert.match(codes, /^200 (100 )?404$/);
  });

  await t.test('the first of several Accept headers counts', async (t) => {
    const { socket, text } = await bare(t, server);
    socket.write(`${GET}Host: x\r\nAccept: application/yaml\r\nAccept: application/json\r\n\r\n`);
    await once(socket, 'data');
    assert.match(text(), /content-type: application\/yaml/i);
  });

  await t.test('all that leaves the server as it was', async () => {
    assert.equal((await sender(server.client)('GET', '/readyz')).text, 'ok');
  });
});

test('93: HTTP/2 has its bounds, and a caller without a name gets an answer and a farewell', async (t) => {
  const server = await startTestApiServer(t);
  const session = connectHttp2(server.url, { ca: credentials(server).ca });
  t.after(() => session.destroy());
  const [settings] = (await within(5_000, once(session, 'remoteSettings'))) as [Record<string, number>];
  assert.deepEqual([settings['initialWindowSize'], settings['maxHeaderListSize']], [262_144, 1_052_672]);
  assert.ok(settings['maxConcurrentStreams']! > 0);
  const goaway = once(session, 'goaway');
  const request = session.request({ ':path': CONFIGMAPS });
  const [headers] = (await within(5_000, once(request, 'response'))) as [Record<string, unknown>];
  assert.equal(headers[':status'], 403);
  assert.match(await textOf(request), /system:anonymous/);
  assert.deepEqual((await within(5_000, goaway))[0], 0);
});

test('93: streams that are opened and reset at once end only their own connection', async (t) => {
  const server = await startTestApiServer(t);
  const session = connectHttp2(server.url, credentials(server));
  session.on('error', () => undefined);
  t.after(() => session.destroy());
  await once(session, 'connect');
  for (let i = 0; i < 3_000 && !session.destroyed && !session.closed; i++) {
    const stream = session.request({ ':path': `${CONFIGMAPS}?resourceVersion=100000` });
    stream.on('error', () => undefined);
    stream.close(8);
    if (i % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const answer = await within(10_000, sender(server.client)('GET', '/readyz'));
  assert.equal(answer.text, 'ok');
});

test('71: a thousand writes at once are each answered, none with an error of the server', { timeout: 60_000 }, async (t) => {
  const { client } = await startTestApiServer(t);
  const send = sender(client);
  const all = await Promise.all(Array.from({ length: 1000 }, (_, i) => send('POST', CONFIGMAPS, configMap(`many-${i}`))));
  const codes = new Set(all.map(({ code }) => code));
  assert.ok(
    [...codes].every((code) => code === 201 || code === 429),
    [...codes].join(),
  );
  const made = all.filter(({ code }) => code === 201).length;
  assert.equal((await send('GET', CONFIGMAPS)).body.items.length, made);
});

test('92: thousands of watches are each told, and end with their connections', { timeout: 60_000 }, async (t) => {
  const server = await startTestApiServer(t);
  const send = sender(server.client);
  const sessions = Array.from({ length: 4 }, () => connectHttp2(server.url, credentials(server)));
  for (const session of sessions) session.on('error', () => undefined);
  const watches = sessions.flatMap((session) =>
    Array.from({ length: 500 }, () => session.request({ ':path': `${CONFIGMAPS}?watch=1&fieldSelector=metadata.name%3Dtold` })),
  );
  for (const watch of watches) watch.on('error', () => undefined);
  await Promise.all(watches.map((watch) => once(watch, 'response')));
  const told = Promise.all(watches.map((watch) => once(watch, 'data')));
  await send('POST', CONFIGMAPS, configMap('told'));
  for (const [chunk] of await within(20_000, told)) assert.match(String(chunk), /"ADDED"/);
  for (const session of sessions) session.destroy();
  assert.equal((await send('GET', '/readyz')).text, 'ok');
});
