/** A change the server itself makes to a stored object (binding, eviction's bookkeeping): read, modify, compare-and-set, again when beaten. */
import type { AnyObject } from '../../machinery/api/object.ts';
import { notFound } from '../../machinery/api/status.ts';
import type { RequestContext } from '../http/context.ts';
import type { Stored } from '../storage/interface.ts';
import type { Api } from './api.ts';
import { parseFresh } from './objects.ts';
import { groupResource, keyOf, persistUpdate } from './persist.ts';
import type { ServedResource } from './served.ts';

export interface Modification {
  readonly namespace: string;
  readonly name: string;
  readonly dryRun: boolean;
  /** Changes the private copy in place; throws to refuse. Runs again on every newer version. */
  modify(object: AnyObject): void;
}

export async function modifyStored(api: Api, context: RequestContext, served: ServedResource, request: Modification): Promise<Stored> {
  for (let attempt = 0; ; attempt++) {
    if (attempt > 0) context.signal.throwIfAborted();
    const stored = api.store.get(keyOf(served.definition, request.namespace, request.name));
    if (stored === undefined) throw notFound(groupResource(served), request.name);
    const object = parseFresh(stored.bytes);
    request.modify(object);
    if (request.dryRun) return stored;
    const written = await persistUpdate(api, served, stored, object);
    if (written !== 'retry') return written;
  }
}
