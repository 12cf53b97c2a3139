/**
 * A client for the time of one leadership. A process that was stopped for longer than its lease may wake in the middle of a plan; the check made before
 * every write is what keeps it from meeting its successor. And once leadership is gone nobody waits for an answer any longer, so that the work of a
 * former leader ends at once even when the server is silent.
 */
import type { Client } from './client.ts';
import { type Leadership, LeaseLostError } from './leader-election.ts';

export function fence(client: Client, leadership: Leadership): Client {
  const read = <R>(answer: Promise<R>): Promise<R> => orAbort(answer, leadership.signal);
  const write = <R>(send: () => Promise<R>): Promise<R> =>
    leadership.held()
      ? orAbort(send(), leadership.signal)
      : Promise.reject(new LeaseLostError('not leader any more, the write was not sent'));
  return {
    server: client.server,
    get: (type, name) => read(client.get(type, name)),
    list: (type, params) => read(client.list(type, params)),
    watch: (type, params, signal) => client.watch(type, params, signal),
    create: (type, object, params) => write(() => client.create(type, object, params)),
    createSubresource: (type, name, subresource, body, params) =>
      write(() => client.createSubresource(type, name, subresource, body, params)),
    update: (type, object, params) => write(() => client.update(type, object, params)),
    patch: (type, name, patchType, patch, params) => write(() => client.patch(type, name, patchType, patch, params)),
    delete: (type, name, params) => write(() => client.delete(type, name, params)),
    deleteCollection: (type, selector, params) => write(() => client.deleteCollection(type, selector, params)),
    raw: (request) => (request.method === 'GET' ? read(client.raw(request)) : write(() => client.raw(request))),
    stream: (request) => client.stream(request),
    close: () => client.close(),
  };
}

/** Rejects at the abort; the request itself may still be carried out. */
function orAbort<R>(answer: Promise<R>, signal: AbortSignal): Promise<R> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
