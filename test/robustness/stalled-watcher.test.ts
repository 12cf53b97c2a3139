/** W11, over real connections: a client that does not read its watch is cut off, has seen a gapless beginning of what happened, and delays nobody. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { createClient } from '../../machinery/client/connect.ts';
import { type ClientConfig, readKubeconfig } from '../../machinery/client/kubeconfig.ts';
import { configmaps } from '../../machinery/client/resource-type.ts';
import { sleep } from '../../scripts/chaos/history.ts';
import { History } from './history.ts';
import { RecordedClient } from './recorded-client.ts';
import { bundleServer, Server } from './server.ts';
import { bare } from './write-traffic.ts';

const UPDATES = 60;
/** Together far more than the server keeps for one watcher and the system for one connection. */
const BYTES = 400_000;
const STALLED = 3;
/** Generous: the machine may be busy. */
const DELAY_MS = 1_000;

/** A watch of everything from `revision`, none of which is read. */
async function stalledWatch({ ca, cert, key }: ClientConfig, port: number, revision: number): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ca, cert, key });
  await once(socket, 'secureConnect');
  socket.pause();
  socket.on('error', () => undefined);
  socket.write(`GET /api/v1/configmaps?watch=true&resourceVersion=${revision} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return socket;
}

/** All that has arrived when it is read at last, and that the connection is over. */
async function readAll(socket: TLSSocket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.resume();
  await once(socket, 'close', { signal: AbortSignal.timeout(30_000) });
  return text;
}

test('a watcher that does not read is cut off and delays nobody', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'flyball-stalled-'));
  const bundle = await bundleServer();
  const server = await Server.make({ bundle: bundle.path, directory });
  const stop = new AbortController();
  t.after(async () => {
    stop.abort();
    await server.close();
    bundle.remove();
    rmSync(directory, { recursive: true, force: true });
  });
  await server.start();
  const client = createClient({ kubeconfig: server.kubeconfig, userAgent: 'reader/1.0' });
  const recorded = new RecordedClient('c', client, new History());
  const object = (i: number) => ({
    ...bare(configmaps),
    metadata: { name: 'big', namespace: 'default' },
    data: { i: String(i), x: 'x'.repeat(BYTES) },
  });
  const { answer } = await recorded.create(configmaps, object(0));
  const from = answer!.revision!;

  const config = readKubeconfig(server.kubeconfig);
  const port = Number(new URL(config.server).port);
  const stalled = await Promise.all(Array.from({ length: STALLED }, () => stalledWatch(config, port, from)));
  const seenAt = new Map<number, number>();
  const onEvent = ({ revision }: { revision: number }): void => void seenAt.set(revision, performance.now());
  const watching = recorded.watch({ type: configmaps, namespace: 'default', name: 'big' }, from, { signal: stop.signal, onEvent });

  const delays: number[] = [];
  const written: number[] = [];
  for (let i = 1; i <= UPDATES; i++) {
    const { answer: updated } = await recorded.update(configmaps, object(i));
    const last = updated!.revision!;
    written.push(last);
    const acknowledged = performance.now();
    while (!seenAt.has(last) && performance.now() < acknowledged + 10_000) await sleep(2);
    assert.ok(seenAt.has(last), `update ${i} was shown to the one who reads`);
    delays.push(seenAt.get(last)! - acknowledged);
  }
  delays.sort((a, b) => a - b);
  t.diagnostic(`delays: median ${delays[UPDATES / 2]!.toFixed(1)} ms, most ${delays.at(-1)!.toFixed(1)} ms`);
  assert.ok(delays[UPDATES / 2]! < DELAY_MS);

  for (const socket of stalled) {
    const told = [...(await readAll(socket)).matchAll(/"resourceVersion":"(\d+)"/g)].map(([, revision]) => Number(revision));
    assert.ok(told.length < UPDATES, 'it was cut off');
    assert.deepEqual(
      told,
      Array.from(told, (_, i) => from + 1 + i),
      'what it was told has no gap',
    );
  }
  stop.abort();
  await watching;
  await client.close();
});
