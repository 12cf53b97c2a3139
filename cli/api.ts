/**
 * Requests to the API server for resources known only at run time. Thin over the client's raw requests: builds paths, reads JSON,
 * throws `StatusError` for every answer of 400 and above. Mirrors cli-runtime's resource.Helper.
 */
import type { AnyObject } from '../machinery/api/object.ts';
import { isReason, StatusError } from '../machinery/api/status.ts';
import type { Client, PatchType } from '../machinery/client/client.ts';
import { errorFromResponse } from '../machinery/client/errors.ts';
import type { Resource } from './discovery/mapper.ts';

export interface ApiRequest {
  readonly method?: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export interface Where {
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

export interface WriteQuery {
  readonly dryRun?: 'none' | 'client' | 'server';
  readonly fieldManager?: string;
  readonly fieldValidation?: string;
  readonly force?: boolean;
}

const segment = (text: string): string => encodeURIComponent(text);

/** `/apis/apps/v1/namespaces/default/deployments/web/scale`. */
export function resourcePath(resource: Pick<Resource, 'group' | 'version' | 'resource' | 'namespaced'>, where: Where): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = resource.namespaced && where.namespace ? `/namespaces/${segment(where.namespace)}` : '';
  const name = where.name ? `/${segment(where.name)}` : '';
  return `${root}${scope}/${resource.resource}${name}${where.subresource ? `/${where.subresource}` : ''}`;
}

export function withQuery(path: string, query: ApiRequest['query'] = {}): string {
  const pairs = Object.entries(query).filter(
    (pair): pair is [string, string | number | boolean] => pair[1] !== undefined && pair[1] !== '',
  );
  const text = pairs.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join('&');
  return text === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${text}`;
}

const writeQuery = (write: WriteQuery): ApiRequest['query'] => ({
  fieldManager: write.fieldManager,
  fieldValidation: write.fieldValidation,
  dryRun: write.dryRun === 'server' ? 'All' : undefined,
  force: write.force || undefined,
});

export class Api {
  readonly client: Client;
  constructor(client: Client) {
    this.client = client;
  }

  async text(request: ApiRequest): Promise<string> {
    const response = await this.client.raw({
      method: request.method ?? 'GET',
      path: withQuery(request.path, request.query),
      headers: requestHeaders(request),
      body: request.body,
      signal: request.signal,
    });
    if (response.code >= 400) throw errorFromResponse(response.code, response.body, { method: request.method ?? 'GET' });
    return response.body.toString('utf8');
  }

  async json<T = AnyObject>(request: ApiRequest): Promise<T> {
    return JSON.parse(await this.text(request)) as T;
  }

  /** The body as it arrives. */
  async stream(request: ApiRequest): Promise<AsyncIterable<Buffer>> {
    const response = await this.client.stream({
      method: request.method ?? 'GET',
      path: withQuery(request.path, request.query),
      headers: requestHeaders(request),
      signal: request.signal,
    });
    if (response.code >= 400) {
      const chunks: Buffer[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      throw errorFromResponse(response.code, Buffer.concat(chunks), { method: request.method ?? 'GET' });
    }
    return response.body;
  }

  get(resource: Resource, where: Where): Promise<AnyObject> {
    return this.json({ path: resourcePath(resource, where) });
  }
  async list(
    resource: Resource,
    namespace: string | undefined,
    query: ApiRequest['query'] = {},
  ): Promise<AnyObject & { items: AnyObject[] }> {
    try {
      return await this.json({ path: resourcePath(resource, { namespace }), query });
    } catch (error) {
      throw listError(error, resource, query);
    }
  }
  create(resource: Resource, where: Where, object: unknown, write: WriteQuery = {}): Promise<AnyObject> {
    return this.json({ method: 'POST', path: resourcePath(resource, where), body: object, query: writeQuery(write) });
  }
  replace(resource: Resource, where: Where, object: unknown, write: WriteQuery = {}): Promise<AnyObject> {
    return this.json({ method: 'PUT', path: resourcePath(resource, where), body: object, query: writeQuery(write) });
  }
  patch(resource: Resource, where: Where, type: PatchType, patch: unknown, write: WriteQuery = {}): Promise<AnyObject> {
    const path = resourcePath(resource, where);
    return this.json({ method: 'PATCH', path, contentType: type, body: patch, query: writeQuery(write) });
  }
  delete(resource: Resource, where: Where, options: Record<string, unknown> = {}): Promise<AnyObject> {
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', ...options };
    return this.json({ method: 'DELETE', path: resourcePath(resource, where), body });
  }

  /** Watch events as they come; ends with the stream or the signal. */
  async *watch(request: ApiRequest): AsyncIterable<{ type: string; object: AnyObject }> {
    const body = await this.stream({ ...request, query: { ...request.query, watch: 'true' } });
    let pending = '';
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      pending += decoder.decode(chunk, { stream: true });
      for (let end = pending.indexOf('\n'); end >= 0; end = pending.indexOf('\n')) {
        const line = pending.slice(0, end);
        pending = pending.slice(end + 1);
        if (line !== '') yield JSON.parse(line);
      }
    }
  }
}

/** Says what was looked for, as cli-runtime's EnhanceListError. */
export function listError(error: unknown, resource: Resource, query: ApiRequest['query'] = {}): unknown {
  if (!isReason(error, 'BadRequest', 'NotFound')) return error;
  const name = `${resource.group}/${resource.version}, Resource=${resource.resource}`;
  const { labelSelector = '', fieldSelector = '' } = query;
  const where =
    labelSelector === '' && fieldSelector === ''
      ? `Unable to list "${name}"`
      : `Unable to find "${name}" that match label selector "${labelSelector}", field selector "${fieldSelector}"`;
  const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...status } = error.status;
  return new StatusError({ ...status, message: `${where}: ${error.message}` }, { cause: error });
}

function requestHeaders(request: ApiRequest): Record<string, string> {
  return {
    accept: request.accept ?? 'application/json',
    ...(request.body !== undefined && { 'content-type': request.contentType ?? 'application/json' }),
  };
}
