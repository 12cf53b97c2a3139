/** Old, empty ReplicaSets beyond revisionHistoryLimit are removed, lowest revision first. Mirrors upstream `deployment/sync.go` cleanupDeployment. */
import type { Deployment, ReplicaSet } from '../../machinery/api/types/apps.v1.ts';
import { revisionOf } from './annotations.ts';
import { replicasOf } from './bounds.ts';

export function setsToForget(d: Deployment, old: readonly ReplicaSet[]): ReplicaSet[] {
  const limit = d.spec.revisionHistoryLimit;
  if (limit === undefined || limit === 2 ** 31 - 1) return [];
  const kept = old.filter((rs) => rs.metadata.deletionTimestamp === undefined);
  const surplus = Math.max(0, kept.length - limit);
  return [...kept]
    .sort((a, b) => revisionOf(a) - revisionOf(b))
    .slice(0, surplus)
    .filter(
      (rs) =>
        (rs.status?.replicas ?? 0) === 0 && replicasOf(rs) === 0 && (rs.status?.observedGeneration ?? 0) >= (rs.metadata.generation ?? 0),
    );
}
