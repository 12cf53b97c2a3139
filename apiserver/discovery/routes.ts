/**
 * Every path that names no resource: discovery, version, health, metrics, OpenAPI, the token issuer's keys. Mirrors the paths installed by
 * apiserver `server/genericapiserver.go` and `server/routes`.
 */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../../machinery/api/object.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { notAcceptable, notFoundPath } from '../../machinery/api/status.ts';
import { type HealthChecks, healthAnswer } from '../../machinery/process/health.ts';
import type { Metrics } from '../../machinery/process/metrics.ts';
import type { Answer } from '../handlers/answer.ts';
import { BACKUP_PATH, backupAnswer } from '../handlers/backup.ts';
import type { Dispatched } from '../handlers/dispatch.ts';
import type { Catalog } from '../handlers/served.ts';
import { header, type RequestContext } from '../http/context.ts';
import { encodeOrdered, encodeValue, finishJson } from '../http/encode.ts';
import { type AcceptClause, type MediaType, type Negotiated, parseAccept, routeNotAcceptable, wantsPretty } from '../http/negotiate.ts';
import { methodNotAllowedPath, pageNotFound } from '../http/refusals.ts';
import type { ServiceAccountTokens } from '../http/service-account-tokens.ts';
import type { OpenApi } from '../openapi/serve.ts';
import type { Store } from '../storage/interface.ts';
import { aggregated, apiGroup, apiGroupList, apiResourceList, apiVersions } from './documents.ts';
import { VERSION } from './version.ts';

export interface NonResourceDeps {
  readonly catalog: Catalog;
  readonly checks: HealthChecks;
  readonly metrics: Metrics;
  readonly tokens: ServiceAccountTokens;
  readonly openApi: OpenApi;
  readonly store: Store;
  /** `host:port` clients reach us by. */
  readonly address: () => string;
}

export interface NonResourceRoutes {
  serve(context: RequestContext): Promise<Dispatched>;
}

const DISCOVERY_TYPES: readonly MediaType[] = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const PLAIN_FORM: Negotiated = {
  mediaType: 'application/json',
  pretty: false,
  transform: undefined,
  transformVersion: 'v1',
  stream: false,
};
const ROOT_PATHS = [
  '/.well-known/openid-configuration',
  '/api',
  '/api/v1',
  '/apis',
  '/apis/',
  '/healthz',
  '/healthz/ping',
  '/livez',
  '/livez/ping',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  '/openid/v1/jwks',
  '/readyz',
  '/readyz/ping',
  '/version',
];

export function createNonResourceRoutes(deps: NonResourceDeps): NonResourceRoutes {
  const routes: ((context: RequestContext, path: string) => Promise<Answer | undefined> | Answer | undefined)[] = [
    (context) => health(deps, context),
    (context, path) => discovery(deps, context, path),
    (context, path) => other(deps, context, path),
    (context) => deps.openApi.serve(context),
    (context, path) => (path === BACKUP_PATH ? backupAnswer(deps.store, context) : undefined),
  ];
  return {
    serve: async (context) => {
      const { path } = context.info;
      if (path === '*') return { answer: { type: 'raw', code: 200, contentType: '', body: '' }, form: PLAIN_FORM };
      if (path.startsWith('//')) throw pageNotFound();
      for (const route of routes) {
        const answer = await route(context, path);
        if (answer !== undefined) return { answer, form: PLAIN_FORM };
      }
      throw missing(deps, path);
    },
  };
}

/** Below what exists a Status says so, elsewhere plain text. */
function missing(deps: NonResourceDeps, path: string): Error {
  const parts = path.split('/').slice(1);
  if (parts[0] === 'version' || parts[0] === 'api') return notFoundPath();
  return parts[0] === 'apis' && deps.catalog.hasGroup(parts[1] ?? '') ? notFoundPath() : pageNotFound();
}

const text = (code: number, body: string): Answer => ({
  type: 'raw',
  code,
  contentType: 'text/plain; charset=utf-8',
  body: Buffer.from(body),
});

const HEALTH_HEADERS = { 'x-content-type-options': 'nosniff' };

async function health(deps: NonResourceDeps, context: RequestContext): Promise<Answer | undefined> {
  const { path, rawQuery } = context.info;
  const answer = await healthAnswer(deps.checks, path, new URLSearchParams(rawQuery));
  if (answer === undefined) return undefined;
  return { ...text(answer.code, answer.body), headers: HEALTH_HEADERS } as Answer;
}

function discovery(deps: NonResourceDeps, context: RequestContext, path: string): Answer | undefined {
  const parts = path.replace(/\/$/, '').split('/').slice(1);
  if (parts.includes('') || parts.length > 3) return undefined;
  const [root, group, version] = parts;
  if (root === 'api') {
    if (parts.length > 2 || (group !== undefined && group !== 'v1')) return undefined;
    onlyGet(context);
    if (group === 'v1') return documentAnswer(context, 'meta.v1.APIResourceList', apiResourceList(deps.catalog, '', 'v1'));
    return aggregatedAnswer(deps, context, true) ?? documentAnswer(context, 'meta.v1.APIVersions', apiVersions(deps.address()));
  }
  if (root !== 'apis') return undefined;
  if (group === undefined)
    return aggregatedAnswer(deps, context, false) ?? documentAnswer(context, 'meta.v1.APIGroupList', apiGroupList(deps.catalog));
  const found = deps.catalog.groups().find((g) => g.group === group && g.group !== '');
  if (found === undefined) return undefined;
  if (version === undefined) return documentAnswer(context, 'meta.v1.APIGroup', apiGroup(found, true));
  if (!found.versions.includes(version)) return undefined;
  onlyGet(context);
  return documentAnswer(context, 'meta.v1.APIResourceList', apiResourceList(deps.catalog, group, version));
}

