/**
 * Which pods of a node a drain removes and which forbid it. Mirrors kubectl `pkg/drain/filters.go`: daemon set pods, mirror pods, pods with local data,
 * pods that nobody would recreate. Pure.
 */

import { controllerOf, type KubeObject } from '../../machinery/api/object.ts';
import type { Pod } from '../../machinery/api/types/core.v1.ts';
import { MIRROR } from '../../machinery/api/well-known-labels.ts';

export interface DrainRules {
  readonly force: boolean;
  readonly ignoreDaemonSets: boolean;
  readonly deleteEmptyDirData: boolean;
  /** Pods deleted longer ago than this are not waited for; 0 means all are. */
  readonly skipDeletedSeconds: number;
}

export interface DrainPlan {
  readonly remove: Pod[];
  readonly warnings: string[];
  readonly refusals: string[];
}

type Verdict = { readonly remove: boolean; readonly warning?: string; readonly refusal?: string };

export const DAEMONSET_REFUSAL = 'cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)';
export const UNMANAGED_REFUSAL = 'cannot delete Pods that declare no controller (use --force to override)';
export const LOCAL_DATA_REFUSAL = 'cannot delete Pods with local storage (use --delete-emptydir-data to override)';

export function planDrain(pods: readonly Pod[], rules: DrainRules, now: Date): DrainPlan {
  const plan = { remove: [] as Pod[], warnings: new Map<string, string[]>(), refusals: new Map<string, string[]>() };
  for (const pod of pods) {
    const { remove, warning, refusal } = judge(pod, rules, now);
    const name = `${pod.metadata?.namespace}/${pod.metadata?.name}`;
    if (remove) plan.remove.push(pod);
    if (warning) plan.warnings.set(warning, [...(plan.warnings.get(warning) ?? []), name]);
    if (refusal) plan.refusals.set(refusal, [...(plan.refusals.get(refusal) ?? []), name]);
  }
  const texts = (map: ReadonlyMap<string, string[]>): string[] => [...map].map(([why, names]) => `${why}: ${names.join(', ')}`).sort();
  return { remove: plan.remove, warnings: texts(plan.warnings), refusals: texts(plan.refusals) };
}

function judge(pod: Pod, rules: DrainRules, now: Date): Verdict {
  const deleted = pod.metadata?.deletionTimestamp;
  if (rules.skipDeletedSeconds > 0 && deleted && now.getTime() - Date.parse(deleted) > rules.skipDeletedSeconds * 1000)
    return { remove: false };
  const owner = controllerOf(pod as KubeObject);
  const finished = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
  if (owner?.kind === 'DaemonSet') {
    if (finished) return { remove: true };
    return rules.ignoreDaemonSets
      ? { remove: false, warning: 'ignoring DaemonSet-managed Pods' }
      : { remove: false, refusal: DAEMONSET_REFUSAL };
  }
  if (pod.metadata?.annotations?.[MIRROR] !== undefined) return { remove: false };
  const local = !finished && (pod.spec?.volumes ?? []).some((volume) => volume.emptyDir !== undefined);
  if (local && !rules.deleteEmptyDirData) return { remove: false, refusal: LOCAL_DATA_REFUSAL };
  if (!finished && owner === undefined) {
    return rules.force
      ? { remove: true, warning: 'deleting Pods that declare no controller' }
      : { remove: false, refusal: UNMANAGED_REFUSAL };
  }
  return { remove: true };
}
