/**
 * Follows requests for the audit log. Mirrors apiserver `endpoints/filters/audit.go` and `authn_audit.go`: an event when a request has come, when a long
 * answer begins, when all is done, and when a handler broke.
 *
 * Invariants: no secret is ever in an event. Secrets, token requests and token reviews are recorded at Metadata at most, whatever the policy asks, and
 * headers not at all. A request that the policy does not record costs one look at the policy.
 */
import { isPlain, type Plain } from '../../machinery/api/plain.ts';
import type { ObjectReference } from '../../machinery/api/types/audit.k8s.io.v1.ts';
import type { Clock } from '../../machinery/process/clock.ts';
import type { Counter } from '../../machinery/process/metrics.ts';
import { attributesOf, type Decision } from '../http/authorize.ts';
import { parseBody } from '../http/body.ts';
import { header, type RequestContext } from '../http/context.ts';
import { isLongRunning } from '../http/in-flight.ts';
import type { UserInfo } from '../registry/resource.ts';
import { type AuditEvent, eventLine, withoutManagedFields } from './event.ts';
import type { AuditLog } from './log-file.ts';
import { type AuditPolicy, judge, LEVELS, type Level, type Stage, type Verdict } from './policy.ts';

/** What the path of a request tells about it. */
export interface AuditRecord {
  impersonated(user: UserInfo): void;
  authorized(decision: Decision): void;
  bodyRead(bytes: Buffer): void;
  answered(contentType: string, payload: unknown): void;
  broke(error: unknown): void;
}

export interface Auditor {
  /** Starts the record of a request whose sender is known. Undefined when there is room for it, else settles when there is. */
  begin(context: RequestContext): Promise<void> | undefined;
  /** A request whose credentials were refused. */
  refused(context: RequestContext): void;
  close(): Promise<void>;
}

export interface AuditorDeps {
  readonly policy: AuditPolicy;
  readonly log: AuditLog;
  readonly clock: Clock;
  readonly total: Counter;
}

const MAX_USER_AGENT = 1024;
const HOLD_SECRETS = new Set(['/secrets', '/serviceaccounts/token', 'authentication.k8s.io/tokenreviews']);

export function createAuditor(deps: AuditorDeps): Auditor {
  const { policy, log, clock, total } = deps;
  const emit = (event: AuditEvent, stage: Stage, { omitStages }: Verdict): void => {
    if (omitStages.includes(stage)) return;
    total.inc();
    log.write(eventLine(event, stage, clock.now()));
  };
  return {
    begin: (context) => {
      const verdict = capped(context, judge(policy, attributesOf(context.user, context.info)));
      if (verdict.level === 'None') return undefined;
      const event = newEvent(context, verdict.level, { user: context.user, received: clock.now() });
      emit(event, 'RequestReceived', verdict);
      context.audit = follow(context, event, verdict, emit);
      return log.room();
    },
    refused: (context) => {
      const verdict = capped(context, judge(policy, { ...attributesOf(context.user, context.info), user: undefined }));
      if (verdict.level === 'None') return;
      const event = newEvent(context, verdict.level, { user: undefined, received: clock.now() });
      const methods = header(context, 'authorization') === undefined ? 'x509' : 'bearer';
      event.responseStatus = { metadata: {}, message: `Authentication failed, attempted: ${methods}`, code: 401 };
      emit(event, 'ResponseStarted', verdict);
    },
    close: () => log.close(),
  };
}

function capped({ info }: RequestContext, verdict: Verdict): Verdict {
  if (verdict.level === 'None' || verdict.level === 'Metadata' || !info.isResourceRequest) return verdict;
  const { group, resource, subresource } = info;
  const holds = HOLD_SECRETS.has(`${group}/${resource}`) || HOLD_SECRETS.has(`${group}/${resource}/${subresource}`);
  return holds ? { ...verdict, level: 'Metadata' } : verdict;
}

function newEvent(context: RequestContext, level: Level, { user, received }: { user: UserInfo | undefined; received: Date }): AuditEvent {
  const { info } = context;
  const agent = header(context, 'user-agent') ?? '';
  return {
    level,
    auditID: String(context.reply.getHeader('audit-id') ?? ''),
    requestURI: context.reply.request.originalUrl,
    verb: info.verb,
    user,
    sourceIPs: sourceIps(context),
    userAgent: agent.length > MAX_USER_AGENT ? `${agent.slice(0, MAX_USER_AGENT)}...TRUNCATED` : agent,
    objectRef: info.isResourceRequest
      ? {
          resource: info.resource,
          namespace: info.namespace,
          name: info.name,
          apiGroup: info.group,
          apiVersion: info.version,
          subresource: info.subresource,
        }
      : undefined,
    received,
    annotations: {},
  };
}

