/**
 * From a parsed path to the handler of its verb. Mirrors apiserver `endpoints/installer.go`: which paths and methods exist, and which of the
 * three refusals (text 404, Status 404, 405) an address gets that does not.
 */

import { badRequest, methodNotAllowed, notFoundPath } from '../../machinery/api/status.ts';
import type { RequestContext } from '../http/context.ts';
import { warn } from '../http/context.ts';
import { type Negotiated, negotiate } from '../http/negotiate.ts';
import { methodNotAllowedPath, pageNotFound } from '../http/refusals.ts';
import { isWatch } from '../http/request-info.ts';
import { requireIncludeObject } from '../http/tables.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import { create } from './create.ts';
import { deleteOne } from './delete.ts';
import { deleteCollection } from './delete-collection.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { patch } from './patch.ts';
import type { ServedResource } from './served.ts';
import { createOnly, subresourceHandler } from './subresources.ts';
import { update } from './update.ts';
import { watch } from './watch.ts';

export type Handler = (api: Api, context: RequestContext, served: ServedResource, form: Negotiated) => Promise<Answer>;

/** A handler and how its answer is negotiated. */
export interface Route {
  readonly handler: Handler;
  /** `object` and `list` can be Tables and metadata; `value` cannot; `raw` is not negotiated. */
  readonly form: 'object' | 'list' | 'watch' | 'value' | 'raw';
}

export interface Dispatched {
  readonly answer: Answer;
  readonly form: Negotiated;
}

const NO_FORM: Negotiated = { mediaType: 'application/json', pretty: false, transform: undefined, transformVersion: 'v1', stream: false };

export async function dispatch(api: Api, context: RequestContext): Promise<Dispatched> {
  const served = find(api, context);
  const route = routeOf(context, served);
  if (served.deprecation) warn(context, served.deprecation);
  if (context.info.parts.length > 1) requireSegment(context.info.name);
  const form = formOf(context, route);
  return { answer: await route.handler(api, context, served, form), form };
}

/** A name that could not be a segment of a path names nothing, whatever the kind. */
function requireSegment(name: string): void {
  const why = name === '.' || name === '..' ? `may not be '${name}'` : name.includes('%') ? "may not contain '%'" : undefined;
  if (why !== undefined) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${why}`);
}

function formOf(context: RequestContext, route: Route): Negotiated {
  if (route.form === 'raw') return NO_FORM;
  const isList = route.form === 'list' || route.form === 'watch';
  const form = negotiate(context, { transforms: true, list: isList, watch: route.form === 'watch' });
  if (form.transform === 'Table') requireIncludeObject(context.info.query.get('includeObject') ?? '');
  return form;
}

function find(api: Api, context: RequestContext): ServedResource {
  const { info } = context;
  const { group, version, parts } = info;
  if (info.path.startsWith('//')) throw pageNotFound();
  if (info.prefix === 'apis' && (group === '' || !api.catalog.hasGroup(group))) throw pageNotFound();
  if (parts.includes('') || /\/\/.*[^/]/.test(info.path)) throw notFoundPath();
  const served = api.catalog.lookup(group, version, info.resource);
  if (served === undefined) throw notFoundPath();
  return served;
}

function routeOf(context: RequestContext, served: ServedResource): Route {
  const { info, method } = context;
  const { parts } = info;
  const inNamespace = info.namespace !== '' && !(served.resource === 'namespaces' && parts.length > 1);
  if (inNamespace && !served.namespaced) throw notFoundPath();
  if (info.watchPrefix) return watchPrefixRoute(context, served);
  if (parts.length === 1) return collectionRoute(context, served, inNamespace || !served.namespaced);
  if (served.namespaced && !inNamespace) throw notFoundPath();
  if (parts.length > 2) return subresourceRoute(context, served);
  const { verbs } = served.info;
  if (!verbs.some((verb) => verb === 'get' || verb === 'update' || verb === 'delete')) throw notFoundPath();
  const route = OBJECT_ROUTES[method];
  if (route === undefined || !verbs.includes(route.verb)) throw methodNotAllowedPath();
  return route;
}

const OBJECT_ROUTES: Readonly<Record<string, Route & { readonly verb: string }>> = {
  GET: { verb: 'get', handler: get, form: 'object' },
  PUT: { verb: 'update', handler: update, form: 'object' },
  PATCH: { verb: 'patch', handler: patch, form: 'object' },
  DELETE: { verb: 'delete', handler: deleteOne, form: 'object' },
};

function collectionRoute(context: RequestContext, served: ServedResource, complete: boolean): Route {
  const { method } = context;
  const { verbs } = served.info;
  if (method === 'GET' && verbs.includes('list')) {
    if (!isWatch(context.info.query)) return { handler: list, form: 'list' };
    if (verbs.includes('watch')) return { handler: watch, form: 'watch' };
    return { handler: refuseWatch, form: 'list' };
  }
  if (method === 'POST' && complete && verbs.includes('create')) {
    return createOnly(served) ?? { handler: create, form: 'object' };
  }
  if (method === 'DELETE' && complete && verbs.includes('deletecollection')) return { handler: deleteCollection, form: 'list' };
  if (!complete && !verbs.includes('list')) throw notFoundPath();
  throw methodNotAllowedPath();
}

/** The path exists, what it is asked does not: the refusal comes with the resource's warnings. */
async function refuseWatch(_api: Api, _context: RequestContext, served: ServedResource): Promise<Answer> {
  throw methodNotAllowed({ group: served.group, resource: served.resource }, 'watch');
}

function watchPrefixRoute(context: RequestContext, served: ServedResource): Route {
  if (context.info.parts.length > 2 || !served.info.verbs.includes('watch')) throw notFoundPath();
  if (context.method !== 'GET') throw methodNotAllowedPath();
  return { handler: watch, form: 'watch' };
}

function subresourceRoute(context: RequestContext, served: ServedResource): Route {
  const { info, method } = context;
  const found = served.info.subresources?.find((sub) => sub.name === info.subresource);
  if (found === undefined || (info.parts.length > 3 && !found.subpath)) throw notFoundPath();
  const route = subresourceHandler(served, found, method);
  if (route === undefined) throw methodNotAllowedPath();
  return route;
}
