/** `describe`: objects in words and tables, with their events. Names may be prefixes. Mirrors kubectl `cmd/describe`. */

import { isReason } from '../../machinery/api/status.ts';
import type { Event } from '../../machinery/api/types/core.v1.ts';
import type { DescribeContext } from '../describe/describer.ts';
import { describerOf } from '../describe/describers.ts';
import { PlainError, throwAll } from '../errors.ts';
import { parseResourceWords } from '../resources/arguments.ts';
import { type Found, fetchObjects, listAll } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { ALL_NAMESPACES_FLAG, FILE_FLAGS, SELECTOR_FLAGS } from '../verb-flags.ts';

export const verb: Verb = {
  usage: '(-f FILENAME | TYPE [NAME_PREFIX | -l label] | TYPE/NAME)',
  flags: {
    ...FILE_FLAGS,
    ...SELECTOR_FLAGS,
    ...ALL_NAMESPACES_FLAG,
    'show-events': {
      type: 'boolean',
      default: true,
      help: 'If true, display events related to the described object. Defaults to true for a single object, false for multiple objects and prefix matching.',
    },
    'chunk-size': { type: 'integer', default: 500, help: 'Return large lists in chunks rather than all at once' },
  },
  run: describe,
};

async function describe(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  const program = session.verb.split(' ')[0];
  if (args.length === 0 && flags.list('filename').length === 0) {
    throw new PlainError(
      `error: You must specify the type of resource to describe. Use "${program} api-resources" for a complete list of supported resources.`,
    );
  }
  const { found, errors, byPrefix } = await fetchWithPrefixes(session, args);
  const withEvents = flags.changed('show-events') ? flags.bool('show-events') : found.length === 1 && !byPrefix;
  const texts: string[] = [];
  for (const item of found) {
    try {
      const describer = await describerOf(item.resource.kind, item.resource.group);
      texts.push(await describer({ ...item.object, kind: item.resource.kind }, await contextOf(session, item, withEvents)));
    } catch (error) {
      errors.push(error);
    }
  }
  session.out(texts.join('\n\n'));
  if (found.length === 0 && errors.length === 0)
    session.err(flags.bool('all-namespaces') ? 'No resources found' : `No resources found in ${session.namespace().name} namespace.`);
  throwAll(errors);
}

/** A name that is not found may be the beginning of names that are. */
async function fetchWithPrefixes(
  session: Session,
  args: readonly string[],
): Promise<{ found: Found[]; errors: unknown[]; byPrefix: boolean }> {
  const { found, errors } = await fetchObjects(session, args);
  if (
    errors.length === 0 ||
    session.flags.list('filename').length > 0 ||
    args.length !== 2 ||
    !errors.every((error) => isReason(error, 'NotFound'))
  )
    return { found, errors, byPrefix: false };
  const { wanted } = parseResourceWords(args, await session.mapper());
  for (const { resource, name = '' } of wanted) {
    const namespace = resource.namespaced ? session.namespace().name : '';
    const matching = (await listAll(session, resource, { namespace })).filter((object) => object.metadata.name?.startsWith(name));
    found.push(...matching.map((object) => ({ resource, namespace, name: object.metadata.name ?? '', object, source: '' })));
  }
  return { found, errors: found.length > 0 ? [] : errors, byPrefix: true };
}

async function contextOf(session: Session, item: Found, withEvents: boolean): Promise<DescribeContext> {
  const mapper = await session.mapper();
  const quiet = async <T>(action: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await action();
    } catch (error) {
      if (isReason(error, 'NotFound', 'Forbidden')) return otherwise;
      throw error;
    }
  };
  return {
    session,
    list: (resource, { namespace, ...query } = {}) => quiet(() => listAll(session, mapper.resource(resource), { namespace, query }), []),
    get: (resource, where) => quiet(() => session.api.get(mapper.resource(resource), where), undefined),
    events: withEvents ? await eventsOf(session, item) : undefined,
  };
}

async function eventsOf(session: Session, { object, resource }: Found): Promise<Event[]> {
  const events = (await session.mapper()).find('events.v1.');
  if (!events) return [];
  const { name, namespace = '', uid } = object.metadata;
  // Kubelets name a node by its name where others use its uid.
  const uids = resource.kind === 'Node' && resource.group === '' ? [uid, name] : [uid];
  const lists = await Promise.all(
    uids.map((id) => {
      const fieldSelector = `involvedObject.name=${name},${namespace === '' ? '' : `involvedObject.namespace=${namespace},`}involvedObject.kind=${resource.kind},involvedObject.uid=${id}`;
      return listAll(session, events, { namespace, query: { fieldSelector } }).catch(() => []);
    }),
  );
  // By the last timestamp alone, as upstream: events of the newer API have none and come first.
  const time = (event: Event): number => Date.parse(event.lastTimestamp ?? '') || 0;
  return (lists.flat() as unknown as Event[]).sort((a, b) => time(a) - time(b));
}
