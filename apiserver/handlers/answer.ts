/**
 * What a handler returns. Handlers say what the answer is; `http/respond.ts` says how it is written (JSON, YAML, Table, protobuf).
 */
import type { KubeObject } from '../../machinery/api/object.ts';
import type { TypeSchema } from '../../machinery/api/schema/schema.ts';
import type { Stored } from '../storage/interface.ts';
import type { ServedResource } from './served.ts';

export type Answer =
  /** One object of a resource. `stored` lets its bytes be sent as they are. */
  | {
      readonly type: 'object';
      readonly code: number;
      readonly served: ServedResource;
      readonly stored?: Stored;
      readonly object?: KubeObject;
    }
  | { readonly type: 'list'; readonly served: ServedResource; readonly items: readonly Stored[]; readonly metadata: ListMeta }
  /** An object that is no resource of its own: Status, Scale, Eviction, TokenRequest, reviews. */
  | { readonly type: 'value'; readonly code: number; readonly schema: TypeSchema; readonly value: KubeObject; readonly table?: TableMaker }
  | {
      readonly type: 'raw';
      readonly code: number;
      readonly contentType: string;
      readonly body: Buffer | string;
      readonly headers?: Record<string, string>;
    }
  /** The handler writes to the connection itself (watches, logs). */
  | { readonly type: 'sent' };

/** A Table of a value that has one (Scale). */
export type TableMaker = (options: { version: string; includeObject: string; now: Date }) => Record<string, unknown>;

export interface ListMeta {
  /** Absent for what is not stored. */
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}
