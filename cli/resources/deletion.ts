/** Deletes one object and waits until that very object (by uid) is gone. Mirrors kubectl `cmd/wait/delete.go`. */
import type { AnyObject } from '../../machinery/api/object.ts';
import { isReason } from '../../machinery/api/status.ts';
import { resourcePath } from '../api.ts';
import type { Resource } from '../discovery/mapper.ts';
import { CliError } from '../errors.ts';
import type { Session } from '../session.ts';

export interface Deletable {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
}

/** The uid in the answer of a deletion: the object's own, or the one in a Status. */
export function deletedUid(answer: AnyObject): string | undefined {
  const { uid } = answer.kind === 'Status' ? ((answer as { details?: { uid?: string } }).details ?? {}) : answer.metadata;
  return uid;
}

export async function deleteAndWait(session: Session, target: Deletable, options: Record<string, unknown>): Promise<void> {
  try {
    const answer = await session.api.delete(target.resource, target, options);
    await untilGone(session, target, { uid: deletedUid(answer) });
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
  }
}

/** `timeoutMs` 0 waits without end. Throws kubectl's timeout error. */
export async function untilGone(session: Session, target: Deletable, until: { uid?: string; timeoutMs?: number }): Promise<void> {
  const deadline = until.timeoutMs ? session.clock.monotonicMs() + until.timeoutMs : Number.POSITIVE_INFINITY;
  const { resource, namespace, name } = target;
  for (;;) {
    const query = { fieldSelector: `metadata.name=${name}` };
    const list = await session.api.list(resource, namespace, query);
    const [object] = list.items ?? [];
    if (!object || (until.uid !== undefined && object.metadata.uid !== until.uid)) return;
    const left = deadline - session.clock.monotonicMs();
    if (left <= 0) throw timedOut(resource, name);
    const gone = await watchUntilDeleted(
      session,
      { path: resourcePath(resource, { namespace }), query: { ...query, resourceVersion: list.metadata.resourceVersion as string } },
      left,
    );
    if (gone) return;
    if (session.signal.aborted) throw session.signal.reason;
  }
}

export const timedOut = (resource: Resource, name: string): CliError =>
  new CliError(`timed out waiting for the condition on ${resource.resource}/${name}`);

/** False when the watch ended or the time was up first. */
async function watchUntilDeleted(
  session: Session,
  request: { path: string; query: Record<string, string> },
  leftMs: number,
): Promise<boolean> {
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, session.signal]);
  const cancel = Number.isFinite(leftMs) ? session.clock.setTimer(leftMs, () => stop.abort(new Error('time is up'))) : undefined;
  try {
    for await (const event of session.api.watch({ ...request, signal })) {
      if (event.type === 'DELETED') return true;
      if (event.type === 'ERROR') return false;
    }
    return false;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  } finally {
    cancel?.();
    stop.abort();
  }
}
