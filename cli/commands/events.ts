/** `events`: of a namespace or about one object, oldest first. Mirrors kubectl `cmd/events`. */
import { humanDuration } from '../../machinery/api/duration.ts';
import type { AnyObject } from '../../machinery/api/object.ts';
import type { Event } from '../../machinery/api/types/core.v1.ts';
import { CliError, usageError } from '../errors.ts';
import { objectPrinter } from '../printers/output.ts';
import { RememberingTable } from '../printers/tabwriter.ts';
import { listAll } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { ALL_NAMESPACES_FLAG, OUTPUT_FLAGS } from '../verb-flags.ts';

export const verb: Verb = {
  usage: '[(-o|--output=)json|yaml|name|go-template|jsonpath] [--for TYPE/NAME] [--watch] [--types=Normal,Warning]',
  flags: {
    ...OUTPUT_FLAGS,
    ...ALL_NAMESPACES_FLAG,
    for: { type: 'string', help: 'Filter events to only those pertaining to the specified resource' },
    types: { type: 'list', help: 'Output only events of given types' },
    watch: { type: 'boolean', short: 'w', help: 'After listing the requested events, watch for more events' },
    'no-headers': { type: 'boolean', help: "When using the default output format, don't print headers" },
    'chunk-size': { type: 'integer', default: 500, help: 'Return large lists in chunks rather than all at once' },
  },
  run: events,
};

async function events(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  if (args.length > 0) throw usageError(session.verb, `Unexpected args: [${args.join(' ')}]`);
  const badType = flags.list('types').find((type) => !['normal', 'warning'].includes(type.toLowerCase()));
  if (badType !== undefined) throw new CliError('valid --types are Normal or Warning');
  const resource = (await session.mapper()).resource('events.v1.');
  const namespace = flags.bool('all-namespaces') ? '' : session.namespace().name;
  const fieldSelector = await selectorFor(session, flags.string('for'));
  const print = await objectPrinter(flags);
  if (flags.bool('watch')) return follow(session, { namespace, fieldSelector, print });
  const items = ((await listAll(session, resource, { namespace, query: { fieldSelector } })) as unknown as Event[])
    .filter((event) => wanted(session, event))
    .sort(byTime);
  if (print) session.out(print({ kind: 'List', apiVersion: 'v1', metadata: {}, items } as unknown as AnyObject));
  else if (items.length === 0)
    session.err(flags.bool('all-namespaces') ? 'No events found.' : `No events found in ${namespace} namespace.`);
  else {
    const headers = flags.bool('no-headers') ? [] : [header(session)];
    session.out(new RememberingTable().format([...headers, ...items.map((event) => row(session, event))]));
  }
}

/** What is there comes as events of the watch too, each printed as it comes. */
async function follow(
  session: Session,
  from: { namespace: string; fieldSelector: string; print: ((object: AnyObject) => string) | undefined },
): Promise<void> {
  const path = from.namespace === '' ? '/api/v1/events' : `/api/v1/namespaces/${from.namespace}/events`;
  const writer = new RememberingTable();
  let headers = session.flags.bool('no-headers') ? [] : [header(session)];
  try {
    for await (const { type, object } of session.api.watch({
      path,
      query: { fieldSelector: from.fieldSelector },
      signal: session.signal,
    })) {
      const event = object as unknown as Event;
      if ((type !== 'ADDED' && type !== 'MODIFIED') || !wanted(session, event)) continue;
      session.out(from.print ? from.print(object) : writer.format([...headers, row(session, event)]));
      headers = [];
    }
  } catch (error) {
    if (!session.signal.aborted) throw error;
  }
}

async function selectorFor(session: Session, about: string): Promise<string> {
  if (about === '') return '';
  const [type, name] = about.split('/');
  if (!name) throw new CliError('--for must be in resource/name form');
  const resource = (await session.mapper()).resource(type);
  return `involvedObject.apiVersion=${resource.group === '' ? '' : `${resource.group}/`}${resource.version},involvedObject.kind=${resource.kind},involvedObject.name=${name}`;
}

function wanted(session: Session, event: Event): boolean {
  const types = session.flags.list('types').map((type) => type.toLowerCase());
  return types.length === 0 || types.includes((event.type ?? '').toLowerCase());
}

const lastTime = (event: Event): string =>
  event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.firstTimestamp ?? '';

function byTime(a: Event, b: Event): number {
  return (Date.parse(lastTime(a)) || 0) - (Date.parse(lastTime(b)) || 0);
}

const header = (session: Session): string[] => [
  ...(session.flags.bool('all-namespaces') ? ['NAMESPACE'] : []),
  'LAST SEEN',
  'TYPE',
  'REASON',
  'OBJECT',
  'MESSAGE',
];

function row(session: Session, event: Event): string[] {
  const about = event.involvedObject;
  return [
    ...(session.flags.bool('all-namespaces') ? [event.metadata?.namespace ?? ''] : []),
    interval(event, session.now()),
    event.type ?? '',
    event.reason ?? '',
    `${about?.kind}/${about?.name}`,
    (event.message ?? '').trim(),
  ];
}

/** `5m`, or `5m (x3 over 8m)` for what happened several times. */
export function interval(event: Event, now: Date): string {
  const age = (time: string | undefined): string => (time ? humanDuration(now.getTime() - Date.parse(time)) : '<unknown>');
  const first = age(event.firstTimestamp ?? event.eventTime);
  if (event.series) return `${age(event.series.lastObservedTime)} (x${event.series.count} over ${first})`;
  if ((event.count ?? 0) > 1) return `${age(event.lastTimestamp)} (x${event.count} over ${first})`;
  return first;
}
