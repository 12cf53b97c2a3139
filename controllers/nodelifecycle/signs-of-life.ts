/**
 * How long each node has been silent, on the monotonic clock of this process. Mirrors upstream's `nodeHealthData.probeTimestamp`.
 *
 * Silence is not in the store: a lease says when its node last wrote by the node's clock, not since when nobody heard of it by ours. A loop started again begins to count anew.
 * Invariant: time in which we did not hear from the API server either is nobody's silence. After an outage of any length nodes get their full grace period.
 */
import type { Lease } from '../../machinery/api/types/coordination.k8s.io.v1.ts';
import type { Node } from '../../machinery/api/types/core.v1.ts';
import type { Clock } from '../../machinery/process/clock.ts';

interface Heard {
  readonly node: Node;
  readonly sign: string;
  readonly atMs: number;
}

export class SignsOfLife {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #outageMs: number;
  readonly #nodes = new Map<string, Heard>();
  #revision = -1;
  /** When the API server last told us anything. */
  #toldMs = Number.NEGATIVE_INFINITY;
  /** When it began to tell us things again. */
  #backMs = Number.NEGATIVE_INFINITY;

  /** After `outageMs` without a word from the API server it counts as having been away. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, outageMs: number) {
    this.#clock = clock;
    this.#outageMs = outageMs;
  }

  /** `revision`: the newest that our copies contain; that it moves is how we hear the API server. */
  heardServer(revision: number): void {
    if (revision === this.#revision) return;
    const now = this.#clock.monotonicMs();
    if (now - this.#toldMs > this.#outageMs) this.#backMs = now;
    this.#revision = revision;
    this.#toldMs = now;
  }

  /** Milliseconds since the node's lease or heartbeat last changed, as far as the API server could have told us. */
  silenceMs(node: Node, lease: Lease | undefined): number {
    const name = node.metadata.name ?? '';
    const ready = node.status?.conditions?.find((condition) => condition.type === 'Ready');
    const sign = `${node.metadata.uid} ${lease?.spec?.renewTime ?? ''} ${ready?.lastHeartbeatTime ?? ''}`;
    const before = this.#nodes.get(name);
    const atMs = before?.sign === sign ? before.atMs : this.#clock.monotonicMs();
    this.#nodes.set(name, { node, sign, atMs });
    return Math.max(0, this.#toldMs - Math.max(atMs, this.#backMs));
  }

  isKnown(name: string): boolean {
    return this.#nodes.has(name);
  }

  /** Forgets a node that is gone; answers what it was. */
  forget(name: string): Node | undefined {
    const heard = this.#nodes.get(name);
    this.#nodes.delete(name);
    return heard?.node;
  }
}
