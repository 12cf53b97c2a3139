/**
 * The OpenAPI addresses: `/openapi/v3` (an index with a hash for each group version, and the documents) and `/openapi/v2`.
 * Mirrors kube-openapi `handler3` and `handler`. Documents are made when first asked for.
 */
import { createHash } from 'node:crypto';
import type { ResourceInfo } from '../../machinery/api/schema/resources.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { VERSION } from '../discovery/version.ts';
import type { Answer } from '../handlers/answer.ts';
import type { Catalog } from '../handlers/served.ts';
import { header, type RequestContext } from '../http/context.ts';
import { parseAccept } from '../http/negotiate.ts';
import { resourcePaths } from './operations.ts';
import { encodeOpenApiV2 } from './protobuf.ts';
import { type Dialect, type Json, SchemaCollector } from './schemas.ts';

export interface OpenApi {
  /** Undefined for a path that is not of OpenAPI. */
  serve(context: RequestContext): Answer | undefined;
}

interface Document {
  readonly body: Buffer;
  readonly hash: string;
}

/** Group versions beside those of resources that have a document of their own upstream. */
const OTHER_PATHS = ['.well-known/openid-configuration', 'api', 'apis', 'openid/v1/jwks', 'version'];
const JSON_TYPE = 'application/json';

export function createOpenApi(catalog: Catalog): OpenApi {
  const documents = new Map<string, Document>();
  const document = (name: string): Document | undefined => {
    let found = documents.get(name);
    if (found === undefined && names(catalog).includes(name)) {
      found = seal(v3Document(catalog, name));
      documents.set(name, found);
    }
    return found;
  };
  let v2: { readonly json: Document; readonly protobuf: Document } | undefined;
  return {
    serve: (context) => {
      const { path } = context.info;
      if (path === '/openapi/v3' || path === '/openapi/v3/') return index(catalog, document);
      if (path.startsWith('/openapi/v3/')) return v3Answer(context, path.slice('/openapi/v3/'.length), document);
      if (path !== '/openapi/v2') return undefined;
      v2 ??= sealBoth(v2Document(catalog));
      return v2Answer(context, v2);
    },
  };
}

const seal = (document: Json): Document => sealed(Buffer.from(JSON.stringify(document)));

const sealBoth = (document: Json): { json: Document; protobuf: Document } => ({
  json: seal(document),
  protobuf: sealed(encodeOpenApiV2(document)),
});

function sealed(body: Buffer): Document {
  return { body, hash: createHash('sha512').update(body).digest('hex').toUpperCase() };
}

const gvName = (info: { group: string; version: string }): string =>
  info.group === '' ? `api/${info.version}` : `apis/${info.group}/${info.version}`;

function names(catalog: Catalog): string[] {
  const versions = catalog.all().map((served) => gvName(served));
  const groups = catalog
    .all()
    .filter((served) => served.group !== '')
    .map((served) => `apis/${served.group}`);
  return [...new Set([...versions, ...groups, ...OTHER_PATHS])].sort();
}

function index(catalog: Catalog, document: (name: string) => Document | undefined): Answer {
  const paths = Object.fromEntries(
    names(catalog).map((name) => [name, { serverRelativeURL: `/openapi/v3/${name}?hash=${document(name)!.hash}` }]),
  );
  return { type: 'raw', code: 200, contentType: 'text/plain; charset=utf-8', body: Buffer.from(JSON.stringify({ paths })) };
}

const empty = (code: number, headers?: Record<string, string>): Answer => ({
  type: 'raw',
  code,
  contentType: '',
  body: '',
  ...(headers && { headers }),
});

function accepts(context: RequestContext): boolean {
  const accept = header(context, 'accept') ?? '';
  return accept === '' || parseAccept(accept).some((c) => ['*/*', 'application/*', JSON_TYPE].includes(c.type));
}

function v3Answer(context: RequestContext, name: string, document: (name: string) => Document | undefined): Answer {
  const found = document(name);
  if (found === undefined) return empty(404);
  if (!accepts(context)) return empty(406);
  const hash = context.info.query.get('hash');
  if (hash !== undefined && hash !== '' && hash !== found.hash) {
    return { type: 'raw', code: 301, contentType: JSON_TYPE, body: '', headers: { location: `/openapi/v3/${name}?hash=${found.hash}` } };
  }
  const etag = `"${found.hash}"`;
  const headers = { etag, vary: 'Accept', ...(hash && { 'cache-control': 'public, immutable' }) };
  if (header(context, 'if-none-match') === etag) return empty(304, headers);
  return { type: 'raw', code: 200, contentType: JSON_TYPE, body: found.body, headers };
}

/** What is asked for, and what it is called in the answer. The first name has an @, which no media type may have; clients send it still. */
const V2_TYPES: Readonly<Record<string, 'json' | 'protobuf'>> = {
  [JSON_TYPE]: 'json',
  '*/*': 'json',
  'application/*': 'json',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf': 'protobuf',
  'application/com.github.proto-openapi.spec.v2.v1.0+protobuf': 'protobuf',
};
const CONTENT_TYPES = { json: JSON_TYPE, protobuf: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' };

function v2Answer(context: RequestContext, found: { readonly json: Document; readonly protobuf: Document }): Answer {
  const accept = header(context, 'accept') || '*/*';
  const form = parseAccept(accept)
    .map(({ type }) => (Object.hasOwn(V2_TYPES, type) ? V2_TYPES[type] : undefined))
    .find((known) => known !== undefined);
  if (form === undefined) return empty(406);
  const { body, hash } = found[form];
  const etag = `"${hash}"`;
  const headers = { etag, vary: 'Accept' };
  if (header(context, 'if-none-match') === etag) return empty(304, headers);
  return { type: 'raw', code: 200, contentType: CONTENT_TYPES[form], body, headers };
}

const INFO = { title: 'Kubernetes', version: VERSION.gitVersion };

function addResource(info: ResourceInfo, collector: SchemaCollector): void {
  const kind = { group: info.group, kind: info.kind, version: info.version };
  collector.addKinds(typeSchema(info.type), [kind]);
  if (info.listType !== undefined) collector.addKinds(typeSchema(info.listType), [{ ...kind, kind: info.listKind ?? `${info.kind}List` }]);
  for (const sub of info.subresources ?? []) {
    const { group = info.group, version = info.version } = sub;
    if (sub.kind !== info.kind) collector.addKinds(typeSchema(sub.type), [{ group, kind: sub.kind, version }]);
  }
}

function collect(infos: readonly ResourceInfo[], dialect: Dialect): { paths: Json; schemas: Json } {
  const collector = new SchemaCollector(dialect);
  const paths: Json = {};
  for (const info of infos) {
    addResource(info, collector);
    Object.assign(paths, resourcePaths(info, collector, dialect));
  }
  return { paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))), schemas: collector.all() };
}

function v3Document(catalog: Catalog, name: string): Json {
  const infos = catalog
    .all()
    .filter((served) => gvName(served) === name)
    .map((served) => served.info);
  const { paths, schemas } = collect(infos, 'v3');
  const own =
    infos.length > 0 ? paths : { [`/${name}${name === 'version' ? '/' : ''}`]: { get: { responses: { '200': { description: 'OK' } } } } };
  return { openapi: '3.0.0', info: INFO, paths: own, components: { schemas } };
}

function v2Document(catalog: Catalog): Json {
  const { paths, schemas } = collect(
    catalog.all().map((served) => served.info),
    'v2',
  );
  return { swagger: '2.0', info: INFO, paths, definitions: schemas };
}
