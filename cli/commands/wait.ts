/** `wait`: until objects have a condition, are deleted or created, or a JSONPath has a value. Mirrors kubectl `cmd/wait`. */
import type { AnyObject } from '../../machinery/api/object.ts';
import { isReason } from '../../machinery/api/status.ts';
import { resourcePath } from '../api.ts';
import { CliError, throwAll } from '../errors.ts';
import { formatGo } from '../printers/json.ts';
import { compileJsonPath, relaxedPath } from '../printers/jsonpath.ts';
import { objectPrinter, resultPrinter } from '../printers/output.ts';
import { parseResourceWords } from '../resources/arguments.ts';
import { timedOut, untilGone } from '../resources/deletion.ts';
import { actOnEach, type Fetched, type Found, fetchObjects } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { ALL_NAMESPACES_FLAG, FIELD_SELECTOR_FLAGS, FILE_FLAGS, OUTPUT_FLAGS, SELECTOR_FLAGS } from '../verb-flags.ts';

export const verb: Verb = {
  usage:
    "([-f FILENAME] | resource.group/resource.name | resource.group [(-l label | --all)]) [--for=create|--for=delete|--for condition=available|--for=jsonpath='{}'[=value]]",
  flags: {
    ...FILE_FLAGS,
    ...OUTPUT_FLAGS,
    ...SELECTOR_FLAGS,
    ...FIELD_SELECTOR_FLAGS,
    ...ALL_NAMESPACES_FLAG,
    all: { type: 'boolean', help: 'Select all resources in the namespace of the specified resource types' },
    for: {
      type: 'array',
      help: "The condition to wait on: [create|delete|condition=condition-name[=condition-value]|jsonpath='{JSONPath expression}'=[JSONPath value]]",
    },
    timeout: {
      type: 'duration',
      default: '30s',
      help: "The length of time to wait before giving up. Zero means check once and don't wait, negative means wait for a week",
    },
    local: { type: 'boolean', help: 'If true, annotation will NOT contact api-server but run locally', hidden: true },
  },
  run: wait,
};

const WEEK_MS = 7 * 24 * 3600 * 1000;

type Fulfilled = (object: AnyObject) => boolean;

async function wait(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  const goal = flags.list('for')[0] ?? '';
  const timeoutMs = flags.durationMs('timeout') < 0 ? WEEK_MS : flags.durationMs('timeout');
  const deadline = session.clock.monotonicMs() + timeoutMs;
  if (goal.toLowerCase() === 'delete') return waitForDeletion(session, args, timeoutMs);
  const fulfilled = goal.toLowerCase() === 'create' ? () => true : parseGoal(goal);
  const print = await resultPrinter(flags);
  const { found, errors } = await fetchExisting(session, args, { create: goal.toLowerCase() === 'create', deadline });
  if (found.length === 0 && errors.length === 0) throw new CliError('no matching resources found');
  await actOnEach(found, errors, async (item) => {
    const object = await untilFulfilled(session, item, { fulfilled, deadline });
    session.out(print(object, 'condition met'));
  });
}

/** With --for=create, missing objects are waited for. */
async function fetchExisting(session: Session, args: readonly string[], how: { create: boolean; deadline: number }): Promise<Fetched> {
  for (;;) {
    const fetched = await fetchObjects(session, args, { needsNames: true });
    const missing = fetched.found.length === 0 || fetched.errors.some((error) => isReason(error, 'NotFound'));
    if (!how.create || !missing) return fetched;
    if (session.clock.monotonicMs() >= how.deadline) {
      if (fetched.errors.length > 0) {
        const { wanted } = parseResourceWords(args, await session.mapper());
        throw wanted[0] ? timedOut(wanted[0].resource, wanted[0].name ?? '') : new CliError('no matching resources found');
      }
      return fetched;
    }
    await session.clock.sleep(250, session.signal);
  }
}

function parseGoal(goal: string): Fulfilled {
  if (goal === '') throw new CliError('unrecognized condition: ""');
  if (/^condition=/i.test(goal)) {
    const [name, value = 'true'] = goal.slice('condition='.length).split('=');
    return (object) => conditionIs(object, name, value);
  }
  if (/^jsonpath=/i.test(goal)) return jsonPathGoal(goal.slice('jsonpath='.length));
  throw new CliError(`unrecognized condition: "${goal}"`);
}

