/** Over HTTP/2 a method may be any word, from anyone: it has an answer, and leaves nothing in the log. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { type Logger, silentLogger } from '../../machinery/process/logger.ts';
import { startTestApiServer } from '../fixtures/apiserver.ts';

test('a method that does not exist is not allowed, and is not worth a line of log', async (t) => {
  const told: unknown[][] = [];
  const tell = (...line: unknown[]): void => void told.push(line);
  const logger = {
    ...silentLogger,
    fatal: tell,
    error: tell,
    warn: tell,
    info: () => undefined,
    debug: () => undefined,
  } as unknown as Logger;
  const { url } = await startTestApiServer(t, {}, logger);
  const session = connect(url, { rejectUnauthorized: false });
  t.after(() => session.close());
  for (const method of ['FOO', 'constructor', '__proto__', 'get']) {
    for (const path of ['/api/v1/pods', '/healthz', '/']) {
      const request = session.request({ ':method': method, ':path': path });
      const [[headers], body] = await Promise.all([once(request, 'response'), text(request.setEncoding('utf8')), request.end()]);
      assert.equal(headers[':status'], 405, `${method} ${path}`);
      const { kind, reason, code } = JSON.parse(body) as { kind: string; reason: string; code: number };
      assert.deepEqual([kind, reason, code], ['Status', 'MethodNotAllowed', 405]);
    }
  }
  assert.deepEqual(told, []);
});
