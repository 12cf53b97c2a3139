/** Requests over a few connections: order, reuse, failures, signals. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../process/clock.ts';
import { Pool } from './pool.ts';

async function setup(t: TestContext, listener: RequestListener, connections = 2, answerTimeoutMs = 5000) {
  const server = createServer(listener);
  let opened = 0;
  server.on('connection', () => opened++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const pool = new Pool({ url, connections, connectTimeoutMs: 1000, answerTimeoutMs, idleTimeoutMs: 5000, clock: systemClock });
  t.after(() => {
    pool.close();
    server.closeAllConnections();
    server.close();
  });
  const ask = (path: string, signal?: AbortSignal, body?: string | Buffer): Promise<string> =>
    new Promise((resolve, reject) => {
      let text = '';
      const handler = {
        onHead: () => undefined,
        onData: (chunk: Buffer) => {
          text += chunk;
        },
        onEnd: () => resolve(text),
        onError: reject,
      };
      pool.dispatch({ method: body === undefined ? 'GET' : 'POST', path, headers: {}, body }, handler, signal);
    });
  return { ask, pool, server, opened: () => opened };
}

test('more requests than connections wait in order and reuse them', async (t) => {
  const seen: string[] = [];
  const { ask, opened } = await setup(t, (request, response) => {
    seen.push(request.url ?? '');
    setImmediate(() => response.end(request.url));
  });
  const paths = Array.from({ length: 20 }, (_, index) => `/${index}`);
  assert.deepEqual(await Promise.all(paths.map((path) => ask(path))), paths);
  assert.equal(opened(), 2);
  assert.deepEqual([...seen].sort(), [...paths].sort());
  await ask('/again');
  assert.equal(opened(), 2);
});

test('bodies of text and of bytes are sent whole', async (t) => {
  const { ask } = await setup(t, (request, response) => void request.pipe(response));
  assert.equal(await ask('/', undefined, 'zwölf'), 'zwölf');
  const bytes = Buffer.alloc(300_000, 'x');
  assert.equal((await ask('/', undefined, bytes)).length, bytes.length);
});

test('a connection that the server ends fails its request; the next gets a new one', async (t) => {
  const { ask, opened } = await setup(
    t,
    (request, response) => void (request.url === '/bad' ? request.socket.destroy() : response.end('ok')),
  );
  await assert.rejects(ask('/bad'), { code: 'ECONNRESET' });
  assert.equal(await ask('/good'), 'ok');
  assert.equal(opened(), 2);
});

test('an answer that is cut off is no answer', async (t) => {
  const { ask } = await setup(t, (request, response) => {
    response.writeHead(200, { 'content-length': '10' });
    response.write('half', () => request.socket.destroy());
  });
  await assert.rejects(ask('/'), { code: 'ECONNRESET' });
});

test('silence is a failure', async (t) => {
  const { ask } = await setup(t, () => undefined, 1, 50);
  await assert.rejects(ask('/'), { code: 'ETIMEDOUT' });
});

test('a signal ends a request under way and one that waits, and disturbs no other', async (t) => {
  const { ask } = await setup(t, (request, response) => void (request.url === '/slow' ? undefined : response.end('ok')), 1);
  const [under, waiting] = [new AbortController(), new AbortController()];
  const slow = ask('/slow', under.signal);
  const behind = ask('/behind', waiting.signal);
  const other = ask('/other');
  waiting.abort(new Error('not wanted'));
  await assert.rejects(behind, /not wanted/);
  under.abort(new Error('enough'));
  await assert.rejects(slow, /enough/);
  assert.equal(await other, 'ok');
});

test('nobody listens: each request fails at once; a closed pool takes none', async (t) => {
  const { ask, server, pool } = await setup(t, () => undefined);
  await new Promise((resolve) => server.close(resolve));
  await Promise.all(['/1', '/2', '/3', '/4'].map((path) => assert.rejects(ask(path), { code: 'ECONNREFUSED' })));
  pool.close();
  await assert.rejects(ask('/'), /closed/);
});

test('what would change the meaning of a request is not sent', async (t) => {
  const { pool } = await setup(t, (_, response) => void response.end());
  const handler = { onHead: () => undefined, onData: () => undefined, onEnd: () => undefined, onError: () => undefined };
  const send = (path: string, headers: Record<string, string>): void => pool.dispatch({ method: 'GET', path, headers }, handler);
  assert.throws(() => send('/a b', {}));
  assert.throws(() => send('/\r\nx: y', {}));
  assert.throws(() => send('relative', {}));
  assert.throws(() => send('/', { a: 'b\r\nc: d' }));
  assert.throws(() => send('/', { 'a b': 'c' }));
});

test('a stream that finds nobody is told so while another stream goes on', async (t) => {
  const { ask, server, pool } = await setup(t, (_, response) => void response.write('first'), Number.POSITIVE_INFINITY, 0);
  const head = new Promise<void>((resolve) => {
    const handler = { onHead: () => resolve(), onData: () => undefined, onEnd: () => undefined, onError: () => undefined };
    pool.dispatch({ method: 'GET', path: '/', headers: {} }, handler);
  });
  await head;
  server.close();
  await assert.rejects(ask('/'), { code: 'ECONNREFUSED' });
});

test('what is in the background waits for all others, and is sent at last while they never end', async (t) => {
  const order: string[] = [];
  let answer: (() => void)[] = [];
  const { pool } = await setup(
    t,
    (request, response) => {
      order.push(request.url ?? '');
      if (request.url === '/held') answer.push(() => response.end());
      else response.end();
    },
    4,
  );
  const send = (path: string, background: boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const handler = { onHead: () => undefined, onData: () => undefined, onEnd: resolve, onError: reject };
      pool.dispatch({ method: 'GET', path, headers: {}, background }, handler);
    });
  const held = send('/held', false);
  const behind = [send('/behind-1', true), send('/behind-2', true)];
  await send('/other', false);
  assert.deepEqual(
    order.filter((path) => path !== '/held'),
    ['/other'],
  );
  await Promise.all(behind);
  assert.deepEqual(
    order.filter((path) => path !== '/held'),
    ['/other', '/behind-1', '/behind-2'],
  );
  for (const each of answer) each();
  answer = [];
  await held;
});
