/**
 * The labels that make pods replicas of one thing: those of the Services that lead to a pod, and the selector of its controller. Mirrors upstream
 * `plugins/helper/spread.go` (DefaultSelector).
 */
import { controllerOf } from '../../machinery/api/object.ts';
import { matches, type Requirement, type Selector, selectorOf, selectorOfLabels } from '../../machinery/api/selector.ts';
import type { PodInfo } from './pod-info.ts';
import type { Lookup } from './snapshot.ts';

/** Undefined when the pod is a replica of nothing. */
export function defaultSelector({ pod, namespace, labels }: PodInfo, lookup: Lookup): Selector | undefined {
  const pairs: Record<string, string> = Object.create(null);
  for (const service of lookup.services(namespace)) {
    const selector = service.spec?.selector;
    if (!selector || Object.keys(selector).length === 0) continue;
    if (matches(selectorOfLabels(selector), labels)) Object.assign(pairs, selector);
  }
  const requirements: Requirement[] = [];
  const owner = controllerOf(pod);
  if (owner?.kind === 'ReplicationController') Object.assign(pairs, lookup.replicationController(namespace, owner.name)?.spec?.selector);
  const owned =
    owner?.kind === 'ReplicaSet'
      ? lookup.replicaSet(namespace, owner.name)
      : owner?.kind === 'StatefulSet'
        ? lookup.statefulSet(namespace, owner.name)
        : undefined;
  if (owned?.spec?.selector) requirements.push(...selectorOf(owned.spec.selector).requirements);
  requirements.push(...selectorOfLabels(pairs).requirements);
  return requirements.length === 0 ? undefined : { requirements, nothing: false };
}
