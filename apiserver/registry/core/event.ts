/**
 * Event: something that happened to an object. One stored kind, served as core v1 and as events.k8s.io v1. Mirrors kubernetes
 * `pkg/registry/core/event` and `core/validation/events.go`: the newer group asks for more.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { nameIsPathSegment, nameIsSubdomain, qualifiedName } from '../../../machinery/api/names.ts';
import type { KubeObject } from '../../../machinery/api/object.ts';
import type { Event } from '../../../machinery/api/types/core.v1.ts';
import type { Event as NewEvent } from '../../../machinery/api/types/events.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import type { StrategyContext } from '../resource.ts';
import { ageCell } from '../tables/cells.ts';
import { kubeFinalizerErrors, metadataErrors, metadataUpdateErrors } from '../validation/metadata.ts';
import { immutableField } from '../validation/numbers.ts';

const NEW_GROUP = 'events.k8s.io';

function validate(event: Event, context: StrategyContext): FieldError[] {
  const errors = anyEventErrors(event, context);
  if (context.requestGroup !== NEW_GROUP) return errors;
  metadataErrors(event.metadata, true, nameIsSubdomain, errors);
  kubeFinalizerErrors(event.metadata.finalizers, errors);
  seriesErrors(event, errors);
  if (!event.eventTime) errors.push(required('eventTime'));
  if (event.type !== 'Normal' && event.type !== 'Warning') errors.push(invalidValue('type', '', `has invalid value: ${event.type ?? ''}`));
  const unset = (member: string, value: unknown): void => {
    if (value) errors.push(invalidValue(member, '', 'needs to be unset'));
  };
  unset('firstTimestamp', event.firstTimestamp);
  unset('lastTimestamp', event.lastTimestamp);
  unset('count', event.count);
  unset('source', event.source?.component || event.source?.host);
  return errors;
}

/** What holds in both groups. Without eventTime it is an event of the old kind, of which little is asked. */
function anyEventErrors(event: Event, context: StrategyContext): FieldError[] {
  const errors: FieldError[] = [];
  const namespace = event.metadata.namespace ?? '';
  const about = event.involvedObject?.namespace ?? '';
  if (event.eventTime) {
    if (about === '' && namespace !== 'default' && namespace !== 'kube-system') errors.push(mismatch(about));
    reporterErrors(event, context.requestGroup === NEW_GROUP ? 'reportingController' : 'reportingComponent', errors);
  } else {
    const fits = about === '' ? namespace === 'default' || namespace === '' : about === namespace;
    if (!fits) errors.push(mismatch(about));
  }
  return errors;
}

const mismatch = (namespace: string): FieldError => invalidValue('involvedObject.namespace', namespace, 'does not match event.namespace');

/** Of what an event says, in bytes. */
const LIMITS = { reportingInstance: 128, action: 128, reason: 128, message: 1024 } as const;

function reporterErrors(event: Event, reporterField: string, errors: FieldError[]): void {
  const reporter = event.reportingComponent ?? '';
  if (reporter === '') errors.push(required(reporterField));
  for (const detail of qualifiedName(reporter)) errors.push(invalidValue(reporterField, reporter, detail));
  for (const member of ['reportingInstance', 'action', 'reason', 'message'] as const) {
    const text = event[member] ?? '';
    if (text === '' && member !== 'message') errors.push(required(member));
    if (Buffer.byteLength(text) > LIMITS[member]) errors.push(invalidValue(member, '', `can have at most ${LIMITS[member]} characters`));
  }
}

function seriesErrors({ series }: Event, errors: FieldError[]): void {
  if (!series) return;
  if ((series.count ?? 0) < 2) errors.push(invalidValue('series.count', '', 'should be at least 2'));
  if (!series.lastObservedTime) errors.push(required('series.lastObservedTime'));
}

/** In the newer group only the series may go on. In upstream's order, which tells the reason twice. */
const FIXED = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
] as const;

function validateUpdate(event: Event, old: Event, context: StrategyContext): FieldError[] {
  const errors = anyEventErrors(event, context);
  if (context.requestGroup !== NEW_GROUP) return errors;
  metadataUpdateErrors(event.metadata, old.metadata, errors);
  kubeFinalizerErrors(event.metadata.finalizers, errors);
  if (!deepEqual(event.series, old.series)) seriesErrors(event, errors);
  for (const member of FIXED) immutableField(event[member], old[member], member, errors);
  immutableField(event.reportingComponent, old.reportingComponent, 'reportingController', errors);
  immutableField(event.reportingInstance, old.reportingInstance, 'reportingInstance', errors);
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

/** The newer group selects by its own names, and not by the source. */
const NEW_FIELD_LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((member) => [
      `regarding.${member}`,
      `involvedObject.${member}`,
    ]),
  ),
  reason: 'reason',
  reportingController: 'reportingComponent',
  type: 'type',
};

const about = (member: 'kind' | 'namespace' | 'name' | 'uid' | 'apiVersion' | 'resourceVersion' | 'fieldPath') => (event: Event) =>
  event.involvedObject?.[member] ?? '';

export const event = defineKind<Event>({
  resource: 'events',
  kind: 'Event',
  nameRule: nameIsPathSegment,
  createOnUpdate: true,
  defaultPropagation: 'None',
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
  conversions: [{ group: NEW_GROUP, version: 'v1', toStored, fromStored, fieldLabels: NEW_FIELD_LABELS }],
  cells,
});
