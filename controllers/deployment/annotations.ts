/**
 * The notes a Deployment keeps on its ReplicaSets: revision, revision history, the sizes it wanted. Mirrors upstream `deployment_util.go`
 * (SetNewReplicaSetAnnotations, SetReplicasAnnotations). kubectl's rollout history and undo read them.
 */

import type { Deployment, ReplicaSet } from '../../machinery/api/types/apps.v1.ts';
import { DESIRED_REPLICAS, LAST_APPLIED, MAX_REPLICAS, REVISION, REVISION_HISTORY } from '../../machinery/api/well-known-labels.ts';
import { maxSurge, replicasOf } from './bounds.ts';

const MAX_HISTORY_LENGTH = 2000;

/** Annotations of the Deployment that are not copied to its ReplicaSets. */
const KEPT_APART = new Set([LAST_APPLIED, REVISION, REVISION_HISTORY, DESIRED_REPLICAS, MAX_REPLICAS, 'deprecated.deployment.rollback.to']);

type Annotations = Readonly<Record<string, string>>;

/** 0 when absent or no number. */
export function revisionOf(object: { metadata: { annotations?: Annotations } }): number {
  const text = object.metadata.annotations?.[REVISION] ?? '';
  return /^[0-9]+$/.test(text) ? Number(text) : 0;
}

export const maxRevision = (sets: readonly ReplicaSet[]): number => Math.max(0, ...sets.map(revisionOf));

/** The sizes wanted now, for every set that is scaled. */
export function sizeAnnotations(d: Deployment): Annotations {
  return { [DESIRED_REPLICAS]: String(replicasOf(d)), [MAX_REPLICAS]: String(replicasOf(d) + maxSurge(d)) };
}

export function numberAnnotation(rs: ReplicaSet, name: string): number | undefined {
  const text = rs.metadata.annotations?.[name];
  return text !== undefined && /^-?[0-9]+$/.test(text) ? Number(text) : undefined;
}

/**
 * The annotations the current ReplicaSet should have: those of the Deployment, and the revision when it is higher than the one it carries;
 * the one it replaces joins the history. `rs` undefined: a set to be made.
 */
export function currentSetAnnotations(d: Deployment, rs: ReplicaSet | undefined, revision: number): Annotations {
  const annotations: Record<string, string> = { ...rs?.metadata.annotations };
  for (const [name, value] of Object.entries(d.metadata.annotations ?? {})) if (!KEPT_APART.has(name)) annotations[name] = value;
  const before = annotations[REVISION];
  if (before !== undefined && before !== '' && !/^-?[0-9]+$/.test(before)) return annotations; // somebody else's text: leave it
  if (Number(before ?? 0) < revision) {
    annotations[REVISION] = String(revision);
    if (before !== undefined) annotations[REVISION_HISTORY] = withRevision(annotations[REVISION_HISTORY], before);
  }
  return rs === undefined ? { ...annotations, ...sizeAnnotations(d) } : annotations;
}

/** Appends to a comma list of bounded length; the oldest give way. */
function withRevision(history: string | undefined, revision: string): string {
  if (!history) return revision;
  const kept = history.split(',');
  while (kept.length > 0 && kept.join(',').length + revision.length + 1 > MAX_HISTORY_LENGTH) kept.shift();
  return [...kept, revision].join(',');
}