function onlyGet(context: RequestContext): void {
  if (context.method !== 'GET') throw methodNotAllowedPath();
}

const isAggregated = (clause: AcceptClause): boolean =>
  DISCOVERY_TYPES.includes(clause.type as MediaType) &&
  clause.parameters['g'] === 'apidiscovery.k8s.io' &&
  clause.parameters['v'] === 'v2' &&
  clause.parameters['as'] === 'APIGroupDiscoveryList';

function aggregatedAnswer(deps: NonResourceDeps, context: RequestContext, core: boolean): Answer | undefined {
  const asked = parseAccept(header(context, 'accept') ?? '').find(isAggregated);
  if (asked === undefined) return undefined;
  const mediaType = asked.type as MediaType;
  const body = encodeDocument('apidiscovery.k8s.io.v2.APIGroupDiscoveryList', aggregated(deps.catalog, core), { mediaType, pretty: false });
  const etag = `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`;
  const contentType = `${mediaType};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`;
  const headers = { etag, vary: 'Accept' };
  if (header(context, 'if-none-match') === etag) return { type: 'raw', code: 304, contentType: '', body: '', headers };
  return { type: 'raw', code: 200, contentType, body, headers };
}

/** Discovery documents are objects like others, but never Tables. */
function documentAnswer(context: RequestContext, type: string, value: Record<string, unknown>): Answer {
  const accept = header(context, 'accept') ?? '';
  const clauses = accept === '' ? [{ type: '*/*', parameters: {} }] : parseAccept(accept);
  const chosen = clauses.find((c) => (c.type === '*/*' || DISCOVERY_TYPES.includes(c.type as MediaType)) && !c.parameters['as']);
  if (chosen === undefined) {
    const routed = ROUTED.has(type) && !clauses.some((c) => DISCOVERY_TYPES.includes(c.type as MediaType));
    throw routed
      ? routeNotAcceptable(DISCOVERY_TYPES)
      : notAcceptable(`only the following media types are accepted: ${DISCOVERY_TYPES.join(', ')}`);
  }
  const mediaType = chosen.type === '*/*' ? 'application/json' : (chosen.type as MediaType);
  return { type: 'raw', code: 200, contentType: mediaType, body: encodeDocument(type, value, { mediaType, pretty: wantsPretty(context) }) };
}

/** Documents that upstream's router knows; the others have handlers of their own, with another text. */
const ROUTED = new Set(['meta.v1.APIVersions', 'meta.v1.APIResourceList']);

function encodeDocument(type: string, value: Record<string, unknown>, form: { mediaType: MediaType; pretty: boolean }): Buffer {
  if (form.mediaType === 'application/json') return finishJson(encodeOrdered(value), form.pretty);
  return encodeValue(typeSchema(type), value as unknown as KubeObject, form);
}

async function other(deps: NonResourceDeps, context: RequestContext, path: string): Promise<Answer | undefined> {
  if (path === '/') return json(context, { paths: ROOT_PATHS });
  if (path === '/version' || path === '/version/') {
    onlyGet(context);
    requireJson(context);
    return { type: 'raw', code: 200, contentType: 'application/json', body: finishJson(encodeOrdered(VERSION), true) };
  }
  if (path === '/metrics')
    return { type: 'raw', code: 200, contentType: deps.metrics.contentType, body: Buffer.from(await deps.metrics.text()) };
  if (path === '/openid/v1/jwks') {
    onlyGet(context);
    if (!acceptsType(context, 'application/jwk-set+json')) throw routeNotAcceptable(['application/jwk-set+json']);
    return { type: 'raw', code: 200, contentType: 'application/jwk-set+json', body: Buffer.from(JSON.stringify(deps.tokens.jwks())) };
  }
  if (path === '/.well-known/openid-configuration') {
    onlyGet(context);
    const jwks = `https://${deps.address()}/openid/v1/jwks`;
    return json(context, {
      issuer: deps.tokens.issuer,
      jwks_uri: jwks,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    });
  }
  return undefined;
}

function json(_context: RequestContext, value: unknown): Answer {
  return { type: 'raw', code: 200, contentType: 'application/json', body: finishJson(encodeOrdered(value), true) };
}

function acceptsType(context: RequestContext, type: string): boolean {
  const accept = header(context, 'accept') ?? '';
  return accept === '' || parseAccept(accept).some((c) => c.type === '*/*' || c.type === type);
}

function requireJson(context: RequestContext): void {
  if (!acceptsType(context, 'application/json')) throw routeNotAcceptable(['application/json']);
}
