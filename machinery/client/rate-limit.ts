/**
 * A client that asks no more often than it may: `--kube-api-qps` and `--kube-api-burst`. Mirrors client-go's `flowcontrol.RateLimiter`.
 *
 * Leases go past it (leader election and heartbeats are given the unlimited client): a busy process must not be taken for a dead one.
 * It stands in front of the fence, so that what waited for its turn is still checked against the leadership when it is sent.
 */
import type { Clock } from '../process/clock.ts';
import { TokenBucket } from '../process/token-bucket.ts';
import type { Client } from './client.ts';

export interface RateLimit {
  /** Requests per second; 0: no limit. */
  readonly kubeApiQps: number;
  /** Requests at once after a quiet time; at least one. */
  readonly kubeApiBurst: number;
}

export interface RateLimitDeps {
  readonly clock: Clock;
  /** Ends the waiting of all requests. */
  readonly signal: AbortSignal;
}

export function limitRate(client: Client, limit: RateLimit, { clock, signal }: RateLimitDeps): Client {
  if (limit.kubeApiQps === 0) return client;
  const bucket = new TokenBucket({ clock, perSecond: limit.kubeApiQps, burst: Math.max(1, limit.kubeApiBurst) });
  const turn = async (): Promise<void> => {
    const waitMs = bucket.reserve();
    if (waitMs > 0) await clock.sleep(waitMs, signal);
  };
  return {
    server: client.server,
    get: (type, name) => turn().then(() => client.get(type, name)),
    list: (type, params) => turn().then(() => client.list(type, params)),
    async *watch(type, params, stop) {
      await turn();
      yield* client.watch(type, params, stop);
    },
    create: (type, object, params) => turn().then(() => client.create(type, object, params)),
    createSubresource: (type, name, subresource, body, params) =>
      turn().then(() => client.createSubresource(type, name, subresource, body, params)),
    update: (type, object, params) => turn().then(() => client.update(type, object, params)),
    patch: (type, name, patchType, patch, params) => turn().then(() => client.patch(type, name, patchType, patch, params)),
    delete: (type, name, params) => turn().then(() => client.delete(type, name, params)),
    deleteCollection: (type, selector, params) => turn().then(() => client.deleteCollection(type, selector, params)),
    raw: (request) => turn().then(() => client.raw(request)),
    stream: (request) => turn().then(() => client.stream(request)),
    close: () => client.close(),
  };
}
