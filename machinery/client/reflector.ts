/**
 * Keeps a copy of one resource current: one full state, then every change after it. Mirrors client-go `tools/cache/reflector.go`.
 *
 * The full state comes through the watch itself (WatchList: `sendInitialEvents`, ended by a marked bookmark), or by pages of a list where the server
 * refuses that. A lost connection resumes from the last revision seen; only "too old" (410) costs a new full state.
 *
 * Invariant: the sink sees states in revision order and never a gap: whatever ends a watch, the next one starts where it ended.
 */

import type { KubeObject } from '../api/object.ts';
import { isReason, StatusError } from '../api/status.ts';
import type { Clock } from '../process/clock.ts';
import type { Logger } from '../process/logger.ts';
import { mutant } from '../process/mutants.ts';
import type { Random } from '../process/random.ts';
import { Backoff } from './backoff.ts';
import type { Client, ListParams, WatchEvent } from './client.ts';
import { isExpired, isStatus } from './errors.ts';
import type { ResourceType } from './resource-type.ts';

/** Where a reflector puts what it learns. */
export interface ReflectorSink<T extends KubeObject> {
  /** The full state at `revision`. */
  replace(objects: readonly T[], revision: number): void;
  /** One change; `object.metadata.resourceVersion` is its revision. */
  change(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void;
  /** Nothing else has happened up to `revision`. */
  progress(revision: number): void;
}

export interface ReflectorDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface ReflectorOptions {
  readonly fieldSelector?: string | undefined;
  readonly metadataOnly?: boolean | undefined;
}

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
const PAGE = 500;
/** A watch is asked to end after 5 to 10 minutes, so that connections spread anew over several servers. */
const WATCH_SECONDS = 300;
/** A watch that has been silent for longer than this, bookmarks included, is taken for dead (a peer that vanished without a word). */
const SILENCE_MS = 180_000;
/** A watch that held for so long was a success, even if nothing happened: the next failure is a first one. */
const HELD_MS = 250;
/** A watch that ends sooner and brought nothing counts as a failure, or a broken server would be asked in a tight loop. */
const SHORT_WATCH_MS = 1_000;

export class Reflector<T extends KubeObject> {
  readonly #type: ResourceType<T>;
  readonly #sink: ReflectorSink<T>;
  readonly #deps: ReflectorDeps;
  readonly #selector: ListParams;
  readonly #backoff: Backoff;
  /** '' before the first full state, and after a 410. */
  #revision = '';
  #watchList = true;

  constructor(type: ResourceType<T>, sink: ReflectorSink<T>, deps: ReflectorDeps, options: ReflectorOptions = {}) {
    this.#type = type;
    this.#sink = sink;
    this.#deps = deps;
    this.#backoff = new Backoff(deps);
    this.#selector = {
      ...(options.fieldSelector && { fieldSelector: options.fieldSelector }),
      ...(options.metadataOnly && { metadataOnly: true }),
    };
  }

  /** Runs until the signal aborts; survives everything else. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#pass(signal);
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error, signal);
      }
    }
  }

  /** One watch, with what must come before it. Returns when it may go on at once. */
  async #pass(signal: AbortSignal): Promise<void> {
    if (this.#revision === '' && !this.#watchList) await this.#listAll();
    const startedMs = this.#deps.clock.monotonicMs();
    const seen = await this.#watch(signal);
    if (seen === 0 && this.#deps.clock.monotonicMs() - startedMs < SHORT_WATCH_MS)
      throw new Error('the watch ended at once and brought nothing');
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const { logger, clock } = this.#deps;
    const resource = this.#type.resource;
    if (this.#watchList && this.#revision === '' && isRefusal(error)) {
      logger.debug({ resource, err: error }, 'server does not send initial events, listing instead');
      this.#watchList = false;
      return;
    }
    if (isExpired(error)) {
      logger.info({ resource, revision: this.#revision }, 'revision is too old, taking the full state again');
      const again = this.#revision !== '';
      this.#revision = '';
      if (again) return;
    }
    const waitMs = this.#backoff.next(error);
    logger.debug({ resource, err: error, waitMs }, 'watch failed');
    await clock.sleep(waitMs, signal).catch(() => undefined);
  }

  async #listAll(): Promise<void> {
    const items: T[] = [];
    let token: string | undefined;
    let limit: number | undefined = PAGE;
    for (;;) {
      try {
        const page = await this.#deps.client.list(this.#type, {
          ...this.#selector,
          ...(limit && { limit }),
          ...(token && { continue: token }),
        });
        items.push(...page.items);
        token = page.metadata.continue;
        if (!token) {
          this.#replace(items, page.metadata.resourceVersion);
          return;
        }
      } catch (error) {
        // the pages outlived their revision: one whole list instead
        if (!isExpired(error) || token === undefined) throw error;
        items.length = 0;
        token = undefined;
        limit = undefined;
      }
    }
  }

