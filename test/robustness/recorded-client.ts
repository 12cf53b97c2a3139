/** A client whose every request and watch goes into a history, with what was answered. It never throws for an answer or for want of one. */
import { performance } from 'node:perf_hooks';
import type { KubeObject } from '../../machinery/api/object.ts';
import { StatusError } from '../../machinery/api/status.ts';
import type { Client, DeleteParams, ListParams, WatchEvent, WriteParams } from '../../machinery/client/client.ts';
import { isStatus } from '../../machinery/client/errors.ts';
import type { ResourceType } from '../../machinery/client/resource-type.ts';
import {
  type Bookmark,
  type GetOp,
  type History,
  type ListOp,
  prefixOf,
  type SeenEvent,
  seenOf,
  TOKEN,
  type WatchOp,
  type WriteOp,
} from './history.ts';

export interface Target {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
}

export const keyOf = ({ type, namespace, name }: Target): string => `${prefixOf(type, namespace)}${name}`;

/** What a list or watch asks for. */
export interface Asked {
  readonly type: ResourceType;
  /** '' for all. */
  readonly namespace: string;
  /** `color=red`. */
  readonly label?: string | undefined;
  readonly name?: string | undefined;
}

export interface WatchDeps {
  readonly signal: AbortSignal;
  /** Told of each event as it comes. */
  readonly onEvent?: (event: SeenEvent | Bookmark) => void;
}

const statusOf = (error: unknown): number => (error instanceof StatusError ? error.code : 0);
const tokenOf = (object: KubeObject): { token?: string } => {
  const token = object.metadata.annotations?.[TOKEN];
  return token === undefined ? {} : { token };
};

export class RecordedClient {
  readonly id: string;
  readonly #client: Client;
  readonly #history: History;
  acknowledged = 0;

  constructor(id: string, client: Client, history: History) {
    this.id = id;
    this.#client = client;
    this.#history = history;
  }

  create(type: ResourceType, object: KubeObject, params: WriteParams = {}): Promise<WriteOp> {
    const { namespace = '', name = '' } = object.metadata;
    const key = keyOf({ type, namespace, name });
    return this.#write({ op: 'create', key, ...tokenOf(object), ...dry(params) }, type, () => this.#client.create(type, object, params));
  }

  update(type: ResourceType, object: KubeObject): Promise<WriteOp> {
    const { namespace = '', name = '', resourceVersion } = object.metadata;
    const key = keyOf({ type, namespace, name });
    const expected = resourceVersion === undefined ? {} : { expected: Number(resourceVersion) };
    return this.#write({ op: 'update', key, ...expected, ...tokenOf(object) }, type, () => this.#client.update(type, object));
  }

