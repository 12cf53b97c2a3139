/** DELETE of a collection: a list, then a delete of each item. Answers the list. Mirrors apiserver `registry.Store.DeleteCollection`. */
import { isReason } from '../../machinery/api/status.ts';
import type { RequestContext } from '../http/context.ts';
import { deleteOptions } from '../http/delete-options.ts';
import { listOptions, validateListOptions } from '../http/list-options.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import { deleteNamed } from './delete.ts';
import { filterOf, listStored } from './list.ts';
import { requireMortal } from './namespace-lifecycle.ts';
import type { ServedResource } from './served.ts';

/** Deletes that run at the same time, so that they share commits. */
const PARALLEL = 64;

export async function deleteCollection(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const options = listOptions(context.info.query);
  const filter = filterOf(served, options);
  validateListOptions(options, false);
  const deletion = await deleteOptions(context);
  const { items, metadata } = await listStored(api, context, served, { options, filter });
  for (let i = 0; i < items.length; i += PARALLEL) {
    // nobody waits for the rest any more
    context.signal.throwIfAborted();
    await Promise.all(
      items.slice(i, i + PARALLEL).map(async (stored) => {
        const { name = '', namespace = '' } = api.cache.read(stored).metadata;
        requireMortal(served, name);
        try {
          await deleteNamed(api, context, served, { namespace, name, options: deletion });
        } catch (error) {
          if (!isReason(error, 'NotFound')) throw error;
        }
      }),
    );
  }
  return { type: 'list', served, items, metadata };
}
