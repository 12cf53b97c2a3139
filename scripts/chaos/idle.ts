/**
 * Looks for writes while nobody asks for anything. What a storm leaves to do (events that are being counted, a node's status) may still take a moment, so
 * several windows are looked at, and one without a write but leases is enough; the last one is told.
 */
import type { Client } from '../../machinery/client/client.ts';
import {
  configmaps,
  deployments,
  endpointslices,
  events,
  leases,
  namespaces,
  nodes,
  pods,
  replicasets,
} from '../../machinery/client/resource-type.ts';
import { idleWrites } from './checks.ts';
import { sleep, startWatcher } from './history.ts';

const WINDOWS = 4;
const WINDOW_MS = 6_000;
/** For events of the window that are still on their way. */
const GRACE_MS = 300;
const ATTRIBUTED = [leases, nodes, events, pods, deployments, replicasets, namespaces, configmaps, endpointslices] as const;

export async function writesWhileIdle(client: Client): Promise<string[]> {
  let last: string[] = [];
  for (let window = 0; window < WINDOWS; window++) {
    await sleep(1_000);
    last = await lookOnce(client);
    if (last.length === 0) break;
  }
  return last;
}

async function lookOnce(client: Client): Promise<string[]> {
  const watchers = await Promise.all(ATTRIBUTED.map((type) => startWatcher(client, type)));
  try {
    const from = await revisionOf(client);
    await sleep(WINDOW_MS);
    const to = await revisionOf(client);
    await sleep(GRACE_MS);
    const seen = watchers.map(({ watched: { resource, events: all } }) => ({
      resource,
      events: all.filter(({ revision }) => revision > from && revision <= to),
    }));
    return idleWrites(to - from, seen);
  } finally {
    await Promise.all(watchers.map((watcher) => watcher.stop()));
  }
}

async function revisionOf(client: Client): Promise<number> {
  return Number((await client.list(configmaps, { limit: 1 })).metadata.resourceVersion);
}
