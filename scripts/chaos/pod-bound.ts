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
  const deployments = new Map<string, Bounded>();
  const sets = new Map<string, Bounded>();
  /** uid of a live pod → uid of its ReplicaSet. */
  const live = new Map<string, string>();
  const violations: string[] = [];

  const setsOf = (deployment: string): Bounded[] => [...sets.values()].filter(({ facts }) => facts.owner === deployment);
  const asked = (deployment: string): number => setsOf(deployment).reduce((sum, { facts }) => sum + (facts.replicas ?? 1), 0);
  const podsOf = (wanted: (set: string) => boolean): number => [...live.values()].filter(wanted).length;

  const settle = (uid: string): void => {
    const deployment = deployments.get(uid);
    if (!deployment) return;
    const bound = boundOf(deployment.facts);
    const settled = observed(deployment.facts) && asked(uid) <= bound && setsOf(uid).every(({ facts }) => observed(facts));
    deployment.ceiling = settled ? bound : Math.max(deployment.ceiling, bound);
  };

  const apply = {
    deployments: (event: SeenEvent): void => {
      if (event.type === 'DELETED') deployments.delete(event.uid);
      else {
        deployments.set(event.uid, { facts: event, ceiling: deployments.get(event.uid)?.ceiling ?? 0 });
        settle(event.uid);
      }
    },
    replicasets: (event: SeenEvent): void => {
      if (event.type === 'DELETED') {
        sets.delete(event.uid);
        settle(event.owner ?? '');
        return;
      }
      const before = sets.get(event.uid);
      const replicas = event.replicas ?? 1;
      sets.set(event.uid, { facts: event, ceiling: observed(event) ? replicas : Math.max(before?.ceiling ?? 0, replicas) });
      const deployment = deployments.get(event.owner ?? '');
      if (!deployment) return;
      const sum = asked(event.owner!);
      // it was somebody else's before: what it asked for and what runs come along
      if (before && before.facts.owner !== event.owner) {
        deployment.ceiling = Math.max(
          deployment.ceiling,
          sum,
          podsOf((set) => sets.get(set)?.facts.owner === event.owner),
        );
      } else if (replicas > (before?.facts.replicas ?? 0) && sum > deployment.ceiling)
        violations.push(
          `deployment ${deployment.facts.name}: its replicasets ask for ${sum} at revision ${event.revision}, at most ${deployment.ceiling} are allowed`,
        );
      settle(event.owner!);
    },
    pods: (event: SeenEvent): void => {
      if (event.type === 'DELETED' || event.terminating || event.ended || event.owner === undefined) {
        live.delete(event.uid);
        return;
      }
      live.set(event.uid, event.owner);
      const set = sets.get(event.owner);
      if (event.type !== 'ADDED' || !set) return;
      const ofSet = podsOf((owner) => owner === event.owner);
      if (ofSet > set.ceiling)
        violations.push(`replicaset ${set.facts.name}: ${ofSet} pods at revision ${event.revision}, at most ${set.ceiling} are allowed`);
      const deployment = deployments.get(set.facts.owner ?? '');
      if (!deployment) return;
      const all = podsOf((owner) => sets.get(owner)?.facts.owner === set.facts.owner);
      if (all > deployment.ceiling)
        violations.push(
          `deployment ${deployment.facts.name}: ${all} pods at revision ${event.revision}, at most ${deployment.ceiling} are allowed`,
        );
    },
  };

  for (const resource of ['deployments', 'replicasets', 'pods'] as const)
    for (const object of history[resource].initial) apply[resource]({ ...object, type: 'MODIFIED' });
  const events = (['deployments', 'replicasets', 'pods'] as const)
    .flatMap((resource) => history[resource].events.map((event) => ({ resource, event })))
    .sort((a, b) => a.event.revision - b.event.revision);
  for (const { resource, event } of events) apply[resource](event);
  return violations;
}
