/**
 * Removes pods that nobody else will: those of a node that does not exist, those being deleted that never had a node, those on a node declared out of service,
 * and the oldest finished ones when there are too many. Mirrors upstream `pkg/controller/podgc`.
 *
 * No plan: that a node is really gone must be asked of the server before its pods are removed without grace.
 * Invariant: a pod of a missing node is removed only after the node was missing for the quarantine time and a live read did not find it.
 */

import { isReason } from '../machinery/api/status.ts';
import type { Node, Pod } from '../machinery/api/types/core.v1.ts';
import type { Client } from '../machinery/client/client.ts';
import { nodes, pods } from '../machinery/client/resource-type.ts';
import type { ControllerContext, Reconciler } from '../machinery/loop/controller.ts';
import { readyStatus } from './nodelifecycle/taints.ts';
import { conditionsPatch, isFinished } from './pods.ts';

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

export interface PodGcOptions {
  readonly terminatedPodGcThreshold: number;
  readonly podGcPeriodMs: number;
  readonly podGcQuarantineMs: number;
}

export function podGarbageCollector(options: PodGcOptions): Reconciler {
  return { name: 'podgc', component: 'pod-garbage-collector', run: (context) => run(options, context) };
}

async function run(options: PodGcOptions, { client, informers, clock, logger, signal }: ControllerContext): Promise<void> {
  const podCopies = informers.for(pods);
  const nodeCopies = informers.for(nodes);
  await Promise.all([podCopies.reached(1, signal), nodeCopies.reached(1, signal)]).catch(() => undefined);
  /** By name of a missing node: since when. */
  const missing = new Map<string, number>();
  while (!signal.aborted) {
    await clock.sleep(options.podGcPeriodMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    const known = new Map(nodeCopies.list().map((node) => [node.metadata.name ?? '', node]));
    const all = podCopies.list();
    const gone = await surelyGone(client, all, known, { missing, nowMs: clock.monotonicMs(), quarantineMs: options.podGcQuarantineMs });
    for (const { pod, why } of podsToRemove(all, known, gone, options.terminatedPodGcThreshold)) {
      await remove(client, pod, why, clock.now()).catch((error: unknown) => {
        if (!signal.aborted)
          logger.warn(
            { controller: 'podgc', pod: `${pod.metadata.namespace}/${pod.metadata.name}`, err: error },
            'pod could not be removed',
          );
      });
    }
  }
}

interface Quarantine {
  readonly missing: Map<string, number>;
  readonly nowMs: number;
  readonly quarantineMs: number;
}

/** Names of nodes that pods are bound to and that are surely gone. */
async function surelyGone(
  client: Client,
  all: readonly Pod[],
  known: ReadonlyMap<string, Node>,
  { missing, nowMs, quarantineMs }: Quarantine,
): Promise<Set<string>> {
  const named = new Set(all.map((pod) => pod.spec.nodeName ?? '').filter((name) => name !== '' && !known.has(name)));
  for (const name of missing.keys()) if (!named.has(name)) missing.delete(name);
  const gone = new Set<string>();
  for (const name of named) {
    const since = missing.get(name);
    if (since === undefined) missing.set(name, nowMs);
    else if (nowMs - since >= quarantineMs) {
      const found = await client.get(nodes, { name }).then(
        () => true,
        (error: unknown) => !isReason(error, 'NotFound'),
      );
      if (!found) gone.add(name);
    }
  }
  return gone;
}

export type Why = 'terminated' | 'orphaned' | 'unscheduled' | 'out-of-service';

export function podsToRemove(
  all: readonly Pod[],
  known: ReadonlyMap<string, Node>,
  gone: ReadonlySet<string>,
  threshold: number,
): { pod: Pod; why: Why }[] {
  const chosen = new Map<Pod, Why>();
  for (const pod of all) {
    const node = known.get(pod.spec.nodeName ?? '');
    const outOfService = node?.spec.taints?.some((taint) => taint.key === OUT_OF_SERVICE) && readyStatus(node) !== 'True';
    if (gone.has(pod.spec.nodeName ?? '')) chosen.set(pod, 'orphaned');
    else if (pod.metadata.deletionTimestamp !== undefined && !pod.spec.nodeName) chosen.set(pod, 'unscheduled');
    else if (pod.metadata.deletionTimestamp !== undefined && outOfService) chosen.set(pod, 'out-of-service');
  }
  const finished = all.filter((pod) => isFinished(pod) && !chosen.has(pod)).sort(evictedThenOldest);
  const surplus = threshold > 0 ? Math.max(0, finished.length - threshold) : 0;
  for (const pod of finished.slice(0, surplus)) chosen.set(pod, 'terminated');
  return [...chosen].map(([pod, why]) => ({ pod, why }));
}

function evictedThenOldest(a: Pod, b: Pod): number {
  const evicted = Number(b.status?.reason === 'Evicted') - Number(a.status?.reason === 'Evicted');
  return evicted || ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? -1 : 1);
}

/** A pod that did not finish is marked Failed first, so that whoever counts results sees the end; then it goes without grace. */
async function remove(client: Client, pod: Pod, why: Why, now: Date): Promise<void> {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  const ignoreGone = (error: unknown): void => {
    if (!isReason(error, 'NotFound', 'Conflict')) throw error;
  };
  if (!isFinished(pod)) {
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
    };
    const status = { phase: 'Failed', ...(why === 'orphaned' && conditionsPatch(condition, now)) };
    await client
      .patch(pods, { namespace, name }, 'application/strategic-merge-patch+json', { metadata: { uid }, status }, { subresource: 'status' })
      .catch(ignoreGone);
  }
  await client.delete(pods, { namespace, name }, { uid, gracePeriodSeconds: 0 }).catch(ignoreGone);
}
