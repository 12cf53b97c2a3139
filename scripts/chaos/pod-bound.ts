/**
 * K1, K2: never more pods that are not terminating than replicas + maxSurge, at any revision. Judged on the events of Deployments, ReplicaSets and pods
 * merged by revision, at the moments when a pod is added or a ReplicaSet asks for more: only those are decisions; an adoption or a smaller spec is not.
 *
 * A spec that shrinks does not bind at once: who has not seen it may still act by the one before. So each object has a ceiling that rises with its
 * spec at once and falls only when the status says that the spec has been observed (and, of a Deployment, when its ReplicaSets ask for no more):
 *
 *     spec.replicas 10, ceiling 10 → spec.replicas 2, ceiling still 10 → status.observedGeneration catches up, ceiling 2
 */
import { scaledValue } from '../../machinery/api/intstr.ts';
import type { ObjectFacts, SeenEvent, Watched } from './history.ts';

interface Bounded {
  facts: ObjectFacts;
  ceiling: number;
}

export interface BoundHistory {
  readonly deployments: Watched;
  readonly replicasets: Watched;
  readonly pods: Watched;
}

const observed = ({ generation, observedGeneration }: ObjectFacts): boolean => generation === observedGeneration;

function boundOf({ replicas = 1, maxSurge = 0 }: ObjectFacts): number {
  return replicas + scaledValue(maxSurge, replicas, true);
}

export function tooManyPods(history: BoundHistory): string[] {
  const state = new BoundState();
  for (const resource of RESOURCES) for (const object of history[resource].initial) state.see(resource, { ...object, type: 'MODIFIED' });
  const events = RESOURCES.flatMap((resource) => history[resource].events.map((event) => ({ resource, event }))).sort(
    (a, b) => a.event.revision - b.event.revision,
  );
  for (const { resource, event } of events) state.see(resource, event);
  return state.violations;
}

const RESOURCES = ['deployments', 'replicasets', 'pods'] as const;

/** What is there at one revision, and what was wrong up to it. */
class BoundState {
  readonly violations: string[] = [];
  readonly #deployments = new Map<string, Bounded>();
  readonly #sets = new Map<string, Bounded>();
  /** uid of a live pod → uid of its ReplicaSet. */
  readonly #live = new Map<string, string>();

  see(resource: (typeof RESOURCES)[number], event: SeenEvent): void {
    if (resource === 'deployments') this.#seeDeployment(event);
    else if (resource === 'replicasets') this.#seeSet(event);
    else this.#seePod(event);
  }

  #setsOf(deployment: string): Bounded[] {
    return [...this.#sets.values()].filter(({ facts }) => facts.owner === deployment);
  }
  #asked(deployment: string): number {
    return this.#setsOf(deployment).reduce((sum, { facts }) => sum + (facts.replicas ?? 1), 0);
  }
  #podsOf(wanted: (set: string) => boolean): number {
    return [...this.#live.values()].filter(wanted).length;
  }

  #settle(uid: string): void {
    const deployment = this.#deployments.get(uid);
    if (!deployment) return;
    const bound = boundOf(deployment.facts);
    const settled = observed(deployment.facts) && this.#asked(uid) <= bound && this.#setsOf(uid).every(({ facts }) => observed(facts));
    deployment.ceiling = settled ? bound : Math.max(deployment.ceiling, bound);
  }

  #seeDeployment(event: SeenEvent): void {
    if (event.type === 'DELETED') {
      this.#deployments.delete(event.uid);
      return;
    }
    this.#deployments.set(event.uid, { facts: event, ceiling: this.#deployments.get(event.uid)?.ceiling ?? 0 });
    this.#settle(event.uid);
  }

  #seeSet(event: SeenEvent): void {
    if (event.type === 'DELETED') {
      this.#sets.delete(event.uid);
      this.#settle(event.owner ?? '');
      return;
    }
    const before = this.#sets.get(event.uid);
    const replicas = event.replicas ?? 1;
    this.#sets.set(event.uid, { facts: event, ceiling: observed(event) ? replicas : Math.max(before?.ceiling ?? 0, replicas) });
    const deployment = this.#deployments.get(event.owner ?? '');
    if (!deployment) return;
    const sum = this.#asked(event.owner!);
    // it was somebody else's before: what it asked for and what runs come along
    if (before && before.facts.owner !== event.owner) {
      const running = this.#podsOf((set) => this.#sets.get(set)?.facts.owner === event.owner);
      deployment.ceiling = Math.max(deployment.ceiling, sum, running);
    } else if (replicas > (before?.facts.replicas ?? 0) && sum > deployment.ceiling)
      this.violations.push(
        `deployment ${deployment.facts.name}: its replicasets ask for ${sum} at revision ${event.revision}, at most ${deployment.ceiling} are allowed`,
      );
    this.#settle(event.owner!);
  }

  #seePod(event: SeenEvent): void {
    if (event.type === 'DELETED' || event.terminating || event.ended || event.owner === undefined) {
      this.#live.delete(event.uid);
      return;
    }
    this.#live.set(event.uid, event.owner);
    const set = this.#sets.get(event.owner);
    if (event.type !== 'ADDED' || !set) return;
    const ofSet = this.#podsOf((owner) => owner === event.owner);
    if (ofSet > set.ceiling)
      this.violations.push(`replicaset ${set.facts.name}: ${ofSet} pods at revision ${event.revision}, at most ${set.ceiling} are allowed`);
    const deployment = this.#deployments.get(set.facts.owner ?? '');
    if (!deployment) return;
    const all = this.#podsOf((owner) => this.#sets.get(owner)?.facts.owner === set.facts.owner);
    if (all > deployment.ceiling)
      this.violations.push(
        `deployment ${deployment.facts.name}: ${all} pods at revision ${event.revision}, at most ${deployment.ceiling} are allowed`,
      );
  }
}
