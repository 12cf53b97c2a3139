/**
 * One writing client: 90 % updates, 5 % deletions, 5 % creations of objects of several types, most of them of a few hot keys that all clients share.
 * Among the updates are whole replacements and counters (compare-and-set), and label flips by patch; some deletions name the version they are for, and some
 * writes are trials (dry runs). Every answer is recorded.
 */
import type { KubeObject } from '../../machinery/api/object.ts';
import type { WriteParams } from '../../machinery/client/client.ts';
import { configmaps, leases, type ResourceType, secrets } from '../../machinery/client/resource-type.ts';
import type { Random } from '../../machinery/process/random.ts';
import { sleep } from '../../scripts/chaos/history.ts';
import { COUNT, TOKEN, type WriteOp } from './history.ts';
import type { RecordedClient, Target } from './recorded-client.ts';

const TYPES: readonly ResourceType[] = [configmaps, secrets, leases];
export const NAMESPACES = ['default', 'kube-public'] as const;
export const HOT_KEYS = 10;
export const COLORS = ['red', 'blue'] as const;
const PAUSE_MS = 12;
/** A client that was refused or got no answer waits a little. */
const RETRY_MS = 20;
/** Cold objects beyond this are deleted again, so that lists stay of one size. */
const COLD_OBJECTS = 60;

export function hotTarget(index: number): Target {
  return { ...placeOf(index), name: `hot-${index}` };
}

export interface TrafficDeps {
  readonly client: RecordedClient;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/** Bytes of data in each object, to give the disk work. */
const PAYLOAD = 300;

export class Writer {
  readonly #deps: TrafficDeps;
  readonly #cold: Target[] = [];
  #tokens = 0;

  constructor(deps: TrafficDeps) {
    this.#deps = deps;
  }

  get acknowledged(): number {
    return this.#deps.client.acknowledged;
  }

  async run(): Promise<void> {
    const { signal, random } = this.#deps;
    while (!signal.aborted) {
      const answered = await this.#step();
      await sleep(answered ? random.integer(PAUSE_MS * 2) : RETRY_MS, signal);
    }
  }

  /** False when there was no answer. */
  async #step(): Promise<boolean> {
    const { random } = this.#deps;
    const drawn = random.integer(100);
    if (drawn < 5 || this.#cold.length === 0) return this.#create();
    if (drawn < 10 || this.#cold.length > COLD_OBJECTS) return this.#delete();
    if (drawn < 13) return this.#try();
    const target = random.integer(4) > 0 ? hotTarget(random.integer(HOT_KEYS)) : this.#cold[random.integer(this.#cold.length)]!;
    if (drawn < 40) return this.#patch(target);
    return this.#replace(target, random.integer(2) === 0);
  }

  async #create(): Promise<boolean> {
    const { client, random } = this.#deps;
    // now and then a name that others draw too
    const shared = random.integer(3) === 0;
    const index = random.integer(1000);
    const name = shared ? `race-${index % 20}` : `cold-${client.id}-${this.#tokens}`;
    const target = { ...placeOf(index), name };
    const made = await this.#make(target);
    if (made.status === 200 && !shared) this.#cold.push(target);
    return made.status > 0;
  }

  #make({ type, namespace, name }: Target, params: WriteParams = {}): Promise<WriteOp> {
    const annotations = { [TOKEN]: this.#token(), [COUNT]: '0' };
    const metadata = { name, namespace, labels: { load: 'yes', color: this.#color() }, annotations };
    return this.#deps.client.create(type, { ...bare(type), metadata, ...payloadOf(type) }, params);
  }

  /** Own cold objects, or what has one of the names that all draw. */
  async #delete(): Promise<boolean> {
    const { random, client } = this.#deps;
    const index = random.integer(20);
    const shared = random.integer(3) === 0 || this.#cold.length === 0;
    const target = shared ? { ...placeOf(index), name: `race-${index}` } : this.#cold.splice(random.integer(this.#cold.length), 1)[0]!;
    return random.integer(2) === 0
      ? this.#deleteSeen(shared ? hotTarget(random.integer(HOT_KEYS)) : target)
      : (await client.delete(target)).status > 0;
  }

  /** Only the version that it has read: a hot one is often another by then. */
  async #deleteSeen(target: Target): Promise<boolean> {
    const { client } = this.#deps;
    const live = await client.get(target);
    if (typeof live !== 'object') return live === 'missing';
    const { uid = '', resourceVersion = '' } = live.metadata;
    return (await client.delete(target, { uid, resourceVersion })).status > 0;
  }

  /** Trials, which must leave nothing. */
  async #try(): Promise<boolean> {
    const { client, random } = this.#deps;
    const [hot, params] = [hotTarget(random.integer(HOT_KEYS)), { dryRun: true }];
    const drawn = random.integer(3);
    if (drawn === 0) return (await client.delete(hot, params)).status > 0;
    if (drawn === 1) return (await client.patch(hot, { annotations: { [TOKEN]: this.#token() } }, params)).status > 0;
    return (await this.#make({ ...hot, name: `trial-${this.#deps.client.id}-${this.#tokens}` }, params)).status > 0;
  }

  /** Now and then of the hot object's namesake in another namespace, which whoever watches a name in one must not see. */
  async #patch(drawn: Target): Promise<boolean> {
    const isTwin = drawn.name.startsWith('hot-') && this.#deps.random.integer(6) === 0;
    const target = isTwin ? { ...drawn, namespace: NAMESPACES.find((name) => name !== drawn.namespace)! } : drawn;
    const done = await this.#deps.client.patch(target, { labels: { color: this.#color() }, annotations: { [TOKEN]: this.#token() } });
    if (done.status === 404 && target.name.startsWith('hot-')) return (await this.#make(target)).status > 0;
    return done.status > 0;
  }

  /** Reads and writes back with the resourceVersion read, a counter raised by one or left; a conflict is left to the next try. */
  async #replace(target: Target, counting: boolean): Promise<boolean> {
    const live = await this.#deps.client.get(target);
    if (live === undefined) return false;
    if (live === 'missing') return target.name.startsWith('hot-') ? (await this.#make(target)).status > 0 : true;
    const annotations: Record<string, string> = { ...live.metadata.annotations, [TOKEN]: this.#token() };
    if (counting) annotations[COUNT] = String(Number(annotations[COUNT] ?? '0') + 1);
    return (await this.#deps.client.update(target.type, { ...live, metadata: { ...live.metadata, annotations } })).status > 0;
  }

  #token(): string {
    return `${this.#deps.client.id}-${this.#tokens++}`;
  }
  #color(): string {
    return COLORS[this.#deps.random.integer(COLORS.length)]!;
  }
}

const placeOf = (index: number): Omit<Target, 'name'> => ({
  type: TYPES[index % TYPES.length]!,
  namespace: NAMESPACES[index % NAMESPACES.length]!,
});

export function bare({ group, version, kind }: ResourceType): KubeObject {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata: {} };
}

function payloadOf({ resource }: ResourceType): object {
  if (resource === 'leases') return {};
  const text = 'x'.repeat(PAYLOAD);
  return { data: { payload: resource === 'secrets' ? Buffer.from(text).toString('base64') : text } };
}
