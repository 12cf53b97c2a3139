/** `rollout status`: follows a rollout until it is done. */
import { resourcePath } from '../api.ts';
import { CliError } from '../errors.ts';
import { actOnEach, type Found, fetchObjects, requireAsked } from '../resources/fetch.ts';
import { checkKind } from '../rollout/kinds.ts';
import { rolloutState } from '../rollout/status.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { FILE_FLAGS, SELECTOR_FLAGS } from '../verb-flags.ts';

export const verb: Verb = {
  usage: '(TYPE NAME | TYPE/NAME) [flags]',
  flags: {
    ...FILE_FLAGS,
    ...SELECTOR_FLAGS,
    revision: { type: 'integer', default: 0, help: 'Pin to a specific revision for showing its status. Defaults to 0 (last revision)' },
    timeout: { type: 'duration', default: '0s', help: 'The length of time to wait before ending watch, zero means never' },
    watch: { type: 'boolean', short: 'w', default: true, help: "Watch the status of the rollout until it's done" },
  },
  run: status,
};

async function status(session: Session, args: readonly string[]): Promise<void> {
  requireAsked(session, args);
  const { found, errors } = await fetchObjects(session, args);
  if (found.length === 0 && errors.length === 0) session.err(`No resources found in ${session.namespace().name} namespace.`);
  await actOnEach(found, errors, async (item) => {
    checkKind(item.object, 'status viewer');
    await follow(session, item);
  });
}

async function follow(session: Session, item: Found): Promise<void> {
  const { flags } = session;
  const timeoutMs = flags.durationMs('timeout');
  const stop = new AbortController();
  const cancel = timeoutMs > 0 ? session.clock.setTimer(timeoutMs, () => stop.abort(new Error('timeout'))) : undefined;
  const signal = AbortSignal.any([stop.signal, session.signal]);
  try {
    while (!(await followOnce(session, item, signal))) {
      if (!flags.bool('watch')) return;
    }
  } catch (error) {
    if (stop.signal.aborted) throw new CliError('timed out waiting for the condition');
    if (!session.signal.aborted) throw error;
  } finally {
    cancel?.();
    stop.abort();
  }
}

/** True when the rollout is done; false when the watch ended first. */
async function followOnce(session: Session, { resource, namespace, name }: Found, signal: AbortSignal): Promise<boolean> {
  const revision = session.flags.integer('revision');
  const query = { fieldSelector: `metadata.name=${name}` };
  const list = await session.api.list(resource, namespace, query);
  const [object] = list.items ?? [];
  if (!object) throw new CliError('object has been deleted');
  const state = rolloutState({ ...object, kind: resource.kind }, revision);
  session.out(state.text);
  if (state.done || !session.flags.bool('watch')) return state.done;
  const path = resourcePath(resource, { namespace });
  for await (const event of session.api.watch({
    path,
    query: { ...query, resourceVersion: list.metadata.resourceVersion as string },
    signal,
  })) {
    if (event.type === 'DELETED') throw new CliError('object has been deleted');
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
    const next = rolloutState(event.object, revision);
    session.out(next.text);
    if (next.done) return true;
  }
  return false;
}
