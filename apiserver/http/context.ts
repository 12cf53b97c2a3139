/**
 * One request while it is served: what the filters learn about it and what the handlers need of it. Mirrors what upstream keeps in a
 * request's context (RequestInfo, user, audit id, warnings).
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { FastifyReply } from 'fastify';
import type { AuditRecord } from '../audit/auditor.ts';
import type { UserInfo } from '../registry/resource.ts';
import type { HeldMemory } from './held-memory.ts';
import type { RequestInfo } from './request-info.ts';

export interface RequestContext {
  readonly info: RequestInfo;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: IncomingMessage | Http2ServerRequest;
  readonly reply: FastifyReply;
  user: UserInfo;
  /** Texts of the Warning headers, in order, each once. */
  readonly warnings: string[];
  /** Aborted when the client has gone, the deadline has passed or the server stops. */
  readonly signal: AbortSignal;
  /** Called once when the answer has been sent or given up. */
  readonly cleanups: (() => void)[];
  /** Where what it holds for its client is counted; absent for the server's own requests. */
  readonly memory?: HeldMemory;
  /** The bytes of the answer are made or on their way. */
  answering?: boolean;
  /** Set when the request is recorded. */
  audit?: AuditRecord;
}

export function warn(context: RequestContext, text: string): void {
  if (text !== '' && !context.warnings.includes(text)) context.warnings.push(text);
}

/** The first value of a header. */
export function header(context: { headers: IncomingHttpHeaders }, name: string): string | undefined {
  const value = context.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
