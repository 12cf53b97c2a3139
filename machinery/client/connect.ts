/**
 * The typed client: verbs → requests, answers → objects or errors. Mirrors client-go's `rest.Request`: paths by group and version, answers with
 * Retry-After (429 and 5xx) are tried again, a Status is thrown as StatusError.
 */
import { formatApiVersion, type KubeObject } from '../api/object.ts';
import { type Clock, systemClock } from '../process/clock.ts';
import type {
  Client,
  DeleteParams,
  ListParams,
  ObjectList,
  ObjectName,
  PatchType,
  RawRequest,
  RawResponse,
  WatchEvent,
  WatchParams,
  WriteParams,
} from './client.ts';
import { ConnectionError, errorFromResponse } from './errors.ts';
import { type ClientConfig, readKubeconfig } from './kubeconfig.ts';
import { lines } from './lines.ts';
import { deleteBody, listQuery, resourcePath, watchQuery, writeQuery } from './paths.ts';
import type { ResourceType } from './resource-type.ts';
import { createTransport, type Transport, type TransportRequest } from './transport.ts';

export interface ClientOptions {
  /** Path of a kubeconfig, or what one says. */
  readonly kubeconfig: string | ClientConfig;
  /** `kube-scheduler`; servers name the field manager after its first word. */
  readonly userAgent: string;
  readonly clock?: Clock;
  /** Texts of `Warning` headers. */
  readonly onWarning?: (text: string) => void;
}

/** How often an answer with Retry-After is tried again, as client-go. */
const MAX_RETRIES = 10;
const JSON_TYPE = 'application/json';

export function createClient(options: ClientOptions): Client {
  const config = typeof options.kubeconfig === 'string' ? readKubeconfig(options.kubeconfig) : options.kubeconfig;
  const clock = options.clock ?? systemClock;
  return new ApiClient(createTransport(config, clock), options, clock);
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly type: ResourceType;
  readonly name?: string | undefined;
  readonly background?: boolean | undefined;
}

class ApiClient implements Client {
  readonly server: string;
  readonly #transport: Transport;
  readonly #options: ClientOptions;
  readonly #clock: Clock;

  constructor(transport: Transport, options: ClientOptions, clock: Clock) {
    this.server = transport.server;
    this.#transport = transport;
    this.#options = options;
    this.#clock = clock;
  }

  get<T extends KubeObject>(type: ResourceType<T>, name: ObjectName): Promise<T> {
    return this.#call({ method: 'GET', path: resourcePath(type, name.namespace, name.name), type, name: name.name });
  }

  async list<T extends KubeObject>(type: ResourceType<T>, params: ListParams = {}): Promise<ObjectList<T>> {
    const path = resourcePath(type, params.namespace) + listQuery(params);
    const answer = await this.#call<ObjectList<T>>({ method: 'GET', path, type, ...(params.metadataOnly && { accept: METADATA_LIST }) });
    const apiVersion = formatApiVersion(type);
    // items of a list carry no type of their own
    const items = answer.items ?? [];
    for (const item of items) {
      item.apiVersion = apiVersion;
      item.kind = type.kind;
    }
    return { items, metadata: answer.metadata };
  }

  create<T extends KubeObject>(type: ResourceType<T>, object: T, params: WriteParams = {}): Promise<T> {
    const { namespace, name } = object.metadata;
    const path = resourcePath(type, namespace, params.subresource ? name : undefined, params.subresource) + writeQuery(params);
    return this.#call({ method: 'POST', path, body: object, type, name, background: params.background });
  }

  update<T extends KubeObject>(type: ResourceType<T>, object: T, params: WriteParams = {}): Promise<T> {
    const { namespace, name } = object.metadata;
    const path = resourcePath(type, namespace, name ?? '', params.subresource) + writeQuery(params);
    return this.#call({ method: 'PUT', path, body: object, type, name });
  }

  createSubresource<R>(type: ResourceType, name: ObjectName, subresource: string, body: unknown, params: WriteParams = {}): Promise<R> {
    const path = resourcePath(type, name.namespace, name.name, subresource) + writeQuery(params);
    return this.#call({ method: 'POST', path, body, type, name: name.name });
  }

