/** Reflector and informer against a server that breaks off, refuses, expires and restarts (W2, W3, W6). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../test/fixtures/eventually.ts';
import type { ConfigMap } from '../api/types/core.v1.ts';
import { type Clock, systemClock } from '../process/clock.ts';
import { silentLogger } from '../process/logger.ts';
import { seededRandom } from '../process/random.ts';
import { settle } from '../process/testing/fake-clock.ts';
import { createClient } from './connect.ts';
import type { Informer } from './informer.ts';
import { createInformerFactory } from './informers.ts';
import { configmaps } from './resource-type.ts';
import { type Answer, frame, scriptServer, statusBody } from './testing/script-server.ts';

const map = (name: string, revision: number, value = ''): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'ns', name, uid: `uid-${name}`, resourceVersion: String(revision) },
  data: { value },
});
const initialEnd = (revision: number): string =>
  frame('BOOKMARK', {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { resourceVersion: String(revision), annotations: { 'k8s.io/initial-events-end': 'true' } },
  });
const bookmark = (revision: number): string =>
  frame('BOOKMARK', { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: String(revision) } });

async function follow(t: TestContext, answer: Answer, clock: Clock = systemClock) {
  const server = await scriptServer(answer);
  const client = createClient({ kubeconfig: { server: server.url }, userAgent: 'test' });
  const factory = createInformerFactory(client, { clock, random: seededRandom(1), logger: silentLogger });
  const stop = new AbortController();
  const informer = factory.for(configmaps);
  const changes: string[] = [];
  informer.addHandler(({ object, old }) => {
    changes.push(
      `${old ? (object ? 'changed' : 'deleted') : 'added'} ${(object ?? old)?.metadata.name}@${(object ?? old)?.metadata.resourceVersion}`,
    );
  });
  factory.start(stop.signal);
  t.after(async () => {
    stop.abort(new Error('test ended'));
    await factory.done;
    await client.close();
    await server.kill();
  });
  return { server, informer, changes };
}

const within = (informer: Informer<ConfigMap>, revision: number): Promise<void> => informer.reached(revision, AbortSignal.timeout(5_000));

test('the full state comes through the watch and is shown only when it is complete', async (t) => {
  let finish = (): void => undefined;
  let sent = (): void => undefined;
  const half = new Promise<void>((resolve) => {
    sent = resolve;
  });
  const { informer, changes, server } = await follow(t, (_request, response) => {
    finish = () => response.write(initialEnd(7) + frame('MODIFIED', map('a', 8, 'x')) + frame('DELETED', map('b', 9)));
    response.write(frame('ADDED', map('a', 3)) + frame('ADDED', map('b', 5)), sent);
  });
  await half;
  await settle();
  assert.equal(informer.synced, false);
  assert.deepEqual(changes, []);
  finish();
  await within(informer, 9);
  assert.deepEqual(changes, ['added a@3', 'added b@5', 'changed a@8', 'deleted b@5']);
  assert.equal(informer.get('ns/a')?.data?.['value'], 'x');
  assert.deepEqual(
    informer.list().map((object) => object.metadata.name),
    ['a'],
  );
  assert.match(
    server.asked[0] ?? '',
    /^GET \/api\/v1\/configmaps\?watch=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&sendInitialEvents=true&timeoutSeconds=\d+$/,
  );
});

test('a watch that ends is continued where it ended, bookmarks included', async (t) => {
  let watches = 0;
  const { informer, server } = await follow(t, (_request, response) => {
    watches++;
    if (watches === 1) response.end(initialEnd(7) + bookmark(20));
    else response.write(frame('ADDED', map('a', 21)));
  });
  await within(informer, 21);
  assert.match(server.asked[1] ?? '', /resourceVersion=20/);
  assert.doesNotMatch(server.asked[1] ?? '', /sendInitialEvents/);
});

test('a server that refuses initial events is listed by pages, and only asked once for them', async (t) => {
  const { informer, server } = await follow(t, (_request, response, url) => {
    const query = url.searchParams;
    if (query.get('sendInitialEvents')) {
      response.writeHead(422, { 'content-type': 'application/json' }).end(statusBody(422, 'Invalid', 'sendInitialEvents is forbidden'));
    } else if (query.get('watch')) response.write(frame('ADDED', map('c', 12)));
    else {
      const first = query.get('continue') === null;
      const items = [first ? map('a', 3) : map('b', 4)].map(({ metadata, data }) => ({ metadata, data }));
      response.end(
        JSON.stringify({
          kind: 'ConfigMapList',
          apiVersion: 'v1',
          metadata: { resourceVersion: '11', ...(first && { continue: 'next' }) },
          items,
        }),
      );
    }
  });
  await within(informer, 12);
  assert.deepEqual(
    informer.list('ns').map((object) => `${object.kind} ${object.metadata.name}`),
    ['ConfigMap a', 'ConfigMap b', 'ConfigMap c'],
  );
  assert.equal(server.asked.filter((path) => path.includes('sendInitialEvents')).length, 1);
});

test('W3: 410 in a watch costs a new full state, and what vanished meanwhile is told as deleted', async (t) => {
  let watches = 0;
  const { informer, changes } = await follow(t, (_request, response) => {
    watches++;
    if (watches === 1)
      response.end(
        frame('ADDED', map('a', 3)) +
          frame('ADDED', map('b', 4)) +
          initialEnd(5) +
          frame('ERROR', JSON.parse(statusBody(410, 'Expired', 'too old resource version'))),
      );
    else response.write(frame('ADDED', map('b', 4)) + frame('ADDED', map('c', 40)) + initialEnd(41));
  });
  await within(informer, 41);
  assert.deepEqual(changes.slice(2), ['added c@40', 'deleted a@3']);
});

test('a restarted server is found within a second, without a new full state', async (t) => {
  const waitsMs: number[] = [];
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => {
      waitsMs.push(ms);
      return systemClock.sleep(ms, signal);
    },
  };
  const { informer, server } = await follow(
    t,
    (_request, response) => {
      response.write(initialEnd(7));
    },
    clock,
  );
  await within(informer, 7);
  await server.kill();
  await eventually('it has tried so often that it waits as long as it ever will', () => waitsMs.length >= 6);
  const again = await scriptServer((_request, response) => {
    response.write(frame('ADDED', map('a', 9)));
  }, server.port);
  t.after(() => again.kill());
  await within(informer, 9);
  assert.ok(Math.max(...waitsMs) < 1_000, `waited ${waitsMs.join(', ')} ms`);
  assert.match(again.asked[0] ?? '', /resourceVersion=7/);
});

test('a watch cut in the middle of an event loses nothing', async (t) => {
  let watches = 0;
  const { informer, changes } = await follow(t, (_request, response) => {
    watches++;
    if (watches > 1) {
      response.write(frame('ADDED', map('b', 9)));
      return;
    }
    response.write(initialEnd(7) + frame('ADDED', map('a', 8)) + frame('ADDED', map('b', 9)).slice(0, 40));
    setImmediate(() => response.destroy());
  });
  await within(informer, 9);
  assert.deepEqual(changes, ['added a@8', 'added b@9']);
});

test('a large object arrives whole over many chunks', async (t) => {
  const large = 'é'.repeat(700_000);
  const { informer } = await follow(t, (_request, response) => {
    response.write(initialEnd(1));
    const bytes = Buffer.from(frame('ADDED', map('a', 2, large)));
    for (let at = 0; at < bytes.length; at += 65_537) response.write(bytes.subarray(at, at + 65_537));
  });
  await within(informer, 2);
  assert.equal(informer.get('ns/a')?.data?.['value'], large);
});

test('handlers added later are told what is there', async (t) => {
  const { informer } = await follow(t, (_request, response) => {
    response.write(frame('ADDED', map('a', 3)) + initialEnd(5));
  });
  await within(informer, 5);
  const seen: string[] = [];
  informer.addHandler(({ object }) => seen.push(object?.metadata.name ?? ''));
  assert.deepEqual(seen, ['a']);
});

test('a quiet watch that breaks again and again is taken up each time at once', async (t) => {
  let watches = 0;
  const { informer } = await follow(t, (_request, response) => {
    watches++;
    if (watches === 1) response.write(initialEnd(7));
    else response.flushHeaders();
    if (watches < 7) systemClock.setTimer(300, () => response.destroy());
    else response.write(bookmark(8));
  });
  const startedMs = systemClock.monotonicMs();
  await within(informer, 8);
  const tookMs = systemClock.monotonicMs() - startedMs;
  assert.ok(tookMs < 3_500, `took ${tookMs} ms for six breaks of 300 ms`);
});