/** What proxies say of where the request came from, then who sent it here. */
function sourceIps(context: RequestContext): string[] {
  const forwarded = (header(context, 'x-forwarded-for') ?? '').split(',').map((text) => text.trim());
  const real = (header(context, 'x-real-ip') ?? '').trim();
  const remote = context.raw.socket?.remoteAddress ?? '';
  return [...new Set([...forwarded, real, remote.replace(/^::ffff:/, '')])].filter((ip) => /^[0-9a-fA-F:.]{2,45}$/.test(ip));
}

type Emit = (event: AuditEvent, stage: Stage, verdict: Verdict) => void;

function follow(context: RequestContext, event: AuditEvent, verdict: Verdict, emit: Emit): AuditRecord {
  const { reply, info } = context;
  const at = (level: Level): boolean => LEVELS.indexOf(verdict.level) >= LEVELS.indexOf(level);
  const shown = (value: unknown): unknown => (verdict.omitManagedFields ? withoutManagedFields(value) : value);
  const long = isLongRunning(info);
  let started = false;
  let broken = false;
  const start = (code: number): void => {
    if (started || !long) return;
    started = true;
    event.responseStatus ??= { metadata: {}, code };
    emit(event, 'ResponseStarted', verdict);
  };
  if (long) onHeaders(reply.raw, start);
  context.cleanups.push(() => {
    if (broken) return;
    const code = reply.raw.statusCode;
    const closedEarly = !reply.raw.headersSent;
    event.responseStatus ??= closedEarly
      ? { metadata: {}, status: 'Success', message: 'Connection closed early', code: 200 }
      : { metadata: {}, code };
    start(code);
    emit(event, 'ResponseComplete', verdict);
  });
  return {
    impersonated: (user) => {
      event.impersonatedUser = user;
    },
    authorized: ({ allowed, reason }) => {
      event.annotations['authorization.k8s.io/decision'] = allowed ? 'allow' : 'forbid';
      event.annotations['authorization.k8s.io/reason'] = reason;
    },
    bodyRead: (bytes) => {
      const value = parsed(bytes, header(context, 'content-type') ?? '');
      if (value === undefined) return;
      if (info.verb !== 'patch') completeReference(event, value);
      if (at('Request')) event.requestObject = shown(value);
    },
    answered: (contentType, payload) => {
      if (!Buffer.isBuffer(payload) || !info.isResourceRequest) return;
      const isStatus = /^\{\s*"kind":\s*"Status"/.test(payload.subarray(0, 40).toString('latin1'));
      if (!isStatus && !at('RequestResponse')) return;
      const value = parsed(payload, contentType);
      if (isStatus) event.responseStatus = statusOf(value as Plain);
      if (at('RequestResponse')) event.responseObject = shown(value);
    },
    broke: (error) => {
      broken = true;
      const message = `APIServer panic'd: ${error instanceof Error ? error.message : String(error)}`;
      event.responseStatus = { metadata: {}, status: 'Failure', message, reason: 'InternalError', code: 500 };
      emit(event, 'Panic', verdict);
    },
  };
}

/** A stream writes its head itself, past every hook: this is the one sign that it has begun. */
function onHeaders(raw: RequestContext['reply']['raw'], begun: (code: number) => void): void {
  const writeHead = raw.writeHead.bind(raw) as (...args: unknown[]) => typeof raw;
  raw.writeHead = ((...args: unknown[]) => {
    begun(args[0] as number);
    return writeHead(...args);
  }) as typeof raw.writeHead;
}

/** Undefined for what is no object that we can read; that was answered with an error. */
function parsed(bytes: Buffer, contentType: string): unknown {
  if (bytes.length === 0) return undefined;
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  const form = type === '' || type.endsWith('json') ? 'application/json' : type.endsWith('yaml') ? 'application/yaml' : type;
  if (form !== 'application/json' && form !== 'application/yaml' && form !== 'application/vnd.kubernetes.protobuf') return undefined;
  try {
    return parseBody(bytes, form).value;
  } catch {
    return undefined;
  }
}

/** What the path does not say of the object, the object says. */
function completeReference(event: AuditEvent, value: unknown): void {
  const metadata = isPlain(value) && isPlain(value['metadata']) ? value['metadata'] : undefined;
  if (metadata === undefined || event.objectRef === undefined) return;
  const filled: ObjectReference = { ...event.objectRef };
  for (const member of ['namespace', 'name', 'uid', 'resourceVersion'] as const)
    if (!filled[member] && typeof metadata[member] === 'string') filled[member] = metadata[member];
  event.objectRef = filled;
}

function statusOf(value: Plain): Plain {
  const members = ['status', 'message', 'reason', 'details', 'code'].filter((name) => value[name] !== undefined);
  return { metadata: {}, ...Object.fromEntries(members.map((name) => [name, value[name]])) };
}
