/** Which handler serves a subresource, and which serves a resource that is never stored. Mirrors the storage map of kubernetes `pkg/registry/<group>/rest`. */
import type { SubresourceInfo } from '../../machinery/api/schema/resources.ts';
import { bindPod, createBinding } from './binding.ts';
import type { Route } from './dispatch.ts';
import { evict } from './eviction.ts';
import { get } from './get.ts';
import { connectPod, podLog } from './kubelet.ts';
import { patch } from './patch.ts';
import { reviewRoute } from './reviews.ts';
import { getScale, patchScale, putScale } from './scale.ts';
import type { ServedResource } from './served.ts';
import { createToken } from './token.ts';
import { update } from './update.ts';

const METHOD_VERB: Readonly<Record<string, string>> = { GET: 'get', PUT: 'update', PATCH: 'patch', POST: 'create', DELETE: 'delete' };

/** A POST to a collection whose objects are answered, not stored. */
export function createOnly(served: ServedResource): Route | undefined {
  if (served.resource === 'bindings') return { handler: createBinding, form: 'value' };
  return reviewRoute(served);
}

export function subresourceHandler(served: ServedResource, found: SubresourceInfo, method: string): Route | undefined {
  const verb = METHOD_VERB[method];
  if (verb === undefined || !found.verbs.includes(verb)) return undefined;
  if (found.name === 'scale' && served.definition.scale === undefined) return undefined;
  return SPECIAL[found.name]?.[verb] ?? (served.definition.status !== undefined || found.name !== 'status' ? VIEW[verb] : undefined);
}

const VIEW: Readonly<Record<string, Route>> = {
  get: { handler: get, form: 'object' },
  update: { handler: update, form: 'object' },
  patch: { handler: patch, form: 'object' },
};

const SPECIAL: Readonly<Record<string, Readonly<Record<string, Route>>>> = {
  scale: {
    get: { handler: getScale, form: 'value' },
    update: { handler: putScale, form: 'value' },
    patch: { handler: patchScale, form: 'value' },
  },
  binding: { create: { handler: bindPod, form: 'value' } },
  eviction: { create: { handler: evict, form: 'value' } },
  token: { create: { handler: createToken, form: 'value' } },
  log: { get: { handler: podLog, form: 'raw' } },
  exec: { get: { handler: connectPod, form: 'raw' }, create: { handler: connectPod, form: 'raw' } },
  attach: { get: { handler: connectPod, form: 'raw' }, create: { handler: connectPod, form: 'raw' } },
  portforward: { get: { handler: connectPod, form: 'raw' }, create: { handler: connectPod, form: 'raw' } },
  proxy: Object.fromEntries(
    ['get', 'create', 'update', 'patch', 'delete'].map((verb) => [verb, { handler: connectPod, form: 'raw' as const }]),
  ),
};
