/** The API server killed under write load, again and again: no acknowledged write is lost, no watcher misses or repeats anything, pods keep running. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '../../machinery/api/types/core.v1.ts';
import type { Client } from '../../machinery/client/client.ts';
import { createClient } from '../../machinery/client/connect.ts';
import { configmaps, deployments } from '../../machinery/client/resource-type.ts';
import { seededRandom } from '../../machinery/process/random.ts';
import { startTestCluster } from '../fixtures/cluster.ts';
import { eventually } from '../fixtures/eventually.ts';
import { complete, deployment } from '../fixtures/workloads.ts';

const KILLS = 20;
const WRITERS = 4;
const WATCHERS = 3;
const namespace = 'default';

interface Acknowledged {
  readonly name: string;
  readonly revision: number;
}

const configmap = (name: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels: { load: 'yes' } },
  data: { name },
});

/** Creates objects without pause, one name after the other; an unanswered create is left open (it happened once or never). */
async function write(client: Client, writer: number, signal: AbortSignal, acknowledged: Acknowledged[]): Promise<void> {
  for (let i = 0; !signal.aborted; i++) {
    const name = `load-${writer}-${i}`;
    try {
      const made = await client.create(configmaps, configmap(name));
      acknowledged.push({ name, revision: Number(made.metadata.resourceVersion) });
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

interface Seen {
  readonly name: string;
  readonly revision: number;
}

/** Watches from `from`, resuming from the last revision after each break, as a reflector does. */
async function watch(client: Client, from: string, signal: AbortSignal, seen: Seen[]): Promise<void> {
  let revision = from;
  while (!signal.aborted) {
    try {
      const params = { namespace, labelSelector: 'load=yes', resourceVersion: revision, allowWatchBookmarks: true };
      for await (const event of client.watch(configmaps, params, signal)) {
        if (event.type === 'ERROR') throw new Error(JSON.stringify(event.object));
        revision = event.object.metadata.resourceVersion!;
        if (event.type !== 'BOOKMARK') seen.push({ name: `${event.type} ${event.object.metadata.name}`, revision: Number(revision) });
      }
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

test(`${KILLS} kills of the API server under load lose no acknowledged write and leave no gap in any watch`, async (t) => {
  const seed = Number(process.env.FLYBALL_SEED ?? Date.now() % 1e6);
  t.diagnostic(`seed ${seed}`);
  const random = seededRandom(seed);
  const { cluster, client } = await startTestCluster(t);
  await client.create(deployments, deployment('web'));
  const running = (await complete(client, 'web'))
    .map((pod) => `${pod.metadata.uid} ${pod.status!.containerStatuses![0]!.containerID}`)
    .sort();

  const { metadata } = await client.list(configmaps, { namespace });
  const stop = new AbortController();
  const clients = Array.from({ length: WRITERS + WATCHERS }, () => createClient({ kubeconfig: cluster.kubeconfig, userAgent: 'load/1.0' }));
  const acknowledged: Acknowledged[] = [];
  const writing = clients.slice(0, WRITERS).map((c, i) => write(c, i, stop.signal, acknowledged));
  const seen = Array.from({ length: WATCHERS }, (): Seen[] => []);
  const stopWatching = new AbortController();
  const watching = clients.slice(WRITERS).map((c, i) => watch(c, metadata.resourceVersion, stopWatching.signal, seen[i]!));

  for (let kill = 0; kill < KILLS; kill++) {
    const before = acknowledged.length;
    await eventually('writes are acknowledged', () => acknowledged.length > before + 20);
    await new Promise((resolve) => setTimeout(resolve, random.integer(60)));
    await cluster.kill('apiserver');
    await cluster.start('apiserver');
  }
  stop.abort();
  await Promise.all(writing);
  t.diagnostic(`${acknowledged.length} acknowledged writes`);

  const stored = new Map((await client.list(configmaps, { namespace, labelSelector: 'load=yes' })).items.map((o) => [o.metadata.name, o]));
  const lost = acknowledged.filter(({ name, revision }) => Number(stored.get(name)?.metadata.resourceVersion) !== revision);
  assert.deepEqual(lost, [], 'acknowledged and not there as acknowledged');

  const truth = [...stored.values()]
    .map((o) => ({ name: `ADDED ${o.metadata.name}`, revision: Number(o.metadata.resourceVersion) }))
    .sort((a, b) => a.revision - b.revision);
  for (const [i, events] of seen.entries()) {
    await eventually(`watcher ${i} has seen everything`, () => events.length >= truth.length);
    assert.deepEqual(events, truth, `watcher ${i} saw every write once, in order`);
  }
  stopWatching.abort();
  await Promise.all(watching);
  await Promise.all(clients.map((c) => c.close()));

  await t.test('the kubelets kept their pods running and everyone reconnects', async () => {
    const after = (await complete(client, 'web'))
      .map((pod) => `${pod.metadata.uid} ${pod.status!.containerStatuses![0]!.containerID}`)
      .sort();
    assert.deepEqual(after, running, 'the same containers');
    await client.patch(deployments, { namespace, name: 'web' }, 'application/merge-patch+json', { spec: { replicas: 5 } });
    await complete(client, 'web');
  });
});
