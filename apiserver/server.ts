/**
 * The HTTP server: one fastify application over TLS, HTTP/2 and HTTP/1.1 on one port and on a Unix socket, and the path of every request
 * as one list of steps, in upstream's order (apiserver `server/config.go` DefaultBuildHandlerChain).
 *
 * Invariant: whatever a step or handler throws is turned into an answer in one place, `refuse`; no request ends the process.
 */
import { METHODS as EXISTING_METHODS } from 'node:http';
import { createSecureServer, type Http2SecureServer, type SecureServerOptions } from 'node:http2';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { forbidden, StatusError } from '../machinery/api/status.ts';
import { auditId } from './audit/audit-id.ts';
import type { Auditor, AuditRecord } from './audit/auditor.ts';
import type { NonResourceRoutes } from './discovery/routes.ts';
import type { Api } from './handlers/api.ts';
import { dispatch } from './handlers/dispatch.ts';
import { ANONYMOUS, authenticate } from './http/authenticate.ts';
import { type Attributes, attributesOf, deniedText } from './http/authorize.ts';
import { compress } from './http/compress.ts';
import type { RequestContext } from './http/context.ts';
import { deadlineMs } from './http/deadline.ts';
import { createDrain, type Drain } from './http/drain.ts';
import { answerExpectations } from './http/expect.ts';
import { createHeldMemory, type HeldMemory } from './http/held-memory.ts';
import { impersonated, impersonationVerb } from './http/impersonate.ts';
import { type InFlight, TooManyInFlight } from './http/in-flight.ts';
import { connectionLimits, cutOff, cutOffAfterAnswer, endSessionAfterAnswer, limitConnections } from './http/limits.ts';
import { PageNotFound } from './http/refusals.ts';
import { BadTarget, parseRequestInfo } from './http/request-info.ts';
import type { RequestMetrics } from './http/request-metrics.ts';
import { sendAnswer, sendError } from './http/respond.ts';
import { answerUnparsed, NOT_ALLOWED, refuseTunnels, requireHost } from './http/unparsed.ts';
import { routeUpgrades } from './http/web-socket.ts';
import type { UserInfo } from './registry/resource.ts';

export interface ServerDeps {
  readonly api: Api;
  readonly routes: NonResourceRoutes;
  readonly inFlight: InFlight;
  readonly metrics: RequestMetrics;
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string };
  readonly anonymousAuth: boolean;
  readonly requestTimeoutMs: number;
  /** Absent: nothing is recorded. */
  readonly audit: Auditor | undefined;
}

interface ServingDeps extends ServerDeps {
  readonly memory: HeldMemory;
  readonly drain: Drain;
}

