/**
 * What a chaos run remembers: the writes that were acknowledged or left unanswered, and every event that each watcher saw, as plain data that the checks
 * judge and that is kept on failure. A watcher resumes from the last revision it has seen, as a reflector does, and never lists again.
 */
import type { KubeObject } from '../../machinery/api/object.ts';
import type { Deployment } from '../../machinery/api/types/apps.v1.ts';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import type { Client } from '../../machinery/client/client.ts';
import type { ResourceType } from '../../machinery/client/resource-type.ts';

/** One write of a ConfigMap; each name has one writer, which writes one value after the other. */
export interface Write {
  readonly name: string;
  readonly value: number;
  /** Of the acknowledgement; absent when no answer came: it happened once or never. */
  readonly revision?: number;
}

/** What the checks need to know of an object. */
export interface ObjectFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  readonly terminating: boolean;
  /** uid of the controlling owner. */
  readonly owner?: string;
  readonly generation?: number;
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly maxSurge?: number | string;
  /** Pods: Ready. Deployments and ReplicaSets: how many are available. */
  readonly ready?: number;
  readonly updated?: number;
  /** Pods: it has ended and runs no more. */
  readonly ended?: boolean;
  /** Of a ConfigMap of the writers. */
  readonly value?: number;
}

export interface SeenEvent extends ObjectFacts {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
}

export interface Watched {
  readonly resource: string;
  /** What was there at the revision from which it watches. */
  readonly initial: readonly ObjectFacts[];
  readonly events: readonly SeenEvent[];
  readonly resumes: number;
  /** ERROR events and what else a watch should never answer. */
  readonly errors: readonly string[];
}

export function factsOf(object: KubeObject): ObjectFacts {
  const { metadata } = object;
  const { spec, status } = object as Partial<Deployment>;
  const { phase, conditions } = (object as Partial<Pod>).status ?? {};
  const { data } = object as { data?: Record<string, string> };
  const owner = metadata.ownerReferences?.find((reference) => reference.controller)?.uid;
  const ready =
    object.kind === 'Pod' ? Number(conditions?.some((c) => c.type === 'Ready' && c.status === 'True')) : status?.availableReplicas;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    revision: Number(metadata.resourceVersion),
    terminating: metadata.deletionTimestamp !== undefined,
    ...(owner !== undefined && { owner }),
    ...(metadata.generation !== undefined && { generation: metadata.generation }),
    ...(status?.observedGeneration !== undefined && { observedGeneration: status.observedGeneration }),
    ...(spec?.replicas !== undefined && { replicas: spec.replicas }),
    ...(spec?.strategy?.rollingUpdate?.maxSurge !== undefined && { maxSurge: spec.strategy.rollingUpdate.maxSurge }),
    ...(status?.updatedReplicas !== undefined && { updated: status.updatedReplicas }),
    ...((phase === 'Failed' || phase === 'Succeeded') && { ended: true }),
    ...(ready !== undefined && { ready: ready || 0 }),
    ...(data?.['value'] !== undefined && { value: Number(data['value']) }),
  };
}

export async function listFacts(client: Client, type: ResourceType): Promise<ObjectFacts[]> {
  // items of a list carry no kind of their own
  return (await client.list(type)).items.map((object) => factsOf({ ...object, kind: type.kind }));
}

export interface Watcher {
  readonly watched: Watched;
  stop(): Promise<void>;
}

const RESUME_MS = 20;

/** Of all namespaces, from now on. */
export async function startWatcher(client: Client, type: ResourceType): Promise<Watcher> {
  const { items, metadata } = await client.list(type);
  const initial = items.map((object) => factsOf({ ...object, kind: type.kind }));
  const watched = { resource: type.resource, initial, events: [] as SeenEvent[], resumes: 0, errors: [] as string[] };
  const abort = new AbortController();
  let resourceVersion = metadata.resourceVersion;
  const follow = async (): Promise<void> => {
    for (; !abort.signal.aborted; watched.resumes++) {
      try {
        for await (const event of client.watch(type, { resourceVersion, allowWatchBookmarks: true }, abort.signal)) {
          if (event.type === 'ERROR') {
            watched.errors.push(JSON.stringify(event.object));
            break;
          }
          resourceVersion = event.object.metadata.resourceVersion!;
          if (event.type !== 'BOOKMARK') watched.events.push({ type: event.type, ...factsOf({ ...event.object, kind: type.kind }) });
        }
      } catch {
        // the server is dead, frozen or starting
      }
      await sleep(RESUME_MS, abort.signal);
    }
  };
  const following = follow();
  return {
    watched,
    stop: async () => {
      abort.abort();
      await following;
    },
  };
}

/** Ends early, without an error, when the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
