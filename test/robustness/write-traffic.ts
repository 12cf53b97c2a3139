/**
 * One writing client: 90 % updates, 5 % deletions, 5 % creations of objects of several types, most of them of a few hot keys that all clients share.
 * Among the updates are whole replacements and counters (compare-and-set), and label flips by patch. Every answer is recorded.
 */
import { performance } from 'node:perf_hooks';
import type { KubeObject } from '../../machinery/api/object.ts';
import { StatusError } from '../../machinery/api/status.ts';
import type { Client } from '../../machinery/client/client.ts';
import { configmaps, leases, type ResourceType, secrets } from '../../machinery/client/resource-type.ts';
import type { Random } from '../../machinery/process/random.ts';
import { sleep } from '../../scripts/chaos/history.ts';
import { COUNT, type GetOp, type History, prefixOf, seenOf, TOKEN, type WriteOp } from './history.ts';

export const TYPES: readonly ResourceType[] = [configmaps, secrets, leases];
export const NAMESPACES = ['default', 'kube-public'] as const;
export const HOT_KEYS = 10;
export const COLORS = ['red', 'blue'] as const;
const PAUSE_MS = 12;
/** A client that was refused or got no answer waits a little. */
const RETRY_MS = 20;
/** Cold objects beyond this are deleted again, so that lists stay of one size. */
const COLD_OBJECTS = 60;

export interface Target {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
}

export const keyOf = ({ type, namespace, name }: Target): string => `${prefixOf(type, namespace)}${name}`;

export function hotTarget(index: number): Target {
  return { type: TYPES[index % TYPES.length]!, namespace: NAMESPACES[index % NAMESPACES.length]!, name: `hot-${index}` };
}

export interface WriterDeps {
  readonly id: string;
  readonly client: Client;
  readonly history: History;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Bytes of data in each object, to give the disk work. */
  readonly payload?: number;
}

export class Writer {
  readonly #deps: WriterDeps;
  readonly #cold: Target[] = [];
  #tokens = 0;
  acknowledged = 0;

  constructor(deps: WriterDeps) {
    this.#deps = deps;
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
    const target = random.integer(4) > 0 ? hotTarget(random.integer(HOT_KEYS)) : this.#cold[random.integer(this.#cold.length)]!;
    if (drawn < 40) return this.#patch(target);
    return this.#replace(target, random.integer(2) === 0);
  }

