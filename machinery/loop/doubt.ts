/**
 * A write without an answer may or may not have happened: the connection broke, or the server gave up half-way. A creation tried again from a copy that does not
 * have the object yet would happen twice, for names are drawn by the server; after a size that was written unseen the next pass would count with the old one.
 * So the key is held until the server was asked what there is, and freshness then waits until the copy has seen it too. (A deletion needs no such care: its
 * uid makes a second one harmless.)
 */
import { StatusError } from '../api/status.ts';
import type { Client } from '../client/client.ts';
import { ConnectionError } from '../client/errors.ts';
import type { Clock } from '../process/clock.ts';
import type { Freshness } from './freshness.ts';
import type { Action } from './plan.ts';

export interface DoubtDeps {
  readonly client: Client;
  readonly freshness: Pick<Freshness, 'note'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** A request that still runs in the server after its connection broke is done by then. */
const SETTLE_MS = 500;
const RETRY_MS = 1000;

/** True when the write may have happened although it failed. */
export function isDoubtful(error: Error): boolean {
  if (error instanceof StatusError) return error.code >= 500;
  return error instanceof ConnectionError && !error.refused;
}

/** Settles when it is known what there is, or at the abort. */
export async function resolveDoubt(key: string, action: Action, deps: DoubtDeps): Promise<void> {
  const { client, freshness, clock, signal } = deps;
  const { type } = action;
  const namespace = ('object' in action ? action.object.metadata.namespace : action.name.namespace) ?? '';
  for (let waitMs = SETTLE_MS; !signal.aborted; waitMs = RETRY_MS) {
    await clock.sleep(waitMs, signal).catch(() => undefined);
    try {
      const { items } = await client.list(type, { namespace, metadataOnly: true });
      const newest = Math.max(0, ...items.map((item) => Number(item.metadata.resourceVersion)));
      freshness.note(key, type, { resourceVersion: String(newest) });
      return;
    } catch (error) {
      if (error instanceof StatusError && error.code < 500 && error.code !== 429) return; // not ours to read: nothing more can be known
    }
  }
}
