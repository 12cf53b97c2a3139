/**
 * Server-side apply: the body says what its manager wants to own. Mirrors apiserver `handlers/patch.go` applyPatcher.
 */
import { badRequest } from '../../machinery/api/status.ts';
import type { RequestContext } from '../http/context.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import type { ServedResource } from './served.ts';

export async function apply(_api: Api, _context: RequestContext, _served: ServedResource): Promise<Answer> {
  throw badRequest('server-side apply is not served yet');
}
