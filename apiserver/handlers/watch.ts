/**
 * GET of a collection with watch: checks the options, chooses how events look, hands the connection to the watch hub. Mirrors apiserver
 * `handlers/watch.go`.
 */
import { unclassified } from '../../machinery/api/status.ts';
import type { RequestContext } from '../http/context.ts';
import { invalidVersion, type ListOptions, listOptions, parseRevision, validateListOptions } from '../http/list-options.ts';
import type { Negotiated } from '../http/negotiate.ts';
import { setWarnings } from '../http/respond.ts';
import { streamSink } from '../http/stream-sink.ts';
import { splitLengths, splitLines, wantsWebSocket, webSocketSink } from '../http/web-socket.ts';
import { storagePrefix } from '../registry/resource.ts';
import type { WatchSelector, WatchSink } from '../watch/form.ts';
import type { WatchStart } from '../watch/watcher.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import { type Filter, filterOf, requireKeyable } from './list.ts';
import type { ServedResource } from './served.ts';
import { watchForm } from './watch-forms.ts';

/** Upstream ends watches that name no timeout after 30 to 60 minutes. */
const MIN_TIMEOUT_MS = 30 * 60_000;

export async function watch(api: Api, context: RequestContext, served: ServedResource, form: Negotiated): Promise<Answer> {
  const { info } = context;
  const single = info.watchPrefix && info.parts.length > 1;
  const options = listOptions(single ? withName(info.query, info.name) : info.query);
  const filter = filterOf(served, options);
  validateListOptions(options, !info.watchPrefix);
  const namespace = served.namespaced ? info.namespace : '';
  requireKeyable(served, namespace, '');
  const start = startOf(options);
  const timeoutMs =
    options.timeoutSeconds === undefined ? MIN_TIMEOUT_MS + api.random.integer(MIN_TIMEOUT_MS) : Math.max(options.timeoutSeconds, 0) * 1000;
  const sink = openSink(api, context, form);
  if (sink === undefined) return { type: 'sent' };
  const selector = selectorOf(options, filter);
  const open = api.hub.open({
    prefix: storagePrefix(served.definition.group, served.definition.resource),
    namespace,
    ...(selector && { selector }),
    form: watchForm(api, context, served, form),
    start,
    bookmarks: options.allowWatchBookmarks,
    timeoutMs: options.timeoutSeconds === 0 ? MIN_TIMEOUT_MS : timeoutMs,
    sink,
  });
  context.signal.addEventListener('abort', () => open.close(), { once: true });
  return { type: 'sent' };
}

type QueryLike = Parameters<typeof listOptions>[0];

function withName(query: QueryLike, name: string): QueryLike {
  const selector = [query.get('fieldSelector') ?? '', `metadata.name=${name}`].filter((s) => s !== '').join(',');
  return {
    get: (key) => (key === 'fieldSelector' ? selector : query.get(key)),
    has: (key) => key === 'fieldSelector' || query.has(key),
    all: (key) => query.all(key),
  };
}

function startOf(options: ListOptions): WatchStart {
  const text = options.resourceVersion;
  const revision = text === '' ? 0 : parseRevision(text);
  if (revision === undefined) throw invalidVersion(text, 'watch');
  if (options.sendInitialEvents === true) {
    return { from: 'state', ...(revision > 0 && { atLeast: revision }), announceEnd: options.allowWatchBookmarks };
  }
  if (options.sendInitialEvents === false) return revision > 0 ? { from: 'revision', revision } : { from: 'now' };
  return revision > 0 ? { from: 'revision', revision } : { from: 'state' };
}

function selectorOf(options: ListOptions, filter: Filter): WatchSelector | undefined {
  if (filter.empty) return undefined;
  const exact = (label: string): string | undefined => filter.fields.find((f) => f.label === label && f.operator !== '!=')?.value;
  const name = exact('metadata.name');
  const nodeName = exact('spec.nodeName');
  return {
    id: `${options.labelSelector}\u0000${options.fieldSelector}\u0000${name ?? ''}`,
    matches: filter.matches,
    ...(name !== undefined && { name }),
    ...(nodeName !== undefined && { nodeName }),
  };
}

/** Where the events go. Undefined when the client's handshake was no good, which it has then been told. */
function openSink(api: Api, context: RequestContext, form: Negotiated): WatchSink | undefined {
  if (!wantsWebSocket(context)) {
    beginStream(context, form);
    return streamSink(context, api.clock);
  }
  context.reply.hijack();
  return webSocketSink(context, form.mediaType === 'application/vnd.kubernetes.protobuf' ? splitLengths : splitLines);
}

/** Headers of a stream: they go out at once, so that a client knows its watch has begun. */
function beginStream(context: RequestContext, form: Negotiated): void {
  const { reply } = context;
  if (reply.sent) throw unclassified('the connection is gone');
  const type =
    form.mediaType === 'application/vnd.kubernetes.protobuf' ? 'application/vnd.kubernetes.protobuf;stream=watch' : 'application/json';
  reply.code(200).header('content-type', type).header('cache-control', 'no-cache, private');
  setWarnings(context);
  reply.hijack();
  reply.raw.writeHead(200, reply.getHeaders() as never);
  (reply.raw as { flushHeaders?: () => void }).flushHeaders?.();
}