  patch<T extends KubeObject>(
    type: ResourceType<T>,
    name: ObjectName,
    patchType: PatchType,
    patch: unknown,
    params: WriteParams = {},
  ): Promise<T> {
    const path = resourcePath(type, name.namespace, name.name, params.subresource) + writeQuery(params);
    return this.#call({ method: 'PATCH', path, body: patch, contentType: patchType, type, name: name.name, background: params.background });
  }

  delete<T extends KubeObject>(type: ResourceType<T>, name: ObjectName, params: DeleteParams = {}): Promise<unknown> {
    return this.#call({
      method: 'DELETE',
      path: resourcePath(type, name.namespace, name.name),
      body: deleteBody(params),
      type,
      name: name.name,
    });
  }

  deleteCollection(type: ResourceType, selector: ListParams, params: DeleteParams = {}): Promise<unknown> {
    return this.#call({
      method: 'DELETE',
      path: resourcePath(type, selector.namespace) + listQuery(selector),
      body: deleteBody(params),
      type,
    });
  }

  async *watch<T extends KubeObject>(
    type: ResourceType<T>,
    params: WatchParams,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const path = resourcePath(type, params.namespace) + watchQuery(params);
    const headers = this.#headers(params.metadataOnly ? METADATA : JSON_TYPE);
    const response = await this.#transport.stream({ method: 'GET', path, headers, signal });
    if (response.code >= 400) throw errorFromResponse(response.code, await collect(response.body), { method: 'GET', resource: type });
    try {
      for await (const line of lines(response.body)) yield JSON.parse(line) as WatchEvent<T>;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  raw(request: RawRequest): Promise<RawResponse> {
    return this.#send(this.#rawRequest(request));
  }

  stream(
    request: RawRequest,
  ): Promise<{ readonly code: number; readonly headers: RawResponse['headers']; readonly body: AsyncIterable<Buffer> }> {
    return this.#transport.stream(this.#rawRequest(request));
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #rawRequest(request: RawRequest): TransportRequest {
    const { body } = request;
    const encoded = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const headers = {
      ...this.#headers(JSON_TYPE),
      ...(body !== undefined && { 'content-type': JSON_TYPE }),
      ...lowerCase(request.headers),
    };
    return { method: request.method, path: request.path, headers, body: encoded, signal: request.signal };
  }

  #headers(accept: string): Record<string, string> {
    return { accept: accept, 'user-agent': this.#options.userAgent };
  }

  async #call<R>(call: Call): Promise<R> {
    const hasBody = call.body !== undefined;
    const response = await this.#send({
      method: call.method,
      path: call.path,
      headers: { ...this.#headers(call.accept ?? JSON_TYPE), ...(hasBody && { 'content-type': call.contentType ?? JSON_TYPE }) },
      ...(hasBody && { body: typeof call.body === 'string' ? call.body : JSON.stringify(call.body) }),
      background: call.background,
    });
    if (response.code >= 400)
      throw errorFromResponse(response.code, response.body, {
        method: call.method,
        resource: call.type,
        ...(call.name && { name: call.name }),
      });
    return (call.background ? call.body : JSON.parse(response.body.toString('utf8'))) as R;
  }

  /** A busy server says when to come back; a reused connection may have been closed under us, which costs a read nothing. */
  async #send(request: TransportRequest): Promise<RawResponse> {
    for (let attempt = 0; ; attempt++) {
      let response: RawResponse;
      try {
        response = await this.#transport.request(request);
      } catch (error) {
        if (attempt === 0 && request.method === 'GET' && error instanceof ConnectionError && !error.refused) continue;
        throw error;
      }
      this.#warn(response.headers['warning']);
      const waitSeconds = retryAfterSeconds(response);
      if (waitSeconds === undefined || attempt >= MAX_RETRIES) return response;
      await this.#clock.sleep(waitSeconds * 1000, request.signal);
    }
  }

  #warn(header: string | string[] | undefined): void {
    if (header === undefined || !this.#options.onWarning) return;
    for (const value of Array.isArray(header) ? header : [header]) {
      for (const [, text] of value.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)) this.#options.onWarning(text!.replace(/\\(.)/g, '$1'));
    }
  }
}

const METADATA = `application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,${JSON_TYPE}`;
const METADATA_LIST = `application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,${JSON_TYPE}`;

function retryAfterSeconds(response: RawResponse): number | undefined {
  if (response.code !== 429 && response.code < 500) return undefined;
  const header = response.headers['retry-after'];
  return typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : undefined;
}

async function collect(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const lowerCase = (headers: Record<string, string> | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
