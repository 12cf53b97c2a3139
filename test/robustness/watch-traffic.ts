/**
 * One watching client: a watch that it takes from a list or from the full state, breaks off, resumes, and starts anew when it is too old; beside it
 * reads, of which 80 % are lists (many by pages, some with a pause between, some of a named revision), 15 % gets, 5 % lists that may be old. The clients watch different things: everything, a namespace, a label, a name. Every answer is recorded.
 */
import { configmaps, leases, secrets } from '../../machinery/client/resource-type.ts';
import { sleep } from '../../scripts/chaos/history.ts';
import type { Bookmark, SeenEvent } from './history.ts';
import type { Asked } from './recorded-client.ts';
import { HOT_KEYS, hotTarget, type TrafficDeps } from './write-traffic.ts';

export interface Watched extends Asked {
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
/** Revisions. */
const FAR_BACK = 3_000;
const RETRY_MS = 20;
const READ_PAUSE_MS = 120;
/** Of a batch in which history is let go all the time. */
const LONGEST_HISTORY_MS = 400;
const PAGES = [0, 1, 7, 50] as const;

export class WatchClient {
  readonly #deps: TrafficDeps;
  readonly #watched: Watched;
  /** Where the next watch begins; undefined when a full state is needed. */
  #revision: number | undefined;
  /** The newest revision it knows of. */
  reached = 0;

  constructor(deps: TrafficDeps, watched: Watched) {
    this.#deps = deps;
    this.#watched = watched;
  }

  async run(): Promise<void> {
    await Promise.all([this.#watching(), this.#reading()]);
  }

  async #watching(): Promise<void> {
    const { client, signal, random } = this.#deps;
    while (!signal.aborted) {
      if (this.#revision === undefined && !this.#watched.streamed) {
        const list = await client.list(this.#watched, { limit: PAGES[random.integer(PAGES.length)]! });
        if (list.complete) this.#advance(list.pages[0]!.revision);
        else {
          await sleep(RETRY_MS, signal);
          continue;
        }
      }
      if (!(await this.#watch())) await sleep(RETRY_MS, signal);
      // a full state from time to time, not only when it must be
      if (random.integer(6) === 0) this.#revision = undefined;
    }
  }

  async #reading(): Promise<void> {
    const { client, signal, random } = this.#deps;
    while (!signal.aborted) {
      const drawn = random.integer(100);
      if (drawn < 15) await client.get(hotTarget(random.integer(HOT_KEYS)));
      else if (drawn < 20) await client.list(this.#watched, { resourceVersion: '0' });
      else if (drawn < 30 && this.reached > 0) await this.#listAt(drawn < 26);
      else
        await client.list(this.#watched, {
          limit: PAGES[random.integer(PAGES.length)]!,
          ...(drawn < 40 && { betweenPages: this.#once() }),
        });
      await sleep(random.integer(READ_PAUSE_MS * 2), signal);
    }
  }

  /** At a revision that it knows, or not before. */
  async #listAt(exact: boolean): Promise<void> {
    const { client, random } = this.#deps;
    const revision = Math.max(1, this.reached - (exact ? random.integer(100) : 0));
    await client.list(this.#watched, { resourceVersion: String(revision), exact, limit: exact ? PAGES[random.integer(PAGES.length)]! : 0 });
  }

  /** A reader who waits before page two, until history may have been let go. */
  #once(): () => Promise<void> {
    let pause = 2 * LONGEST_HISTORY_MS;
    return async () => {
      await sleep(pause, this.#deps.signal);
      pause = 0;
    };
  }

  /** One watch, until it breaks or its time is over. True when it told something. */
  async #watch(): Promise<boolean> {
    const { client, random, signal } = this.#deps;
    const over = AbortSignal.any([signal, AbortSignal.timeout(200 + random.integer(SESSION_MS))]);
    // sometimes from far back: what it knows already is told again, through slices of history
    const far = random.integer(8) === 0 ? random.integer(FAR_BACK) : 0;
    const from = this.#revision === undefined ? 'state' : Math.max(1, this.#revision - far);
    let initial = from === 'state';
    const onEvent = (event: SeenEvent | Bookmark): void => {
      if (event.type === 'BOOKMARK' && event.initialEnd) initial = false;
      // within the full state revisions are in no order, and nothing is promised before it is complete
      if (!initial && event.revision > (this.#revision ?? 0)) this.#advance(event.revision);
    };
    const watch = await client.watch(this.#watched, from, { signal: over, onEvent });
    if (watch.refused !== undefined) this.#revision = undefined;
    return watch.events.length > 0;
  }

  #advance(revision: number): void {
    this.#revision = revision;
    this.reached = Math.max(this.reached, revision);
  }
}
