/** GET of one object. Mirrors apiserver `handlers/get.go`: a resourceVersion means "not older than". */
import { badRequest, notFound } from '../../machinery/api/status.ts';
import type { RequestContext } from '../http/context.ts';
import { invalidVersion, parseRevision, requireReached } from '../http/list-options.ts';
import { isTrue } from '../http/write-options.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import { madeObjects, requireKeyable } from './list.ts';
import { groupResource, storedVersion } from './persist.ts';
import type { ServedResource } from './served.ts';

export async function get(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const { namespace, name, query } = context.info;
  requireKeyable(served, namespace, name);
  if (isTrue(query.get('export'))) throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
  if (served.definition.made !== undefined) {
    const made = madeObjects(api, served).find((stored) => stored.key === name);
    if (made === undefined) throw notFound(groupResource(served), name);
    return { type: 'object', code: 200, served, stored: made };
  }
  const version = query.get('resourceVersion') ?? '';
  if (version !== '') {
    const revision = parseRevision(version);
    if (revision === undefined) throw invalidVersion(version, 'get');
    await requireReached(api, context, revision);
  }
  return { type: 'object', code: 200, served, stored: storedVersion(api.store, served, namespace, name) };
}
