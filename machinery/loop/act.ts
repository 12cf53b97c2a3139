/**
 * Carries out a plan through the API server: actions in order, then events, then the status. Mirrors what upstream's controllers do by hand:
 * `slowStartBatch` for creations and deletions, preconditions on everything but a creation, status last.
 *
 * Invariant: nothing is written without a precondition (uid or resourceVersion), so a plan made from an old state can fail but never hit the wrong
 * object. Whatever was written is told to `freshness` before the next action starts.
 */
import assert from 'node:assert/strict';
import { type KubeObject, objectKey } from '../api/object.ts';
import { isReason, StatusError } from '../api/status.ts';
import type { Client } from '../client/client.ts';
import type { EventRecorder } from '../client/event-recorder.ts';
import type { ResourceType } from '../client/resource-type.ts';
import type { Clock } from '../process/clock.ts';
import { asyncFailpoint } from '../process/failpoints.ts';
import { isDoubtful, resolveDoubt } from './doubt.ts';
import type { Freshness } from './freshness.ts';
import type { Action, Plan, PlannedEvent } from './plan.ts';

export interface ActDeps {
  /** The controller's name, for failpoints. */
  readonly name: string;
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly freshness: Pick<Freshness, 'note' | 'noteDeletion'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** What became of one action: the object as written, or why not. `undefined`: not tried. */
type Result = { readonly written: KubeObject | undefined } | { readonly tolerated: Error } | { readonly failed: Error };

/** Returns the first failure, if any, after status and events have been taken care of. */
export async function act(key: string, plan: Plan, deps: ActDeps): Promise<Error | undefined> {
  const results: (Result | undefined)[] = [];
  let failure: Error | undefined;
  for (const batch of batches(plan.actions)) {
    if (results.length > 0) await asyncFailpoint(`${deps.name}.between-actions`);
    const done = await Promise.all(batch.map((action) => perform(key, action, deps)));
    results.push(...done);
    failure = done.map((result) => ('failed' in result ? result.failed : undefined)).find((error) => error !== undefined);
    if (failure) break;
  }
  for (const event of plan.events ?? []) record(event, results, failure, deps.recorder);
  const status = failure && plan.statusOnFailure ? plan.statusOnFailure(failure) : plan.status;
  if (status) {
    await asyncFailpoint(`${deps.name}.before-status`);
    const result = await perform(key, status, deps);
    if ('failed' in result) failure ??= result.failed;
  }
  return failure;
}

/**
 * Consecutive creations (or deletions) of one type go together in batches of 1, 2, 4 …: when the first fails, as with an exhausted quota, the
 * other 499 are not tried. Everything else goes one by one.
 */
export function* batches(actions: readonly Action[]): Generator<readonly Action[]> {
  let at = 0;
  let size = 1;
  while (at < actions.length) {
    const first = actions[at]!;
    const together = first.do === 'create' || first.do === 'delete';
    let end = at + 1;
    while (together && end < actions.length && end - at < size && sameKind(actions[end]!, first)) end++;
    yield actions.slice(at, end);
    const next = actions[end];
    size = together && next && sameKind(next, first) ? size * 2 : 1;
    at = end;
  }
}

const sameKind = (a: Action, b: Action): boolean => a.do === b.do && a.type.resource === b.type.resource && a.type.group === b.type.group;

async function perform(key: string, action: Action, deps: ActDeps): Promise<Result> {
  assertPrecondition(action);
  try {
    return { written: await send(key, action, deps) };
  } catch (error) {
    const failed = error instanceof Error ? error : new Error(String(error));
    if (decidesNextPass(action) && isDoubtful(failed)) await resolveDoubt(key, action, deps);
    return isTolerated(action, failed) ? { tolerated: failed } : { failed };
  }
}

/** Whether the next comparison would count with what this write made, were it known. Statuses are only told. */
function decidesNextPass(action: Action): boolean {
  return action.do === 'create' || ((action.do === 'update' || action.do === 'patch') && action.subresource === undefined);
}

async function send(key: string, action: Action, { client, freshness }: ActDeps): Promise<KubeObject | undefined> {
  const { type } = action;
  switch (action.do) {
    case 'create':
      return noted(await client.create(type, action.object));
    case 'update':
      return noted(await client.update(type, action.object, subresourceOf(action)));
    case 'patch':
      return noted(await client.patch(type, action.name, action.patchType, action.patch, subresourceOf(action)));
    case 'delete': {
      const answer = await client.delete(type, action.name, { ...action.options, uid: action.uid });
      const deleted = isObjectOf(answer, type) ? answer : undefined;
      if (deleted) return noted(deleted);
      freshness.noteDeletion(key, type, { key: objectKey({ metadata: action.name }), uid: action.uid });
      return undefined;
    }
    case 'subresource':
      await client.createSubresource(type, action.name, action.subresource, action.body);
      return undefined;
  }
  function noted(written: KubeObject): KubeObject {
    freshness.note(key, type, written.metadata);
    return written;
  }
}

const subresourceOf = (action: { readonly subresource?: string }): { subresource?: string } =>
  action.subresource ? { subresource: action.subresource } : {};

function isObjectOf(answer: unknown, type: ResourceType): answer is KubeObject {
  return typeof answer === 'object' && answer !== null && (answer as KubeObject).kind === type.kind;
}

/** A plan without preconditions is a bug of its controller. */
function assertPrecondition(action: Action): void {
  if (action.do === 'update') assert(action.object.metadata.resourceVersion, `update of ${action.type.resource} without resourceVersion`);
  if (action.do === 'delete') assert(action.uid, `deletion of ${action.type.resource} without uid`);
  if (action.do !== 'patch') return;
  const { patch } = action;
  const guarded = Array.isArray(patch)
    ? patch.some((operation) => (operation as { op?: string }).op === 'test')
    : hasPrecondition((patch as { metadata?: { uid?: string; resourceVersion?: string } }).metadata);
  assert(guarded, `patch of ${action.type.resource} without uid or resourceVersion`);
}

const hasPrecondition = (metadata: { uid?: string; resourceVersion?: string } | undefined): boolean =>
  Boolean(metadata?.uid || metadata?.resourceVersion);

/** Reasons an action names count as done, also as a cause (NamespaceTerminating). What was to be deleted and is gone, or replaced, is deleted. */
function isTolerated(action: Action, error: Error): boolean {
  if (!(error instanceof StatusError)) return false;
  const reasons = [error.reason, ...(error.status.details?.causes ?? []).map((cause) => cause.reason ?? '')];
  if ('tolerate' in action && action.tolerate?.some((reason) => reasons.includes(reason))) return true;
  if (action.do === 'delete') return isReason(error, 'NotFound') || (isReason(error, 'Conflict') && !action.options?.resourceVersion);
  return action.do === 'update' && action.subresource === 'status' && isReason(error, 'NotFound');
}

function record(event: PlannedEvent, results: readonly (Result | undefined)[], failure: Error | undefined, recorder: EventRecorder): void {
  const { about, type, reason } = event;
  if (event.after !== undefined) {
    const result = results[event.after];
    if (result && 'written' in result)
      recorder.event(about, type, reason, event.message.replaceAll('{name}', result.written?.metadata.name ?? ''));
  } else if (event.onFailure !== undefined) {
    const result = results[event.onFailure];
    if (result && 'failed' in result) recorder.event(about, type, reason, event.message.replaceAll('{error}', result.failed.message));
  } else if (!failure) recorder.event(about, type, reason, event.message);
}
