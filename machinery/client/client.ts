/**
 * How a process talks to the API server: typed verbs over one transport. Mirrors client-go's typed and dynamic clients.
 * Every failure answered by the server is thrown as `StatusError`; a failure to reach it as `Error` with a cause.
 */
import type { KubeObject } from '../api/object.ts';
import type { ResourceType } from './resource-type.ts';

export interface ObjectName {
  /** Absent or '' for cluster-scoped resources. */
  readonly namespace?: string;
  readonly name: string;
}

export interface ListParams {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'NotOlderThan' | 'Exact';
  readonly limit?: number;
  readonly continue?: string;
  /** Only apiVersion, kind and metadata are wanted (PartialObjectMetadata). */
  readonly metadataOnly?: boolean;
}

export interface WatchParams extends ListParams {
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
}

export interface WriteParams {
  readonly subresource?: string;
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
  readonly force?: boolean;
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
  /** Nobody waits for it: all other requests of this client go first, and the answer is what was sent. */
  readonly background?: boolean;
}

export type PatchType =
  | 'application/json-patch+json'
  | 'application/merge-patch+json'
  | 'application/strategic-merge-patch+json'
  | 'application/apply-patch+yaml';

export interface DeleteParams {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export interface ObjectList<T> {
  readonly items: T[];
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string; readonly remainingItemCount?: number };
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: { metadata: { resourceVersion: string; annotations?: Record<string, string> } } }
  | { readonly type: 'ERROR'; readonly object: unknown };

export interface RawRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export interface RawResponse {
  readonly code: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

export interface Client {
  /** The server's base URL, for messages. */
  readonly server: string;
  get<T extends KubeObject>(type: ResourceType<T>, name: ObjectName): Promise<T>;
  list<T extends KubeObject>(type: ResourceType<T>, params?: ListParams): Promise<ObjectList<T>>;
  create<T extends KubeObject>(type: ResourceType<T>, object: T, params?: WriteParams): Promise<T>;
  /** POST to a subresource (binding, eviction, token): the body need not be of the resource's kind. */
  createSubresource<R>(type: ResourceType, name: ObjectName, subresource: string, body: unknown, params?: WriteParams): Promise<R>;
  update<T extends KubeObject>(type: ResourceType<T>, object: T, params?: WriteParams): Promise<T>;
  patch<T extends KubeObject>(
    type: ResourceType<T>,
    name: ObjectName,
    patchType: PatchType,
    patch: unknown,
    params?: WriteParams,
  ): Promise<T>;
  delete<T extends KubeObject>(type: ResourceType<T>, name: ObjectName, params?: DeleteParams): Promise<unknown>;
  deleteCollection(type: ResourceType, selector: ListParams, params?: DeleteParams): Promise<unknown>;
  /** Ends when the server closes the stream or the signal aborts; an ERROR event is yielded, not thrown. */
  watch<T extends KubeObject>(type: ResourceType<T>, params: WatchParams, signal: AbortSignal): AsyncIterable<WatchEvent<T>>;
  /** Any request; answers of 400 and above are returned, not thrown. */
  raw(request: RawRequest): Promise<RawResponse>;
  /** As raw, but hands out the body as it arrives (logs -f, Tables of a watch). */
  stream(
    request: RawRequest,
  ): Promise<{ readonly code: number; readonly headers: RawResponse['headers']; readonly body: AsyncIterable<Buffer> }>;
  close(): Promise<void>;
}
