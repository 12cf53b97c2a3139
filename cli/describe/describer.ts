/** What a describer is: one per kind, given the object and a way to look at what belongs to it. */
import type { AnyObject } from '../../machinery/api/object.ts';
import type { Event } from '../../machinery/api/types/core.v1.ts';
import type { Session } from '../session.ts';

export interface DescribeContext {
  readonly session: Session;
  /** Objects of another resource, such as the pods of a node. An empty list when they may not be read. */
  list(resource: string, query?: { namespace?: string; labelSelector?: string; fieldSelector?: string }): Promise<AnyObject[]>;
  get(resource: string, where: { namespace?: string; name: string }): Promise<AnyObject | undefined>;
  /** Of the object described, oldest first; none with --show-events=false. */
  readonly events: readonly Event[] | undefined;
}

export type Describer = (object: AnyObject, context: DescribeContext) => Promise<string> | string;
