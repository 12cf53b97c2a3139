/** What an API server under a flood still does, in small; `npm run robustness -- --tier nightly` has the large figures. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { postRequest, sendAll } from './clients.ts';
import { runDisconnects } from './disconnects.ts';
import { runFlood } from './flood.ts';
import { bundleFloodedServer, type FloodedServer, startFloodedServer } from './server.ts';
import { runSlowLists } from './slow-lists.ts';
import { runUnreadWatches } from './unread-watches.ts';

async function flooded(t: TestContext, ...args: string[]): Promise<FloodedServer> {
  const directory = mkdtempSync(join(tmpdir(), 'flyball-overload-'));
  const bundle = await bundleFloodedServer();
  const server = await startFloodedServer(bundle.path, directory, args);
  t.after(async () => {
    server.signal('SIGKILL');
    await server.ended;
    bundle.remove();
    rmSync(directory, { recursive: true, force: true });
  });
  return server;
}

test('watches that nobody reads are cut off without a gap, over both versions of HTTP, and hold little', {
  timeout: 120_000,
}, async (t) => {
  const server = await flooded(t);
  const load = { sockets: 8, sessions: 1, streamsPerSession: 20, events: 250, eventBytes: 80_000, distinct: true };
  const { codes, delaysMs, stillOpen, shown, firstRevision, rssMb } = await runUnreadWatches(server, load);
  t.diagnostic(
    `resident: ${Object.entries(rssMb)
      .map(([when, mb]) => `${when} ${Math.round(mb)} MiB`)
      .join(', ')}`,
  );
  assert.deepEqual([...codes], [[201, load.events]]);
  assert.equal(delaysMs.length, load.events, 'who reads has seen everything');
  assert.equal(stillOpen, 0);
  for (const revisions of shown) {
    assert.ok(revisions.length < load.events);
    assert.deepEqual(
      revisions,
      Array.from(revisions, (_, i) => firstRevision + 1 + i),
    );
  }
  assert.ok(rssMb.most < 512, `${rssMb.most} MiB`);
});

test('a flood is answered 429, leases, probes and administrators are served, and it passes', { timeout: 120_000 }, async (t) => {
  const server = await flooded(t, '--max-requests-inflight', '20', '--max-mutating-requests-inflight', '10');
  const { codes, leases, health, administrator, rssMb, recoveryMs } = await runFlood(server, {
    clients: 100,
    floodMs: 2_000,
    objects: 100,
    objectBytes: 10_000,
  });
  t.diagnostic(
    `codes ${[...codes].join(' ')}; ${leases.ms.length} renewals; ${Math.round(rssMb.most)} MiB; recovered in ${Math.round(recoveryMs)} ms`,
  );
  assert.deepEqual(
    [...codes.keys()].filter((code) => ![200, 201, 429].includes(code)),
    [],
  );
  assert.ok((codes.get(429) ?? 0) > 0);
  for (const served of [leases, health, administrator]) {
    assert.ok(served.ms.length > 0);
    assert.deepEqual(served.refused, []);
  }
  assert.ok(rssMb.most < 512, `${rssMb.most} MiB`);
});

test('large lists that are read slowly hold little', { timeout: 120_000 }, async (t) => {
  const server = await flooded(t);
  const { rssMb, cutOff } = await runSlowLists(server, { clients: 30, objects: 300, objectBytes: 20_000, ms: 2_000 });
  t.diagnostic(`resident: ${Math.round(rssMb.before)}, at most ${Math.round(rssMb.most)} MiB; ${cutOff} cut off`);
  assert.ok(rssMb.most < 512, `${rssMb.most} MiB`);
});

test('clients that go away leave nothing behind, and no write of theirs', { timeout: 120_000 }, async (t) => {
  const server = await flooded(t);
  const { heapMb, resources, openWatches } = await runDisconnects(server, 80);
  t.diagnostic(`heap ${heapMb.before.toFixed(1)} to ${heapMb.after.toFixed(1)} MiB, ${resources.before} to ${resources.after} resources`);
  assert.equal(openWatches, 0);
  assert.ok(heapMb.after < heapMb.before + 10);
  assert.ok(resources.after < resources.before + 20);
  const written = await sendAll(server.credentials, 1, 1, () =>
    postRequest('/api/v1/namespaces/default/configmaps', '{"metadata":{"name":"never-written"}}'),
  );
  assert.deepEqual([...written], [[201, 1]]);
});