function conditionIs(object: AnyObject, name: string, value: string): boolean {
  const status = object.status as
    | { conditions?: { type: string; status: string; observedGeneration?: number }[]; observedGeneration?: number }
    | undefined;
  const condition = status?.conditions?.find((c) => c.type.toLowerCase() === name.toLowerCase());
  if (!condition) return false;
  const generation = object.metadata.generation ?? 0;
  const observed = condition.observedGeneration ?? status?.observedGeneration;
  if (observed !== undefined && observed < generation) return false;
  return condition.status.toLowerCase() === value.toLowerCase();
}

function jsonPathGoal(text: string): Fulfilled {
  const match = /^(['"]?)(\{[\s\S]*\}|[^={]+?)\1(?:=([\s\S]*))?$/.exec(text);
  if (!match)
    throw new CliError(
      `jsonpath wait format must be --for=jsonpath='{.status.readyReplicas}'=3 or --for=jsonpath='{.status.readyReplicas}'`,
    );
  const wanted = match[3]?.replace(/^(['"])([\s\S]*)\1$/, '$2');
  if (wanted === '')
    throw new CliError("jsonpath wait has to have a value after equal sign, like --for=jsonpath='{.status.readyReplicas}'=3");
  const path = compileJsonPath(relaxedPath(match[2]), { allowMissing: true });
  return (object) => {
    const values = path.find(object).flat();
    if (values.length === 0) return false;
    if (values.length > 1) throw new CliError('given jsonpath expression matches more than one value');
    const [value] = values;
    if (wanted === undefined) return true;
    if (typeof value === 'object' && value !== null) throw new CliError('jsonpath leads to a nested object or list which is not supported');
    return formatGo(value).trim() === wanted.trim();
  };
}

async function untilFulfilled(session: Session, item: Found, until: { fulfilled: Fulfilled; deadline: number }): Promise<AnyObject> {
  const { resource, namespace, name } = item;
  if (until.fulfilled(item.object)) return item.object;
  const query = { fieldSelector: `metadata.name=${name}` };
  for (;;) {
    const list = await session.api.list(resource, namespace, query);
    const object = list.items?.[0];
    if (object && until.fulfilled(object)) return { ...object, apiVersion: list.apiVersion, kind: resource.kind };
    const left = until.deadline - session.clock.monotonicMs();
    if (left <= 0) throw timedOut(resource, name);
    const met = await watchUntil(
      session,
      { path: resourcePath(resource, { namespace }), query: { ...query, resourceVersion: list.metadata.resourceVersion as string } },
      { ...until, left },
    );
    if (met) return met;
    if (session.signal.aborted) throw session.signal.reason;
  }
}

async function watchUntil(
  session: Session,
  request: { path: string; query: Record<string, string> },
  until: { fulfilled: Fulfilled; left: number },
): Promise<AnyObject | undefined> {
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, session.signal]);
  const cancel = session.clock.setTimer(until.left, () => stop.abort(new Error('time is up')));
  try {
    for await (const event of session.api.watch({ ...request, signal })) {
      if (event.type === 'ERROR') return undefined;
      if (event.type !== 'DELETED' && event.type !== 'BOOKMARK' && until.fulfilled(event.object)) return event.object;
    }
    return undefined;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    cancel();
    stop.abort();
  }
}

async function waitForDeletion(session: Session, args: readonly string[], timeoutMs: number): Promise<void> {
  const { flags } = session;
  const print = (await objectPrinter(flags)) ?? (await resultPrinter(flags));
  const { found, errors } = await fetchObjects(session, args, { needsNames: true });
  const failures = errors.filter((error) => !isReason(error, 'NotFound'));
  for (const item of found) {
    try {
      await untilGone(session, item, { uid: item.object.metadata.uid, timeoutMs: Math.max(timeoutMs, 1) });
      session.out(print(item.object, 'condition met'));
    } catch (error) {
      failures.push(error);
    }
  }
  throwAll(failures);
}