export interface ApiHttpServer {
  listen(host: string, port: number): Promise<number>;
  listenSocket(path: string): Promise<void>;
  close(): Promise<void>;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

const EXISTING = new Set(EXISTING_METHODS);

/** The reply of a request carries what is known of it, once that is. */
type Reply = FastifyReply & { serving?: RequestContext };

function tlsOptions(deps: ServerDeps): SecureServerOptions {
  return {
    allowHTTP1: true,
    cert: deps.tls.cert,
    key: deps.tls.key,
    ca: deps.tls.ca,
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    ...connectionLimits(),
  };
}

function makeApp(deps: ServerDeps): FastifyInstance {
  return fastify({
    http2: true,
    https: tlsOptions(deps),
    logger: false,
    // The router sees one address: paths are read once, by hand, in parseRequestInfo.
    rewriteUrl: () => '/',
    // Requests that were taken are answered, with the word that the connection ends (drain.ts).
    forceCloseConnections: false,
    return503OnClosing: false,
    clientErrorHandler: answerUnparsed,
    exposeHeadRoutes: false,
  } as object) as unknown as FastifyInstance;
}

export function createApiServer(deps: ServerDeps): ApiHttpServer {
  const app = makeApp(deps);
  const route = (request: object, response: object): void => app.routing(request as never, response as never);
  const connections = [limitConnections(app.server as unknown as Http2SecureServer, deps.requestTimeoutMs, deps.api.clock)];
  routeUpgrades(app.server as unknown as Http2SecureServer, route);
  refuseTunnels(app.server as unknown as Http2SecureServer);
  answerExpectations(app.server as unknown as Http2SecureServer, route);
  const drain = createDrain(deps.api.clock);
  addRoute(app, { ...deps, drain, memory: createHeldMemory() });
  const second: Http2SecureServer[] = [];
  return {
    listen: async (host, port) => {
      await app.listen({ host, port });
      return (app.server.address() as { port: number }).port;
    },
    listenSocket: async (path) => {
      await app.ready();
      const server = createSecureServer(tlsOptions(deps), route);
      connections.push(limitConnections(server, deps.requestTimeoutMs, deps.api.clock));
      routeUpgrades(server, route);
      refuseTunnels(server);
      answerExpectations(server, route);
      second.push(server);
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
    },
    close: async () => {
      for (const server of second) server.close();
      const closed = app.close();
      await drain.wait(() => {
        for (const open of connections) open.endIdle();
      });
      for (const open of connections) open.end();
      await closed;
    },
  };
}

/** A step of a request's path: it throws to refuse, and answers a promise only when there is something to wait for. */
type Step = (context: RequestContext, deps: ServerDeps) => Promise<void> | undefined | void;

/** The path of a request. What is asked is known before the first step (`makeContext`). */
const STEPS: readonly Step[] = [
  // How long it may take
  startDeadline,
  // Who asks
  identify,
  // For the record; waits where the log has no room
  (context, { audit }) => audit?.begin(context),
  // As whom
  impersonate,
  // Not too many at once
  (context, { inFlight }) => {
    const leave = inFlight.enter(context.info, context.user);
    if (leave !== undefined) context.cleanups.push(leave);
  },
  // May they
  ({ user, info, audit }, deps) => authorize(deps, attributesOf(user, info), audit),
];

/** All requests take one route: fastify reads and writes HTTP, the steps are ours. */
function addRoute(app: FastifyInstance, deps: ServingDeps): void {
  for (const method of METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true } as { hasBody: boolean });
  app.decorateReply('serving', undefined);
  const handler = (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => serve(deps, request, reply as Reply);
  app.route({ method: METHODS, url: '/', handler });
  app.setNotFoundHandler(handler);
  app.addHook('onSend', (_request, reply, payload, done) => {
    const context = (reply as Reply).serving;
    if (context === undefined) {
      done();
      return;
    }
    context.answering = true;
    if (deps.drain.draining && context.raw.httpVersionMajor === 1) reply.header('connection', 'close');
    context.audit?.answered(String(reply.getHeader('content-type') ?? ''), payload);
    if (Buffer.isBuffer(payload)) compress(context, payload, (bytes) => done(null, bytes));
    else done();
  });
  app.setErrorHandler((error, _request, reply) => refuse(deps, (reply as Reply).serving, reply, error));
}

function identify(context: RequestContext, deps: ServerDeps): Promise<void> | undefined {
  const refused = (error: unknown): never => {
    endSessionAfterAnswer(context);
    deps.audit?.refused(context);
    throw error;
  };
  const known = (user: UserInfo): void => {
    context.user = user;
    if (user === ANONYMOUS) endSessionAfterAnswer(context);
  };
  try {
    const user = authenticate(context, { tokens: deps.api.tokens, anonymousAuth: deps.anonymousAuth });
    if (user instanceof Promise) return user.then(known, refused);
    known(user);
  } catch (error) {
    refused(error);
  }
  return undefined;
}

function impersonate(context: RequestContext, deps: ServerDeps): void {
  const user = impersonated(context);
  if (user === undefined) return;
  const attributes = attributesOf(context.user, context.info);
  authorize(deps, { ...attributes, verb: impersonationVerb(attributes.verb) });
  context.user = user;
  context.audit?.impersonated(user);
}

function makeContext(deps: ServingDeps, request: FastifyRequest, reply: FastifyReply): RequestContext {
  requireHost(request.raw as never);
  const info = parseRequestInfo(request.method, request.originalUrl);
  const abort = lazyAbort();
  const context: RequestContext = {
    info,
    method: request.method,
    headers: request.headers,
    raw: request.raw as never,
    reply,
    user: ANONYMOUS,
    warnings: [],
    get signal() {
      return abort.signal();
    },
    cleanups: [],
    memory: deps.memory,
  };
  const finish = deps.metrics.start(context);
  reply.raw.once('close', () => {
    abort.abort();
    finish(reply.raw.statusCode);
    for (const cleanup of context.cleanups) cleanup();
    context.cleanups.length = 0;
  });
  deps.drain.enter(context);
  reply.header('audit-id', auditId(request.headers, deps.api.random));
  return context;
}

const GONE = new Error('the client has gone');

/** Most requests never look at their signal: it is made when somebody does. */
function lazyAbort(): { signal(): AbortSignal; abort(): void } {
  let controller: AbortController | undefined;
  let aborted = false;
  return {
    signal: () => {
      if (controller === undefined) {
        controller = new AbortController();
        if (aborted) controller.abort(GONE);
      }
      return controller.signal;
    },
    abort: () => {
      aborted = true;
      controller?.abort(GONE);
    },
  };
}

function startDeadline(context: RequestContext, deps: ServerDeps): void {
  const ms = deadlineMs(context.info, deps.requestTimeoutMs);
  if (ms === undefined) return;
  if (ms < 1) throw new DeadlinePassed();
  const cancel = deps.api.clock.setTimer(ms, () => pastDeadline(context, deps), { unref: true });
  context.cleanups.push(cancel);
}

/** Without an answer: 504. With one that its client does not read: nothing more. */
function pastDeadline(context: RequestContext, { metrics }: ServerDeps): void {
  const { reply } = context;
  if (reply.sent || context.answering) {
    cutOff(context);
    return;
  }
  // The rest of a body that did not come in time is not waited for.
  if (!context.raw.complete) {
    if (context.raw.httpVersionMajor === 1) reply.header('connection', 'close');
    cutOffAfterAnswer(context);
  }
  metrics.terminated(context, 504);
  sendTimeout(context);
}

class DeadlinePassed extends Error {}

/** Upstream's timeout filter answers text with a bare Status. */
function sendTimeout(context: RequestContext): void {
  const status = {
    metadata: {},
    status: 'Failure',
    message: 'Timeout: request did not complete within the allotted timeout',
    reason: 'Timeout',
    details: {},
    code: 504,
  };
  sendText(context.reply, 504, JSON.stringify(status));
}

function sendText(reply: FastifyReply, code: number, text: string): void {
  reply.code(code).header('content-type', 'text/plain; charset=utf-8').header('x-content-type-options', 'nosniff').send(Buffer.from(text));
}

function authorize(deps: ServerDeps, attributes: Attributes, audit?: AuditRecord): void {
  const decision = deps.api.authorizer.authorize(attributes);
  audit?.authorized(decision);
  if (decision.allowed) return;
  const { isResourceRequest, group, resource, name } = attributes;
  throw forbidden(isResourceRequest ? { group, resource } : { group: '', resource: '' }, name, deniedText(attributes, decision.reason));
}

async function serve(deps: ServingDeps, request: FastifyRequest, reply: Reply): Promise<unknown> {
  try {
    const context = makeContext(deps, request, reply);
    reply.serving = context;
    for (const step of STEPS) {
      const pending = step(context, deps);
      if (pending !== undefined) await pending;
    }
    const { answer, form } = context.info.isResourceRequest ? await dispatch(deps.api, context) : await deps.routes.serve(context);
    if (!reply.sent) await sendAnswer(deps.api, context, answer, form);
  } catch (error) {
    refuse(deps, reply.serving, reply, error);
  }
  return reply;
}

function refuse(deps: ServerDeps, context: RequestContext | undefined, reply: FastifyReply, error: unknown): void {
  if (reply.sent) return;
  if (error instanceof BadTarget || context === undefined) {
    // Over HTTP/2 a method is any word; the router knows none of these, so no step has run.
    if (context === undefined && !EXISTING.has(reply.request.method)) {
      deps.api.logger.debug({ method: reply.request.method }, 'no such method');
      reply.code(405).header('content-type', 'application/json').send(Buffer.from(NOT_ALLOWED));
      return;
    }
    if (!(error instanceof BadTarget)) deps.api.logger.error({ err: error }, 'request failed before it was read');
    if (reply.request.raw.httpVersionMajor === 1) reply.header('connection', 'close');
    sendText(reply, 400, error instanceof BadTarget && error.message !== '' ? `400 Bad Request: ${error.message}` : '400 Bad Request');
    return;
  }
  if (context.signal.aborted) {
    reply.hijack();
    return;
  }
  if (error instanceof PageNotFound) sendText(reply, 404, '404 page not found\n');
  else if (error instanceof DeadlinePassed) sendTimeout(context);
  else if (error instanceof TooManyInFlight) {
    deps.metrics.terminated(context, 429);
    reply.header('retry-after', String(error.retryAfterSeconds));
    sendText(reply, 429, 'Too many requests, please try again later.\n');
  } else {
    if (!(error instanceof StatusError)) context.audit?.broke(error);
    sendError(deps.api, context, error);
  }
}
