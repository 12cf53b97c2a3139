/**
 * One watching client: a watch that it takes from a list or from the full state, breaks off, resumes, and starts anew when it is too old; beside it
 * gets, stale lists and lists by pages. The clients watch different things: everything, a namespace, a label, a name. Every answer is recorded.
 */
import { performance } from 'node:perf_hooks';
import type { KubeObject } from '../../machinery/api/object.ts';
import { StatusError } from '../../machinery/api/status.ts';
import type { ListParams, WatchEvent } from '../../machinery/client/client.ts';
import { isStatus } from '../../machinery/client/errors.ts';
import { configmaps, leases, type ResourceType, secrets } from '../../machinery/client/resource-type.ts';
import { sleep } from '../../scripts/chaos/history.ts';
import { type Bookmark, type History, type ListOp, prefixOf, type SeenEvent, seenOf, type WatchOp } from './history.ts';
import { HOT_KEYS, hotTarget, readRecorded, type WriterDeps } from './write-traffic.ts';

export interface Watched {
  readonly type: ResourceType;
  /** '' for all. */
  readonly namespace: string;
  readonly label?: string;
  readonly name?: string;
  /** Begins with `sendInitialEvents`, not with a list. */
  readonly streamed?: boolean;
}

export const WATCHED: readonly Watched[] = [
  { type: configmaps, namespace: '' },
  { type: configmaps, namespace: 'default', streamed: true },
  { type: configmaps, namespace: '', label: 'color=red' },
  { type: secrets, namespace: '', label: 'color=blue', streamed: true },
  { type: secrets, namespace: 'kube-public' },
  { type: leases, namespace: '', streamed: true },
  { type: leases, namespace: '', label: 'color=red' },
  { type: configmaps, namespace: 'default', name: 'hot-0' },
];

/** A watch lasts at most so long before its client breaks it off and resumes. */
const SESSION_MS = 1_500;
const RETRY_MS = 20;
const READ_PAUSE_MS = 90;
const PAGES = [0, 1, 7, 50] as const;

export class WatchClient {
  readonly #deps: WriterDeps;
  readonly #watched: Watched;
  /** Where the next watch begins; undefined when a full state is needed. */
  #revision: number | undefined;
  /** The newest revision it knows of. */
  reached = 0;

  constructor(deps: WriterDeps, watched: Watched) {
    this.#deps = deps;
    this.#watched = watched;
  }

  async run(): Promise<void> {
    await Promise.all([this.#watching(), this.#reading()]);
  }

  async #watching(): Promise<void> {
    const { signal, random } = this.#deps;
    while (!signal.aborted) {
      if (this.#revision === undefined && !this.#watched.streamed) {
        const list = await this.#list({ limit: PAGES[random.integer(PAGES.length)]! });
        if (list?.complete) this.#advance(list.pages[0]!.revision);
        else {
          await sleep(RETRY_MS, signal);
          continue;
        }
      }
      const told = await this.#watch();
      if (!told) await sleep(RETRY_MS, signal);
      // a full state from time to time, not only when it must be
      if (random.integer(6) === 0) this.#revision = undefined;
    }
  }

  async #reading(): Promise<void> {
    const { signal, random } = this.#deps;
    while (!signal.aborted) {
      const drawn = random.integer(100);
      if (drawn < 75) await readRecorded(this.#deps, hotTarget(random.integer(HOT_KEYS)));
      else if (drawn < 85) await this.#list({ limit: 0, resourceVersion: '0' });
      else await this.#list({ limit: PAGES[random.integer(PAGES.length)]! });
      await sleep(random.integer(READ_PAUSE_MS * 2), signal);
    }
  }

  /** Page by page; what came before it broke off is recorded too. */
  async #list(params: { limit: number; resourceVersion?: string }): Promise<ListOp | undefined> {
    const { client, id, history } = this.#deps;
    const { type, namespace, label } = this.#watched;
    const selector: ListParams = { namespace, ...(label && { labelSelector: label }) };
    const start = performance.now();
    const pages: { revision: number; items: ReturnType<typeof seenOf>[] }[] = [];
    let status = 200;
    let next: string | undefined = '';
    try {
      while (next !== undefined) {
        const answer: Awaited<ReturnType<typeof client.list>> = await client.list(type, {
          ...selector,
          ...(params.limit > 0 && { limit: params.limit }),
          ...(next === '' ? { ...(params.resourceVersion && { resourceVersion: params.resourceVersion }) } : { continue: next }),
        });
        pages.push({ revision: Number(answer.metadata.resourceVersion), items: answer.items.map((item) => seenOf(type, item)) });
        next = answer.metadata.continue || undefined;
      }
    } catch (error) {
      status = error instanceof StatusError ? error.code : 0;
    }
    const list: ListOp = {
      op: 'list',
      client: id,
      prefix: prefixOf(type, namespace),
      ...(label && { label }),
      asked: params.resourceVersion ?? '',
      start,
      end: performance.now(),
      status,
      pages,
      complete: status === 200,
    };
    history.add(list);
    return list;
  }

  /** One watch, until it breaks or its time is over. True when it told something. */
  async #watch(): Promise<boolean> {
    const { client, random, signal } = this.#deps;
    const { type, namespace, label, name } = this.#watched;
    const from = this.#revision ?? 'state';
    const over = AbortSignal.any([signal, AbortSignal.timeout(200 + random.integer(SESSION_MS))]);
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
    try {
      for await (const event of client.watch(type, params, over)) {
        if (event.type === 'ERROR') {
          refused = isStatus(event.object) ? (event.object.code ?? 0) : 0;
          break;
        }
        events.push(this.#take(event, from === 'state'));
      }
    } catch (error) {
      status = error instanceof StatusError ? error.code : 0;
      if (status !== 0) refused = status;
    }
    if (refused !== undefined) this.#revision = undefined;
    this.#record({ from, start, status, events, refused });
    return events.length > 0;
  }

  #take(event: Exclude<WatchEvent<KubeObject>, { type: 'ERROR' }>, initial: boolean): SeenEvent | Bookmark {
    if (event.type !== 'BOOKMARK') {
      const seen = { type: event.type, ...seenOf(this.#watched.type, event.object) };
      if (!initial || this.#revision !== undefined) this.#advance(seen.revision);
      return seen;
    }
    const { resourceVersion, annotations } = event.object.metadata;
    const revision = Number(resourceVersion);
    this.#advance(revision);
    return { type: 'BOOKMARK', revision, ...(annotations?.['k8s.io/initial-events-end'] === 'true' && { initialEnd: true as const }) };
  }

  #advance(revision: number): void {
    this.#revision = revision;
    this.reached = Math.max(this.reached, revision);
  }

  #record(session: Pick<WatchOp, 'from' | 'start' | 'status' | 'events'> & { refused: number | undefined }): void {
    const { type, namespace, label, name } = this.#watched;
    const { refused, ...rest } = session;
    (this.#deps.history as History).add({
      op: 'watch',
      client: this.#deps.id,
      prefix: prefixOf(type, namespace),
      ...(label && { label }),
      ...(name && { name }),
      ...rest,
      end: performance.now(),
      ...(refused !== undefined && { refused }),
    });
  }
}