  /** Returns how many events it brought. */
  async #watch(signal: AbortSignal): Promise<number> {
    const { client, clock, random } = this.#deps;
    const ended = new AbortController();
    const either = AbortSignal.any([signal, ended.signal]);
    let initial: Map<string, T> | undefined = this.#revision === '' ? new Map() : undefined;
    let events = 0;
    const startedMs = clock.monotonicMs();
    let heardMs = startedMs;
    let cancel = (): void => undefined;
    const listen = (): void => {
      cancel = clock.setTimer(
        SILENCE_MS - (clock.monotonicMs() - heardMs),
        () => {
          if (clock.monotonicMs() - heardMs >= SILENCE_MS) ended.abort(new Error('the watch fell silent'));
          else listen();
        },
        { unref: true },
      );
    };
    listen();
    try {
      const params = {
        ...this.#selector,
        allowWatchBookmarks: true,
        timeoutSeconds: Math.floor(WATCH_SECONDS * (1 + random.next())),
        ...(initial ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' as const } : { resourceVersion: this.#revision }),
        ...(initial && mutant('informer.first-state-old') && { resourceVersion: '0' }),
        ...(!initial && mutant('informer.restarts-at-newest') && { resourceVersion: '' }),
      };
      for await (const event of client.watch(this.#type, params, either)) {
        events++;
        heardMs = clock.monotonicMs();
        if (initial) initial = this.#initialEvent(event, initial);
        else this.#event(event);
        this.#backoff.reset();
      }
      if (initial) throw new Error('the watch ended before the full state was there');
      return events;
    } finally {
      if (clock.monotonicMs() - startedMs > HELD_MS) this.#backoff.reset();
      cancel();
      ended.abort();
    }
  }

  /** Collects the full state; undefined once it is complete. */
  #initialEvent(event: WatchEvent<T>, initial: Map<string, T>): Map<string, T> | undefined {
    if (event.type === 'ERROR') throw errorOf(event.object);
    if (event.type !== 'BOOKMARK') {
      const { namespace, name } = event.object.metadata;
      if (event.type === 'DELETED') initial.delete(`${namespace ?? ''}/${name}`);
      else initial.set(`${namespace ?? ''}/${name}`, event.object);
      return initial;
    }
    const { resourceVersion, annotations } = event.object.metadata;
    if (annotations?.[INITIAL_EVENTS_END] !== 'true') return initial;
    this.#replace([...initial.values()], resourceVersion);
    return undefined;
  }

  #event(event: WatchEvent<T>): void {
    if (event.type === 'ERROR') throw errorOf(event.object);
    const { resourceVersion } = event.object.metadata;
    if (resourceVersion === undefined) throw new Error('a watch event has no resourceVersion');
    this.#revision = resourceVersion;
    if (event.type === 'BOOKMARK') this.#sink.progress(Number(resourceVersion));
    else this.#sink.change(event.type, event.object);
  }

  #replace(objects: readonly T[], revision: string): void {
    this.#revision = revision;
    this.#sink.replace(objects, Number(revision));
    this.#deps.logger.debug({ resource: this.#type.resource, count: objects.length, revision }, 'full state loaded');
  }
}

/** How servers without WatchList answer `sendInitialEvents`. */
function isRefusal(error: unknown): boolean {
  return isReason(error, 'Invalid', 'BadRequest', 'MethodNotAllowed');
}

function errorOf(object: unknown): Error {
  return isStatus(object) ? new StatusError(object) : new Error('the server ended the watch with an error it did not explain');
}
