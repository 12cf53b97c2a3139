/** O3: a server that is told to end answers what it has taken, ends watches cleanly, says that it is not ready, and takes nothing new. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../machinery/process/clock.ts';
import { startTestApiServer, type TestApiServer } from '../fixtures/apiserver.ts';
import { CONFIGMAPS, configMap, sender } from '../fixtures/http.ts';
import { bare, credentials, within } from '../fixtures/sockets.ts';

/** A creation whose body is half there. */
async function halfSent(t: TestContext, server: TestApiServer, name: string) {
  const connection = await bare(t, server);
  const body = JSON.stringify(configMap(name));
  const head = `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  connection.socket.write(head + body.slice(0, 10));
  return { ...connection, finish: () => connection.socket.write(body.slice(10)) };
}

test('what was taken is answered, a watch ends whole, /readyz is false, nothing new is taken', async (t) => {
  const server = await startTestApiServer(t);
  const taken = await halfSent(t, server, 'taken');
  const watch = await bare(t, server);
  watch.socket.write(`GET ${CONFIGMAPS}?watch=1&fieldSelector=metadata.name%3Dearly HTTP/1.1\r\nHost: x\r\n\r\n`);
  const probe = await bare(t, server);
  const silent = await bare(t, server);
  const session = connectHttp2(server.url, credentials(server));
  session.on('error', () => undefined);
  t.after(() => session.destroy());
  const stream = session.request({ ':method': 'POST', ':path': CONFIGMAPS, 'content-type': 'application/json' });
  stream.write('{');
  await sender(server.client)('POST', CONFIGMAPS, configMap('early'));
  await systemClock.sleep(200);

  const farewell = within(5_000, once(session, 'goaway'));
  const stopped = server.stop();
  await within(5_000, watch.closed);
  assert.match(watch.text(), /"type":"ADDED".*"early".*\r\n0\r\n\r\n$/s);
  await farewell;
  await assert.rejects(bare(t, server), /ECONNREFUSED|ECONNRESET/);

  taken.finish();
  await within(5_000, taken.closed);
  assert.match(taken.text(), /^HTTP\/1\.1 201 /);
  assert.match(taken.text(), /connection: close/i);
  const answered = within(5_000, once(stream, 'response'));
  stream.end(JSON.stringify(configMap('streamed')).slice(1));
  assert.equal(((await answered) as [Record<string, unknown>])[0][':status'], 201);
  stream.resume();
  await within(5_000, Promise.all([stopped, probe.closed, silent.closed]));
});

test('/readyz says that the server ends, /livez that it lives, to who is still connected', async (t) => {
  const server = await startTestApiServer(t);
  const taken = await halfSent(t, server, 'taken');
  const session = connectHttp2(server.url, credentials(server));
  session.on('error', () => undefined);
  t.after(() => session.destroy());
  const ask = async (stream: ReturnType<typeof session.request>): Promise<unknown> =>
    ((await within(5_000, once(stream, 'response'))) as [Record<string, unknown>])[0][':status'];
  assert.equal(await ask(session.request({ ':path': '/readyz' })), 200);
  // asked before the server ends, sent on while it does
  const probes = ['/readyz', '/livez'].map(async (path) => {
    const { socket, text, closed } = await bare(t, server);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n`);
    return { path, socket, text, closed };
  });
  const [ready, live] = await Promise.all(probes);
  await systemClock.sleep(200);
  const stopped = server.stop();
  await systemClock.sleep(100);
  for (const { socket } of [ready!, live!]) socket.write('\r\n');
  await within(5_000, Promise.all([ready!.closed, live!.closed]));
  assert.match(ready!.text(), /^HTTP\/1\.1 500 /);
  assert.match(ready!.text(), /\[-\]shutdown failed: reason withheld/);
  assert.match(live!.text(), /^HTTP\/1\.1 200 /);
  taken.finish();
  await within(5_000, stopped);
});
