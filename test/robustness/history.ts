/**
 * What a robustness run remembers: every request with when it began and ended on one monotonic clock and what was answered, every watch with all its
 * events. Plain data, one JSON line each, so that a run can be judged again without the server.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '../../machinery/api/object.ts';
import type { ResourceType } from '../../machinery/client/resource-type.ts';

/** One version of one object, as somebody saw it. */
export interface Seen {
  /** As in the store: `/core/configmaps/ns/name`. */
  readonly key: string;
  readonly revision: number;
  readonly uid: string;
  /** Of everything but kind, apiVersion and resourceVersion. */
  readonly hash: string;
}

export interface Request {
  readonly client: string;
  /** Monotonic milliseconds, the same clock for all clients of a run. */
  readonly start: number;
  readonly end: number;
  /** 0: no answer came. */
  readonly status: number;
}

export interface WriteOp extends Request {
  readonly op: 'create' | 'update' | 'patch' | 'delete';
  readonly key: string;
  /** Unique text the write leaves in the object; none for a deletion. */
  readonly token?: string;
  /** The revision it names as the one it replaces or deletes. */
  readonly expected?: number;
  /** Asked for as a trial: it must never happen. */
  readonly dry?: true;
  /** Of the version that was answered; a deletion answers the uid alone. */
  readonly answer?: { readonly revision?: number; readonly uid: string; readonly hash?: string };
}

export interface GetOp extends Request {
  readonly op: 'get';
  readonly key: string;
  readonly seen?: Seen;
}

export interface ListOp extends Request {
  readonly op: 'list';
  /** `/core/configmaps/ns/`. */
  readonly prefix: string;
  /** As asked: '' for the most recent, '0' for any. */
  readonly asked: string;
  /** Of exactly that revision. */
  readonly exact?: true;
  /** Label that must be there, as `color=red`. */
  readonly label?: string;
  /** One per page; a list that broke off has pages but `complete` is false. */
  readonly pages: readonly { readonly revision: number; readonly items: readonly Seen[] }[];
  readonly complete: boolean;
}

export interface SeenEvent extends Seen {
  /** When it came. */
  readonly at?: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
}

/** The fields of a bookmark that matter. */
export interface Bookmark {
  readonly at?: number;
  readonly type: 'BOOKMARK';
  readonly revision: number;
  readonly initialEnd?: true;
}

export interface WatchOp extends Request {
  readonly op: 'watch';
  readonly prefix: string;
  readonly label?: string;
  /** The only name it asks for. */
  readonly name?: string;
  /** The revision it begins after; 'state': all there is, closed by a marked bookmark. */
  readonly from: number | 'state';
  readonly events: readonly (SeenEvent | Bookmark)[];
  /** Code of the ERROR event or refusal that ended it. */
  readonly refused?: number;
  /** What it was told when it was too old: how far it had come, and up to where history was let go. */
  readonly expired?: { readonly at: number; readonly compacted: number };
}

/** A watcher that must come to know a revision, and how far it was when waiting was given up. */
export interface SettleOp extends Request {
  readonly op: 'settle';
  readonly awaited: number;
  readonly reached: number;
}

export type Operation = WriteOp | GetOp | ListOp | WatchOp | SettleOp;

export const isWrite = (op: Operation): op is WriteOp =>
  op.op === 'create' || op.op === 'update' || op.op === 'patch' || op.op === 'delete';
export const acknowledged = ({ status }: Request): boolean => status >= 200 && status < 300;

export function prefixOf({ group, resource }: ResourceType, namespace = ''): string {
  return `/${group || 'core'}/${resource}/${namespace === '' ? '' : `${namespace}/`}`;
}

export function seenOf(type: ResourceType, object: KubeObject): Seen {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = object.metadata;
  // in any other form it is a revision that no store has
  const revision = /^[1-9][0-9]*$/.test(resourceVersion) ? Number(resourceVersion) : -1;
  return { key: `${prefixOf(type, namespace)}${name}`, revision, uid, hash: hashOf(object) };
}

export function hashOf(object: KubeObject): string {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  const { resourceVersion: _revision, ...metadata } = rest.metadata;
  return createHash('sha1')
    .update(JSON.stringify({ ...rest, metadata }))
    .digest('hex')
    .slice(0, 16);
}

/** Annotations of the objects of the traffic. */
export const TOKEN = 'robustness/token';
export const COUNT = 'robustness/count';

/** Collects the operations of a run by client; `save` writes what is new to `<client>.jsonl`. */
export class History {
  readonly operations: Operation[] = [];
  #saved = 0;
  add(operation: Operation): void {
    this.operations.push(operation);
  }
  save(directory: string): void {
    const lines = new Map<string, string[]>();
    for (const operation of this.operations.slice(this.#saved)) {
      const own = lines.get(operation.client) ?? [];
      own.push(JSON.stringify(operation));
      lines.set(operation.client, own);
    }
    this.#saved = this.operations.length;
    for (const [client, own] of lines) appendFileSync(join(directory, `${client}.jsonl`), `${own.join('\n')}\n`);
  }
}

export function readHistory(directory: string): Operation[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Operation);
}
