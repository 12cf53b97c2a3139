/**
 * A loop of the API server over its own store: looks at every change below some prefixes, and now and then anyway. Mirrors the small controllers that
 * kube-apiserver runs by itself.
 *
 * A change only says that it is time to look; what to do the pass decides from what is stored. A pass that failed is done again soon.
 */
import type { Plain } from '../../machinery/api/plain.ts';
import { isReason } from '../../machinery/api/status.ts';
import type { Api } from '../handlers/api.ts';
import { appliedObject } from '../handlers/apply.ts';
import { change } from '../handlers/update.ts';
import { internalContext } from '../http/internal-context.ts';

const RETRY_MS = 1_000;

export interface LevelLoop {
  /** Of store keys. */
  readonly prefixes: readonly string[];
  readonly intervalMs: number;
  /** What a failed pass is logged as. */
  readonly complaint: string;
  /** `isDue` is true when the interval has passed, whatever else happened. */
  pass(isDue: boolean): Promise<void>;
}

/** Runs until the signal aborts. */
export async function runLevelLoop(api: Api, loop: LevelLoop, signal: AbortSignal): Promise<void> {
  let wake = (): void => {};
  let isDirty = true;
  const subscriptions = loop.prefixes.map((prefix) =>
    api.store.watch(prefix, api.store.revision, (changes) => {
      if (changes.length === 0) return;
      isDirty = true;
      wake();
    }),
  );
  let dueAt = api.clock.now().getTime() + loop.intervalMs;
  let pauseMs = loop.intervalMs;
  while (!signal.aborted) {
    if (!isDirty) await pause(api, { pauseMs, signal, onWake: (end) => (wake = end) });
    if (signal.aborted) break;
    isDirty = false;
    const now = api.clock.now().getTime();
    const isDue = now >= dueAt;
    if (isDue) dueAt = now + loop.intervalMs;
    try {
      await loop.pass(isDue);
      pauseMs = loop.intervalMs;
    } catch (err) {
      pauseMs = RETRY_MS;
      api.logger.warn({ err }, loop.complaint);
    }
  }
  for (const subscription of subscriptions) subscription.close();
}

interface Pause {
  readonly pauseMs: number;
  readonly signal: AbortSignal;
  onWake(end: () => void): void;
}

/** Sleeps, unless woken. */
async function pause(api: Api, { pauseMs, signal, onWake }: Pause): Promise<void> {
  const sleep = new AbortController();
  const end = (): void => sleep.abort();
  onWake(end);
  signal.addEventListener('abort', end, { once: true });
  await api.clock.sleep(pauseMs, sleep.signal).catch(() => {});
  signal.removeEventListener('abort', end);
}

export interface Said {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly name: string;
  readonly manager: string;
  readonly status: object;
}

/** Applies a part of the status of a cluster-scoped v1 object, so that the rest stays whose it is. An object that is gone is no error. */
export async function applyStatus(api: Api, { group, resource, kind, name, manager, status }: Said): Promise<void> {
  const served = api.catalog.known(group, 'v1', resource)!;
  const internal = internalContext('update', '', name);
  const context = { ...internal, info: { ...internal.info, subresource: 'status' } };
  const options = { dryRun: false, fieldManager: manager, fieldValidation: 'Ignore' as const, force: true };
  const config = { apiVersion: `${group}/v1`, kind, metadata: { name }, status } as unknown as Plain;
  try {
    await change(api, context, {
      served,
      options,
      subresource: 'status',
      create: false,
      put: false,
      owned: true,
      next: (live) => appliedObject(api, context, served, { config, live, options }),
    });
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
  }
}
