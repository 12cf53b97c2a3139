/**
 * One audit event as a line of JSON: audit.k8s.io/v1 Event, with its members in Go's order. Mirrors apiserver `pkg/audit/request.go`.
 */
import { encodeAny } from '../../machinery/api/json.ts';
import { isPlain, type Plain } from '../../machinery/api/plain.ts';
import { formatMicroTime } from '../../machinery/api/time.ts';
import type { ObjectReference } from '../../machinery/api/types/audit.k8s.io.v1.ts';
import type { UserInfo } from '../registry/resource.ts';
import type { Level, Stage } from './policy.ts';

export interface AuditEvent {
  readonly level: Level;
  readonly auditID: string;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: UserInfo | undefined;
  impersonatedUser?: UserInfo;
  readonly sourceIPs: readonly string[];
  readonly userAgent: string;
  objectRef: ObjectReference | undefined;
  responseStatus?: Plain;
  /** Parsed values. */
  requestObject?: unknown;
  responseObject?: unknown;
  readonly received: Date;
  readonly annotations: Record<string, string>;
}

export function eventLine(event: AuditEvent, stage: Stage, now: Date): string {
  const { objectRef, annotations } = event;
  const members: [string, unknown][] = [
    ['kind', 'Event'],
    ['apiVersion', 'audit.k8s.io/v1'],
    ['level', event.level],
    ['auditID', event.auditID],
    ['stage', stage],
    ['requestURI', event.requestURI],
    ['verb', event.verb],
    ['user', event.user === undefined ? {} : userText(event.user)],
    ['impersonatedUser', event.impersonatedUser && userText(event.impersonatedUser)],
    ['sourceIPs', event.sourceIPs.length === 0 ? undefined : event.sourceIPs],
    ['userAgent', event.userAgent || undefined],
    ['objectRef', objectRef && Object.fromEntries(Object.entries(objectRef).filter(([, value]) => value !== ''))],
    ['responseStatus', event.responseStatus],
    ['requestObject', event.requestObject],
    ['responseObject', event.responseObject],
    ['requestReceivedTimestamp', formatMicroTime(event.received)],
    ['stageTimestamp', formatMicroTime(now)],
    ['annotations', Object.keys(annotations).length === 0 ? undefined : annotations],
  ];
  const texts = members
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `"${name}":${OBJECTS.has(name) ? encodeAny(value).toString() : JSON.stringify(value)}`);
  return `{${texts.join(',')}}`;
}

/** These may hold numbers that JavaScript would round. */
const OBJECTS = new Set(['requestObject', 'responseObject']);

function userText({ name, uid, groups, extra }: UserInfo): Plain {
  return { username: name, ...(uid && { uid }), ...(groups.length > 0 && { groups }), ...(extra && { extra }) };
}

/** The object, or the items of the list, without managedFields. */
export function withoutManagedFields(value: unknown): unknown {
  if (!isPlain(value)) return value;
  const { metadata, items } = value;
  return {
    ...value,
    ...(isPlain(metadata) && { metadata: Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== 'managedFields')) }),
    ...(Array.isArray(items) && { items: items.map(withoutManagedFields) }),
  };
}
