/** The context of a write the server makes by itself, as `system:apiserver`. */
import type { RequestContext } from './context.ts';
import { parseRequestInfo } from './request-info.ts';

export function internalContext(verb: 'create' | 'delete' | 'update', namespace: string, name = ''): RequestContext {
  return {
    info: { ...parseRequestInfo('POST', '/internal'), verb, namespace, name },
    method: 'POST',
    headers: {},
    raw: undefined as never,
    reply: undefined as never,
    user: { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] },
    warnings: [],
    signal: new AbortController().signal,
    cleanups: [],
  };
}
