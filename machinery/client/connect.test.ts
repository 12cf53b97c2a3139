/** The client on the wire: paths, bodies, errors, retries, TLS and the Unix socket. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { StatusError } from '../api/status.ts';
import { systemClock } from '../process/clock.ts';
import { ensurePki, issueClientCertificate } from '../process/pki.ts';
import { FakeClock } from '../process/testing/fake-clock.ts';
import { createClient } from './connect.ts';
import { ConnectionError } from './errors.ts';
import { configmaps, nodes, pods } from './resource-type.ts';
import { type Answer, frame, scriptServer, statusBody } from './testing/script-server.ts';

async function setup(t: TestContext, answer: Answer, options: { clock?: FakeClock; onWarning?: (text: string) => void } = {}) {
  const server = await scriptServer(answer);
  const client = createClient({ kubeconfig: { server: server.url, token: 'secret' }, userAgent: 'test/1', ...options });
  t.after(async () => {
    await client.close();
    await server.kill();
  });
  return { server, client };
}

test('verbs become paths, queries and bodies as client-go makes them', async (t) => {
  const bodies: string[] = [];
  const { server, client } = await setup(t, (request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      bodies.push(`${request.headers['content-type'] ?? ''} ${body}`.trim());
      response.end('{}');
    });
  });
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'ns', name: 'a' } };
  await client.get(nodes, { name: 'n1' });
  await client.list(pods, { namespace: 'ns', labelSelector: 'a in (b,c)', limit: 5, fieldSelector: 'spec.nodeName=n' });
  await client.list(pods);
  await client.create(configmaps, map, { fieldManager: 'me', dryRun: true });
  await client.update(configmaps, map, { subresource: 'status' });
  await client.patch(configmaps, { namespace: 'ns', name: 'a' }, 'application/apply-patch+yaml', 'a: b', {
    force: true,
    fieldManager: 'me',
  });
  await client.delete(configmaps, { namespace: 'ns', name: 'a' }, { uid: 'u', propagationPolicy: 'Foreground', gracePeriodSeconds: 0 });
  await client.delete(configmaps, { namespace: 'ns', name: 'a' });
  await client.deleteCollection(pods, { namespace: 'ns', labelSelector: 'x' }, { dryRun: true });
  await client.createSubresource(pods, { namespace: 'ns', name: 'p' }, 'binding', { kind: 'Binding' });
  assert.deepEqual(server.asked, [
    'GET /api/v1/nodes/n1',
    'GET /api/v1/namespaces/ns/pods?labelSelector=a%20in%20(b%2Cc)&fieldSelector=spec.nodeName%3Dn&limit=5',
    'GET /api/v1/pods',
    'POST /api/v1/namespaces/ns/configmaps?dryRun=All&fieldManager=me',
    'PUT /api/v1/namespaces/ns/configmaps/a/status',
    'PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=me&force=true',
    'DELETE /api/v1/namespaces/ns/configmaps/a',
    'DELETE /api/v1/namespaces/ns/configmaps/a',
    'DELETE /api/v1/namespaces/ns/pods?labelSelector=x',
    'POST /api/v1/namespaces/ns/pods/p/binding',
  ]);
  assert.deepEqual(bodies.slice(5, 9), [
    'application/apply-patch+yaml a: b',
    'application/json {"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u"},"propagationPolicy":"Foreground","gracePeriodSeconds":0}',
    '',
    'application/json {"apiVersion":"v1","kind":"DeleteOptions","dryRun":["All"]}',
  ]);
});

test('connections carry one request after another, deletions with preconditions too', async (t) => {
  const connections = new Set<unknown>();
  const { client } = await setup(t, (request, response) => {
    connections.add(request.socket);
    request.resume();
    request.on('end', () => response.end('{}'));
  });
  for (let i = 0; i < 10; i++) {
    await client.delete(pods, { namespace: 'ns', name: `p${i}` }, { uid: 'u', gracePeriodSeconds: 0 });
    await client.get(nodes, { name: 'n1' });
  }
  assert.ok(connections.size <= 2, `${connections.size} connections`); // the pool may open a second before the first is free again
});

test('credentials, user agent and accepted type are sent', async (t) => {
  const seen: (string | undefined)[] = [];
  const { client } = await setup(t, ({ headers }, response) => {
    seen.push(headers.authorization, headers['user-agent'], headers.accept);
    response.end('{"items":[{"metadata":{"name":"a"}}],"metadata":{"resourceVersion":"1"}}');
  });
  const list = await client.list(pods, { metadataOnly: true });
  assert.deepEqual(seen.slice(0, 2), ['Bearer secret', 'test/1']);
  assert.match(seen[2] ?? '', /as=PartialObjectMetadataList/);
  assert.deepEqual([list.items[0]?.kind, list.items[0]?.apiVersion], ['Pod', 'v1']);
});

test('a Status is thrown as it is; anything else in client-go words', async (t) => {
  const answers: [number, string][] = [
    [409, statusBody(409, 'AlreadyExists', 'configmaps "a" already exists')],
    [404, '404 page not found\n'],
    [500, 'oops'],
    [418, ''],
  ];
  let at = 0;
  const { client } = await setup(t, (_request, response) => {
    const [code, body] = answers[at++]!;
    response.writeHead(code).end(body);
  });
  const failures: [number, string, string][] = [];
  for (const _ of answers) {
    await client.get(configmaps, { namespace: 'ns', name: 'a' }).catch((error: unknown) => {
      assert.ok(error instanceof StatusError);
      failures.push([error.code, error.reason, error.message]);
    });
  }
  assert.deepEqual(failures, [
    [409, 'AlreadyExists', 'configmaps "a" already exists'],
    [404, 'NotFound', 'the server could not find the requested resource (get configmaps a)'],
    [500, 'InternalError', 'an error on the server ("oops") has prevented the request from succeeding (get configmaps a)'],
    [418, '', 'the server responded with the status code 418 but did not return more information (get configmaps a)'],
  ]);
});

test('a busy server is asked again when it says so, ten times at most', async (t) => {
  const clock = new FakeClock();
  let refusals = 3;
  const { server, client } = await setup(
    t,
    (_request, response) => {
      if (refusals-- > 0) response.writeHead(429, { 'retry-after': '1' }).end(statusBody(429, 'TooManyRequests', 'busy'));
      else response.end('{"kind":"ConfigMap"}');
    },
    { clock },
  );
  const ask = async (): Promise<unknown> => {
    let settled = false;
    const answer = client
      .get(configmaps, { namespace: 'ns', name: 'a' })
      .catch((error: unknown) => error)
      .finally(() => {
        settled = true;
      });
    while (!settled) {
      await systemClock.sleep(5);
      await clock.advance(500);
    }
    return answer;
  };
  assert.deepEqual(await ask(), { kind: 'ConfigMap' });
  assert.equal(server.asked.length, 4);
  refusals = 1_000;
  assert.equal(((await ask()) as StatusError).code, 429);
  assert.equal(server.asked.length, 4 + 11);
});

test('warnings are handed on', async (t) => {
  const warnings: string[] = [];
  const { client } = await setup(
    t,
    (_request, response) => {
      response.setHeader('warning', ['299 - "unknown field \\"spec.x\\""', '299 - "old"']);
      response.end('{}');
    },
    { onWarning: (text) => warnings.push(text) },
  );
  await client.get(nodes, { name: 'a' });
  assert.deepEqual(warnings, ['unknown field "spec.x"', 'old']);
});

test('a server that is away is a ConnectionError; a reader who leaves ends the watch', async (t) => {
  let closed = false;
  const { server, client } = await setup(t, (request, response) => {
    request.on('close', () => {
      closed = true;
    });
    response.write(frame('ADDED', { metadata: { resourceVersion: '1' } }));
  });
  for await (const event of client.watch(nodes, {}, new AbortController().signal)) {
    assert.equal(event.type, 'ADDED');
    break;
  }
  while (!closed) await systemClock.sleep(5);
  const stop = new AbortController();
  const events: string[] = [];
  for await (const event of client.watch(nodes, {}, stop.signal)) {
    events.push(event.type);
    stop.abort(new Error('enough'));
  }
  assert.deepEqual(events, ['ADDED'], 'an abort ends the watch without an error');
  await server.kill();
  await assert.rejects(client.get(nodes, { name: 'a' }), (error) => error instanceof ConnectionError && error.refused);
});

test('over TLS with a client certificate, and over the Unix socket while it is there', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'flyball-client-'));
  const pki = await ensurePki(directory);
  const identity = await issueClientCertificate(pki, { user: 'alice', groups: ['g'] });
  const serve = async (where: { port: number } | { path: string }, name: string): Promise<Server> => {
    const tls = { cert: pki.apiserver.cert, key: pki.apiserver.key, ca: pki.ca.cert, requestCert: true };
    const server = createServer(tls, (request, response) => {
      const user = (request.socket as TLSSocket).getPeerCertificate().subject.CN;
      response.end(JSON.stringify({ kind: 'Node', metadata: { name: `${user} by ${name}` } }));
    });
    await new Promise<void>((resolve) => server.listen(where, resolve));
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return server;
  };
  const socket = join(directory, 'api.sock');
  const network = await serve({ port: 0 }, 'network');
  const { port } = network.address() as AddressInfo;
  const config = { server: `https://127.0.0.1:${port}`, ca: pki.ca.cert, cert: identity.cert, key: identity.key, unixSocket: socket };
  const whoAmI = async (): Promise<string | undefined> => {
    const client = createClient({ kubeconfig: config, userAgent: 'test' });
    try {
      return (await client.get(nodes, { name: 'x' })).metadata.name;
    } finally {
      await client.close();
    }
  };
  assert.equal(await whoAmI(), 'alice by network');
  await serve({ path: socket }, 'socket');
  assert.equal(await whoAmI(), 'alice by socket');
  const stranger = createClient({ kubeconfig: { server: config.server }, userAgent: 'test' });
  await assert.rejects(stranger.get(nodes, { name: 'x' }), ConnectionError, 'a server of an unknown CA is not trusted');
  await stranger.close();
  rmSync(directory, { recursive: true, force: true });
});