  /** Merge patch of metadata. */
  patch(target: Target, metadata: KubeObject['metadata'], params: WriteParams = {}): Promise<WriteOp> {
    const { type } = target;
    const token = tokenOf({ apiVersion: '', kind: '', metadata });
    return this.#write({ op: 'patch', key: keyOf(target), ...token, ...dry(params) }, type, () =>
      this.#client.patch(type, target, 'application/merge-patch+json', { metadata }, params),
    );
  }

  delete(target: Target, params: DeleteParams = {}): Promise<WriteOp> {
    const { type, namespace, name } = target;
    const { resourceVersion } = params;
    const expected = resourceVersion === undefined ? {} : { expected: Number(resourceVersion) };
    return this.#write({ op: 'delete', key: keyOf(target), ...expected, ...dry(params) }, type, () =>
      this.#client.delete(type, { namespace, name }, params),
    );
  }

  /** Undefined when nothing was answered. */
  async get(target: Target): Promise<KubeObject | 'missing' | undefined> {
    const start = performance.now();
    const record = (rest: Pick<GetOp, 'status' | 'seen'>): void =>
      this.#history.add({ op: 'get', client: this.id, key: keyOf(target), start, end: performance.now(), ...rest });
    try {
      const object = await this.#client.get(target.type, target);
      record({ status: 200, seen: seenOf(target.type, object) });
      return object;
    } catch (error) {
      const status = statusOf(error);
      record({ status });
      return status === 404 ? 'missing' : undefined;
    }
  }

  /** Page by page; what came before it broke off is recorded too. */
  async list(
    asked: Asked,
    params: { limit?: number; resourceVersion?: string; exact?: boolean; betweenPages?: () => Promise<unknown> } = {},
  ): Promise<ListOp> {
    const { type, namespace, label } = asked;
    const { limit = 0, resourceVersion = '', exact = false, betweenPages } = params;
    const match = exact ? ('Exact' as const) : ('NotOlderThan' as const);
    const first: ListParams = resourceVersion === '' ? {} : { resourceVersion, resourceVersionMatch: match };
    const selector: ListParams = { namespace, ...(label && { labelSelector: label }), ...(limit > 0 && { limit }) };
    const start = performance.now();
    const pages: { revision: number; items: ReturnType<typeof seenOf>[] }[] = [];
    let status = 200;
    let next: string | undefined = '';
    try {
      while (next !== undefined) {
        if (next !== '') await betweenPages?.();
        const from: ListParams = next === '' ? first : { continue: next };
        const answer: Awaited<ReturnType<Client['list']>> = await this.#client.list(type, { ...selector, ...from });
        pages.push({ revision: Number(answer.metadata.resourceVersion), items: answer.items.map((item) => seenOf(type, item)) });
        next = answer.metadata.continue || undefined;
      }
    } catch (error) {
      status = statusOf(error);
    }
    const list: ListOp = {
      op: 'list',
      client: this.id,
      prefix: prefixOf(type, namespace),
      ...(label && { label }),
      asked: resourceVersion,
      ...(exact && { exact }),
      start,
      end: performance.now(),
      status,
      pages,
      complete: status === 200,
    };
    this.#history.add(list);
    return list;
  }

  /** From a revision, or the full state and what follows; until it breaks off or the signal aborts. */
  async watch(asked: Asked, from: number | 'state', { signal, onEvent }: WatchDeps): Promise<WatchOp> {
    const { type, namespace, label, name } = asked;
    const params = {
      namespace,
      ...(label && { labelSelector: label }),
      ...(name && { fieldSelector: `metadata.name=${name}` }),
      allowWatchBookmarks: true,
      ...(from === 'state'
        ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' as const }
        : { resourceVersion: String(from) }),
    };
    const start = performance.now();
    const events: (SeenEvent | Bookmark)[] = [];
    let status = 200;
    let refused: number | undefined;
    let expired: WatchOp['expired'];
    try {
      for await (const event of this.#client.watch(type, params, signal)) {
        if (event.type === 'ERROR') {
          refused = isStatus(event.object) ? (event.object.code ?? 0) : 0;
          expired = expiryOf(event.object);
          break;
        }
        const told = { ...toldOf(type, event), at: performance.now() };
        events.push(told);
        onEvent?.(told);
      }
    } catch (error) {
      status = statusOf(error);
      if (status !== 0) refused = status;
    }
    const watch: WatchOp = {
      op: 'watch',
      client: this.id,
      prefix: prefixOf(type, namespace),
      ...(label && { label }),
      ...(name && { name }),
      from,
      start,
      end: performance.now(),
      status,
      events,
      ...(refused !== undefined && { refused }),
      ...(expired && { expired }),
    };
    this.#history.add(watch);
    return watch;
  }

  async #write(
    what: Pick<WriteOp, 'op' | 'key' | 'token' | 'expected' | 'dry'>,
    type: ResourceType,
    send: () => Promise<unknown>,
  ): Promise<WriteOp> {
    const start = performance.now();
    let status = 200;
    let answer: WriteOp['answer'];
    try {
      const body = await send();
      if (!what.dry) answer = answerOf(type, body);
    } catch (error) {
      status = statusOf(error);
    }
    const done: WriteOp = { client: this.id, ...what, start, end: performance.now(), status, ...(answer && { answer }) };
    this.#history.add(done);
    if (status === 200 && !what.dry) this.acknowledged++;
    return done;
  }
}

const dry = ({ dryRun }: { readonly dryRun?: boolean }): { dry?: true } => (dryRun ? { dry: true } : {});

export function expiryOf(status: unknown): WatchOp['expired'] {
  const match = /too old resource version: (\d+) \((\d+)\)/.exec(isStatus(status) ? (status.message ?? '') : '');
  return match === null ? undefined : { at: Number(match[1]), compacted: Number(match[2]) };
}

/** A deletion is answered with a Status that names the uid. */
function answerOf(type: ResourceType, body: unknown): WriteOp['answer'] {
  const object = body as KubeObject & { details?: { uid?: string } };
  if (object.kind === 'Status') return { uid: object.details?.uid ?? '' };
  const { revision, uid, hash } = seenOf(type, object);
  return { revision, uid, hash };
}

export function toldOf(type: ResourceType, event: Exclude<WatchEvent<KubeObject>, { type: 'ERROR' }>): SeenEvent | Bookmark {
  if (event.type !== 'BOOKMARK') return { type: event.type, ...seenOf(type, event.object) };
  const { resourceVersion, annotations } = event.object.metadata;
  const initialEnd = annotations?.['k8s.io/initial-events-end'] === 'true';
  return { type: 'BOOKMARK', revision: Number(resourceVersion), ...(initialEnd && { initialEnd }) };
}
