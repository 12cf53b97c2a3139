/**
 * Empties a namespace that is being deleted, then lets it go. Mirrors upstream `pkg/controller/namespace`.
 *
 * No plan: what is in a namespace is known only to the server (any kind, also those no loop keeps a copy of), so each pass asks it.
 * Invariant: the finalizer `kubernetes` is taken off only after every resource that can be listed was seen empty by a read made after the deletions.
 * Pods go first and everything else waits for them, so that they end in the surroundings they know.
 */
import { isReason } from '../machinery/api/status.ts';
import type { Namespace } from '../machinery/api/types/core.v1.ts';
import type { Client } from '../machinery/client/client.ts';
import { namespaces, pods } from '../machinery/client/resource-type.ts';
import type { ControllerContext, Reconciler } from '../machinery/loop/controller.ts';
import { Workqueue } from '../machinery/loop/workqueue.ts';
import { type DiscoveredResource, discoverResources, preferred } from './discovery.ts';
import { type DeletionProgress, deletionConditions } from './namespace/conditions.ts';

const FINALIZER = 'kubernetes';
const DEFAULT_WORKERS = 10;
/** Resources of one namespace that are emptied at once. */
const PARALLEL = 8;
const FIRST_RECHECK_MS = 100;
const LAST_RECHECK_MS = 5_000;

export function namespaceController(workers = DEFAULT_WORKERS): Reconciler {
  return { name: 'namespace', component: 'namespace-controller', run: (context) => run(context, workers) };
}

async function run(context: ControllerContext, workers: number): Promise<void> {
  const { client, clock, signal } = context;
  const logger = context.logger.child({ controller: 'namespace' });
  const queue = new Workqueue(clock);
  const rechecks = new Map<string, number>();
  const informer = context.informers.for(namespaces);
  informer.addHandler(({ object, old }) => {
    if (object === undefined) rechecks.delete(old?.metadata.name ?? '');
    else if (object.metadata.deletionTimestamp !== undefined) queue.add(object.metadata.name ?? '');
  });
  signal.addEventListener('abort', () => queue.close(), { once: true });
  await informer.reached(1, signal).catch(() => undefined);

  const worker = async (): Promise<void> => {
    for (let name = await queue.get(); name !== undefined; name = await queue.get()) {
      try {
        const done = await emptyNamespace(client, name, () => clock.now());
        if (done) rechecks.delete(name);
        else queue.addAfter(name, nextRecheck(rechecks, name));
        queue.forget(name);
      } catch (error) {
        if (!signal.aborted) {
          logger[isReason(error, 'Conflict') ? 'debug' : 'warn']({ namespace: name, err: error }, 'pass failed, will be tried again');
          queue.addRateLimited(name);
        }
      } finally {
        queue.done(name);
      }
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
}

/** Growing pauses: most of what is waited for is gone in a moment, some takes its grace period. */
function nextRecheck(rechecks: Map<string, number>, name: string): number {
  const pauseMs = Math.min(rechecks.get(name) ?? FIRST_RECHECK_MS, LAST_RECHECK_MS);
  rechecks.set(name, pauseMs * 2);
  return pauseMs;
}

/** One pass. True when nothing is left to do for this namespace. */
async function emptyNamespace(client: Client, name: string, now: () => Date): Promise<boolean> {
  const namespace = await client.get(namespaces, { name }).catch((error: unknown) => {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  });
  if (namespace?.metadata.deletionTimestamp === undefined || !namespace.spec?.finalizers?.includes(FINALIZER)) return true;
  const { resources, failure } = await discoverResources(client);
  const found = preferred(resources, ['list', 'delete']).filter((resource) => resource.namespaced);
  const progress: Progress = { discoveryError: failure, deletionErrors: [], remaining: new Map(), finalizers: new Map() };
  const podsLeft = await emptyResource(
    client,
    name,
    { ...pods, verbs: ['list', 'delete', 'deletecollection'] },
    { ...progress, remaining: new Map(), finalizers: new Map() },
  );
  if (podsLeft === 0) {
    const rest = found.filter((resource) => resource.resource !== pods.resource || resource.group !== pods.group);
    await inParallel(rest, async (resource) => void (await emptyResource(client, name, resource, progress)));
  }
  const told = await tell(client, namespace, progress, now());
  if (podsLeft > 0 || progress.remaining.size > 0 || progress.deletionErrors.length > 0 || failure) return false;
  const finalizers = (told.spec?.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
  await client.update(namespaces, { ...told, spec: { ...told.spec, finalizers } }, { subresource: 'finalize' });
  return true;
}

interface Progress extends DeletionProgress {
  readonly deletionErrors: Error[];
  readonly remaining: Map<string, number>;
  readonly finalizers: Map<string, number>;
}

/** Deletes what there is of one resource and counts what stays. */
async function emptyResource(client: Client, namespace: string, type: DiscoveredResource, progress: Progress): Promise<number> {
  try {
    const before = await client.list(type, { namespace, metadataOnly: true });
    if (before.items.length === 0) return 0;
    if (type.verbs.includes('deletecollection')) await client.deleteCollection(type, { namespace }, { propagationPolicy: 'Background' });
    else {
      for (const { metadata } of before.items) {
        await client
          .delete(type, { namespace, name: metadata.name ?? '' }, { propagationPolicy: 'Background', uid: metadata.uid ?? '' })
          .catch((error: unknown) => {
            if (!isReason(error, 'NotFound', 'Conflict')) throw error;
          });
      }
    }
    const { items } = await client.list(type, { namespace, metadataOnly: true });
    if (items.length === 0) return 0;
    progress.remaining.set(`${type.resource}.${type.group}`, items.length);
    for (const finalizer of items.flatMap((item) => item.metadata.finalizers ?? []))
      progress.finalizers.set(finalizer, (progress.finalizers.get(finalizer) ?? 0) + 1);
    return items.length;
  } catch (error) {
    if (isReason(error, 'NotFound', 'MethodNotAllowed')) return 0; // the resource went away, or cannot be emptied
    progress.deletionErrors.push(error instanceof Error ? error : new Error(String(error)));
    return 1;
  }
}

async function tell(client: Client, namespace: Namespace, progress: Progress, now: Date): Promise<Namespace> {
  const before = namespace.status?.conditions ?? [];
  const conditions = deletionConditions(before, progress, now);
  if (conditions === before && namespace.status?.phase === 'Terminating') return namespace;
  const status: Namespace['status'] = { ...namespace.status, phase: 'Terminating', conditions: [...conditions] };
  return client.update(namespaces, { ...namespace, status }, { subresource: 'status' });
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  const lane = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: PARALLEL }, lane));
}
