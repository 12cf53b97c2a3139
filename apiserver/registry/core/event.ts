/**
 * Event: something that happened to an object. One stored kind, served as core v1 and as events.k8s.io v1. Mirrors kubernetes
 * `pkg/registry/core/event` and `core/validation/events.go`: the newer group asks for more.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { nameIsPathSegment, qualifiedName } from '../../../machinery/api/names.ts';
import type { KubeObject } from '../../../machinery/api/object.ts';
import type { Event } from '../../../machinery/api/types/core.v1.ts';
import type { Event as NewEvent } from '../../../machinery/api/types/events.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import type { StrategyContext } from '../resource.ts';
import { ageCell } from '../tables/cells.ts';
import { immutableField } from '../validation/numbers.ts';

const NEW_GROUP = 'events.k8s.io';

function validate(event: Event, context: StrategyContext): FieldError[] {
  const errors: FieldError[] = [];
  const namespace = event.metadata.namespace ?? '';
  const about = event.involvedObject?.namespace ?? '';
  const fits = about === '' ? namespace === 'default' || namespace === '' : about === namespace;
  if (context.requestGroup !== NEW_GROUP) {
    if (!fits) errors.push(mismatch(about));
    // Without eventTime it is an event of the old kind, of which nothing is asked.
    if (event.eventTime) reporterErrors(event, errors);
    return errors;
  }
  if (!event.eventTime) errors.push(required('eventTime'));
  if (event.type !== 'Normal' && event.type !== 'Warning') errors.push(invalidValue('type', '', `has invalid value: ${event.type ?? ''}`));
  if (!fits) errors.push(mismatch(about));
  if (event.eventTime) reporterErrors(event, errors);
  return errors;
}

const mismatch = (namespace: string): FieldError => invalidValue('involvedObject.namespace', namespace, 'does not match event.namespace');

function reporterErrors(event: Event, errors: FieldError[]): void {
  const reporter = event.reportingComponent ?? '';
  if (reporter === '') errors.push(required('reportingComponent'));
  for (const detail of qualifiedName(reporter)) errors.push(invalidValue('reportingComponent', reporter, detail));
  if (!event.reportingInstance) errors.push(required('reportingInstance'));
  if (!event.action) errors.push(required('action'));
  if (!event.reason) errors.push(required('reason'));
}

/** In the newer group only the series may go on. */
const FIXED = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
] as const;

function validateUpdate(event: Event, old: Event, context: StrategyContext): FieldError[] {
  if (context.requestGroup !== NEW_GROUP) return validate(event, context);
  const errors: FieldError[] = [];
  for (const member of FIXED) immutableField(event[member], old[member], member, errors);
  // told twice by upstream
  immutableField(event.reason, old.reason, 'reason', errors);
  return errors;
}

/** [core, events.k8s.io] where the names differ. */
const RENAMED = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
] as const;

type Members = Record<string, unknown>;

function rename(object: KubeObject, pairs: readonly (readonly [string, string])[]): Members {
  const from = object as unknown as Members;
  const to: Members = { ...from };
  for (const [old] of pairs) delete to[old];
  for (const [old, name] of pairs) if (from[old] !== undefined) to[name] = from[old];
  return to;
}

const toStored = (object: KubeObject): Event =>
  ({
    ...rename(
      object,
      RENAMED.map(([c, e]) => [e, c] as const),
    ),
    apiVersion: 'v1',
    kind: 'Event',
  }) as unknown as Event;
const fromStored = (object: Event): NewEvent =>
  ({ ...rename(object, RENAMED), apiVersion: 'events.k8s.io/v1', kind: 'Event' }) as unknown as NewEvent;

function cells(event: Event, now: Date): unknown[] {
  const first = event.firstTimestamp ? ageCell(event.firstTimestamp, now) : ageCell(event.eventTime, now);
  const last = event.series ? ageCell(event.series.lastObservedTime, now) : event.lastTimestamp ? ageCell(event.lastTimestamp, now) : first;
  const { kind = '', name = '', fieldPath = '' } = event.involvedObject ?? {};
  const source = [event.source?.component || event.reportingComponent || '', event.source?.host || event.reportingInstance || ''];
  return [
    last,
    event.type ?? '',
    event.reason ?? '',
    name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`,
    fieldPath,
    source[1] === '' ? source[0] : source.join(', '),
    (event.message ?? '').trim(),
    first,
    event.series?.count ?? (event.count || 1),
    event.metadata.name,
  ];
}

const about = (member: 'kind' | 'namespace' | 'name' | 'uid' | 'apiVersion' | 'resourceVersion' | 'fieldPath') => (event: Event) =>
  event.involvedObject?.[member] ?? '';

export const event = defineKind<Event>({
  resource: 'events',
  kind: 'Event',
  nameRule: nameIsPathSegment,
  createOnUpdate: true,
  fieldLabelError: 'notSupported',
  selectableFields: {
    'involvedObject.kind': about('kind'),
    'involvedObject.namespace': about('namespace'),
    'involvedObject.name': about('name'),
    'involvedObject.uid': about('uid'),
    'involvedObject.apiVersion': about('apiVersion'),
    'involvedObject.resourceVersion': about('resourceVersion'),
    'involvedObject.fieldPath': about('fieldPath'),
    reason: (object) => object.reason ?? '',
    reportingComponent: (object) => object.reportingComponent ?? '',
    source: (object) => object.source?.component || object.reportingComponent || '',
    type: (object) => object.type ?? '',
  },
  strategy: { validate, validateUpdate },
  conversions: [{ group: NEW_GROUP, version: 'v1', toStored, fromStored }],
  cells,
});
