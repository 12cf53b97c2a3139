/**
 * What a request is about, read once by hand from its raw target. Mirrors apiserver `request.RequestInfoFactory`.
 *
 * Invariant: the same parsed value authorizes, routes and stores, so no two layers can read one path differently. Nothing here cleans a
 * path: `..`, `//` and a decoded `%2F` keep their place and simply name something that does not exist.
 */
import { parseQuery, type Query } from './query.ts';

export interface RequestInfo {
  /** The percent-decoded path, as authorization of non-resource requests sees it. */
  readonly path: string;
  readonly query: Query;
  /** The query as sent, without `?`. */
  readonly rawQuery: string;
  /** API verb: get, list, watch, create, update, patch, delete, deletecollection; '' for a method without one. For non-resource paths the lower-case method. */
  readonly verb: string;
  readonly isResourceRequest: boolean;
  /** `api` or `apis` for a resource request. */
  readonly prefix: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** Path parts from the resource on. */
  readonly parts: readonly string[];
  /** Asked for through the deprecated `/watch/` prefix. */
  readonly watchPrefix: boolean;
}

/** What was sent is no request that could be read: the answer is `400 Bad Request`, with the message after it where there is one. */
export class BadTarget extends Error {}

const VERB: Readonly<Record<string, string>> = { POST: 'create', GET: 'get', HEAD: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

/** `/api/v1/namespaces/x/pods/p/log?follow=true` → verb get, namespace x, resource pods, name p, subresource log. Throws BadTarget. */
export function parseRequestInfo(method: string, target: string): RequestInfo {
  const { rawPath, rawQuery } = splitTarget(target);
  const path = decodePath(rawPath);
  const query = parseQuery(rawQuery);
  const parts = trimSlashes(path).split('/');
  const prefix = parts[0] ?? '';
  const needed = prefix === 'api' ? 3 : prefix === 'apis' ? 4 : Number.POSITIVE_INFINITY;
  if (parts.length < needed) return nonResource(method, path, query, rawQuery);
  const [group, version, rest] = prefix === 'api' ? ['', parts[1]!, parts.slice(2)] : [parts[1]!, parts[2]!, parts.slice(3)];
  return resourceRequest({ method, path, query, rawQuery, prefix, group, version }, rest);
}

interface Base {
  readonly method: string;
  readonly path: string;
  readonly query: Query;
  readonly rawQuery: string;
  readonly prefix: string;
  readonly group: string;
  readonly version: string;
}

function resourceRequest(base: Base, rest: string[]): RequestInfo {
  const { method, path, query, rawQuery, prefix, group, version } = base;
  const watchPrefix = rest[0] === 'watch' && rest.length > 1;
  let parts = watchPrefix ? rest.slice(1) : rest;
  let verb = watchPrefix ? 'watch' : (VERB[method] ?? '');
  let namespace = '';
  if (parts[0] === 'namespaces' && parts.length > 1) {
    namespace = parts[1]!;
    if (parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2]!)) parts = parts.slice(2);
  }
  let name = parts[1] ?? '';
  if (name === '' && verb === 'get') {
    verb = isWatch(query) ? 'watch' : 'list';
    name = nameOfFieldSelector(query);
  }
  if (name === '' && verb === 'delete') verb = 'deletecollection';
  const subresource = watchPrefix ? '' : (parts[2] ?? '');
  return {
    path,
    query,
    rawQuery,
    verb,
    isResourceRequest: true,
    prefix,
    group,
    version,
    namespace,
    resource: parts[0]!,
    subresource,
    name,
    parts,
    watchPrefix,
  };
}

function nonResource(method: string, path: string, query: Query, rawQuery: string): RequestInfo {
  const none = {
    prefix: '',
    group: '',
    version: '',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    parts: [],
    watchPrefix: false,
  };
  return { path, query, rawQuery, verb: method.toLowerCase(), isResourceRequest: false, ...none };
}

/** `watch` is true for everything but absent, `0` and `false` in any case; empty and bare count as true. */
export function isWatch(query: Query): boolean {
  const value = query.get('watch');
  return value !== undefined && value !== '0' && value.toLowerCase() !== 'false';
}

/** A selector of exactly one name makes a list about that object, for authorization. */
function nameOfFieldSelector(query: Query): string {
  const match = /(?:^|,)metadata\.name==?([^,=!\\]+)(?:,|$)/.exec(query.get('fieldSelector') ?? '');
  const name = match?.[1] ?? '';
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
}

function splitTarget(target: string): { rawPath: string; rawQuery: string } {
  if (target === '*') return { rawPath: target, rawQuery: '' };
  let rest = target;
  if (!rest.startsWith('/')) {
    const absolute = /^https?:\/\/[^/?#]*/i.exec(rest);
    if (absolute === null) throw new BadTarget();
    rest = rest.slice(absolute[0].length);
    if (!rest.startsWith('/')) rest = `/${rest}`;
  }
  const mark = rest.indexOf('?');
  return mark < 0 ? { rawPath: rest, rawQuery: '' } : { rawPath: rest.slice(0, mark), rawQuery: rest.slice(mark + 1) };
}

function decodePath(raw: string): string {
  if (!raw.includes('%')) return raw;
  if (/%(?![0-9a-fA-F]{2})/.test(raw)) throw new BadTarget();
  try {
    return decodeURIComponent(raw);
  } catch {
    return decodeBytes(raw);
  }
}

/** Escapes that are no UTF-8: each bad byte becomes U+FFFD. */
function decodeBytes(raw: string): string {
  const bytes: number[] = [];
  for (let i = 0; i < raw.length; i++) {
    if (raw[i] === '%') {
      bytes.push(Number.parseInt(raw.slice(i + 1, i + 3), 16));
      i += 2;
    } else bytes.push(...Buffer.from(raw[i]!));
  }
  return Buffer.from(bytes).toString('utf8');
}

/** Go's strings.Trim(path, "/"): empty segments inside stay. */
function trimSlashes(path: string): string {
  let start = 0;
  let end = path.length;
  while (start < end && path[start] === '/') start++;
  while (end > start && path[end - 1] === '/') end--;
  return path.slice(start, end);
}
