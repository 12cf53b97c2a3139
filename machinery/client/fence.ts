/**
 * A client that refuses to write once leadership is gone. A process that was stopped for longer than its lease may wake in the middle of a plan; this
 * check, made before every write, is what keeps it from meeting its successor.
 */
import type { Client } from './client.ts';
import { type Leadership, LeaseLostError } from './leader-election.ts';

export function fence(client: Client, leadership: Pick<Leadership, 'held'>): Client {
  const refuse = (): Promise<never> | undefined =>
    leadership.held() ? undefined : Promise.reject(new LeaseLostError('not leader any more, the write was not sent'));
  return {
    server: client.server,
    get: (type, name) => client.get(type, name),
    list: (type, params) => client.list(type, params),
    watch: (type, params, signal) => client.watch(type, params, signal),
    create: (type, object, params) => refuse() ?? client.create(type, object, params),
    createSubresource: (type, name, subresource, body, params) =>
      refuse() ?? client.createSubresource(type, name, subresource, body, params),
    update: (type, object, params) => refuse() ?? client.update(type, object, params),
    patch: (type, name, patchType, patch, params) => refuse() ?? client.patch(type, name, patchType, patch, params),
    delete: (type, name, params) => refuse() ?? client.delete(type, name, params),
    deleteCollection: (type, selector, params) => refuse() ?? client.deleteCollection(type, selector, params),
    raw: (request) => (request.method === 'GET' ? undefined : refuse()) ?? client.raw(request),
    stream: (request) => client.stream(request),
    close: () => client.close(),
  };
}