  async #create(): Promise<boolean> {
    const { id, random } = this.#deps;
    // now and then a name that others draw too
    const shared = random.integer(3) === 0;
    const index = random.integer(1000);
    const name = shared ? `race-${index % 20}` : `cold-${id}-${this.#tokens}`;
    const target = { type: TYPES[index % TYPES.length]!, namespace: NAMESPACES[index % NAMESPACES.length]!, name };
    const made = await this.#make(target);
    if (made.status < 300 && made.status > 0 && !shared) this.#cold.push(target);
    return made.status > 0;
  }

  #make(target: Target): Promise<WriteOp> {
    const { type, namespace, name } = target;
    const token = this.#token();
    const metadata = { name, namespace, labels: { load: 'yes', color: this.#color() }, annotations: { [TOKEN]: token, [COUNT]: '0' } };
    const object = { ...bare(type), metadata, ...payloadOf(type, this.#deps.payload ?? 0) };
    return this.#write({ op: 'create', key: keyOf(target), token }, type, () => this.#deps.client.create(type, object));
  }

  /** Cold objects by uid, or any of a shared name without precondition. */
  async #delete(): Promise<boolean> {
    const { random, client } = this.#deps;
    const index = random.integer(20);
    const shared = random.integer(3) === 0 || this.#cold.length === 0;
    const target = shared
      ? { type: TYPES[index % TYPES.length]!, namespace: NAMESPACES[index % NAMESPACES.length]!, name: `race-${index}` }
      : this.#cold.splice(random.integer(this.#cold.length), 1)[0]!;
    const { type, namespace, name } = target;
    const done = await this.#write({ op: 'delete', key: keyOf(target) }, type, () => client.delete(type, { namespace, name }));
    return done.status > 0;
  }

  async #patch(target: Target): Promise<boolean> {
    const { type, namespace, name } = target;
    const token = this.#token();
    const patch = { metadata: { labels: { color: this.#color() }, annotations: { [TOKEN]: token } } };
    const done = await this.#write({ op: 'patch', key: keyOf(target), token }, type, () =>
      this.#deps.client.patch(type, { namespace, name }, 'application/merge-patch+json', patch),
    );
    if (done.status === 404 && name.startsWith('hot-')) return (await this.#make(target)).status > 0;
    return done.status > 0;
  }

  /** Reads and writes back with the resourceVersion read, a counter raised by one or left; a conflict is left to the next try. */
  async #replace(target: Target, counting: boolean): Promise<boolean> {
    const { type } = target;
    const live = await readRecorded(this.#deps, target);
    if (live === undefined) return false;
    if (live === 'missing') return target.name.startsWith('hot-') ? (await this.#make(target)).status > 0 : true;
    const token = this.#token();
    const annotations: Record<string, string> = { ...live.metadata.annotations, [TOKEN]: token };
    if (counting) annotations[COUNT] = String(Number(annotations[COUNT] ?? '0') + 1);
    const object = { ...live, metadata: { ...live.metadata, annotations } };
    const done = await this.#write({ op: 'update', key: keyOf(target), token }, type, () => this.#deps.client.update(type, object));
    return done.status > 0;
  }

  async #write(what: Pick<WriteOp, 'op' | 'key' | 'token'>, type: ResourceType, send: () => Promise<unknown>): Promise<WriteOp> {
    const { id, history } = this.#deps;
    const start = performance.now();
    let status = 200;
    let answer: WriteOp['answer'];
    try {
      answer = answerOf(type, await send());
    } catch (error) {
      status = error instanceof StatusError ? error.code : 0;
    }
    const done: WriteOp = { client: id, ...what, start, end: performance.now(), status, ...(answer && { answer }) };
    history.add(done);
    if (status === 200) this.acknowledged++;
    return done;
  }

  #token(): string {
    return `${this.#deps.id}-${this.#tokens++}`;
  }
  #color(): string {
    return COLORS[this.#deps.random.integer(COLORS.length)]!;
  }
}

/** A deletion is answered with a Status that names the uid. */
function answerOf(type: ResourceType, body: unknown): WriteOp['answer'] {
  const object = body as KubeObject & { details?: { uid?: string } };
  if (object.kind === 'Status') return { uid: object.details?.uid ?? '' };
  const { revision, uid, hash } = seenOf(type, object);
  return { revision, uid, hash };
}

/** One recorded GET; undefined when nothing was answered. */
export async function readRecorded(
  { client, id, history }: Pick<WriterDeps, 'client' | 'id' | 'history'>,
  target: Target,
): Promise<KubeObject | 'missing' | undefined> {
  const start = performance.now();
  const record = (rest: Pick<GetOp, 'status' | 'seen'>): void =>
    history.add({ op: 'get', client: id, key: keyOf(target), start, end: performance.now(), ...rest });
  try {
    const object = await client.get(target.type, target);
    record({ status: 200, seen: seenOf(target.type, object) });
    return object;
  } catch (error) {
    const status = error instanceof StatusError ? error.code : 0;
    record({ status });
    return status === 404 ? 'missing' : undefined;
  }
}

function bare({ group, version, kind }: ResourceType): KubeObject {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata: {} };
}

function payloadOf({ resource }: ResourceType, bytes: number): object {
  if (bytes === 0 || resource === 'leases') return {};
  const text = 'x'.repeat(bytes);
  return { data: { payload: resource === 'secrets' ? Buffer.from(text).toString('base64') : text } };
}
