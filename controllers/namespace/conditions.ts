/** The conditions that tell how far the deletion of a namespace has come, in upstream's words. Mirrors `namespace/deletion/status_condition_utils.go`. Pure. */
import { formatTime } from '../../machinery/api/time.ts';
import type { NamespaceCondition } from '../../machinery/api/types/core.v1.ts';

export interface DeletionProgress {
  readonly discoveryError?: Error | undefined;
  readonly deletionErrors: readonly Error[];
  /** `configmaps.` or `deployments.apps` → how many are left. */
  readonly remaining: ReadonlyMap<string, number>;
  /** Finalizer → how many of what is left carry it. */
  readonly finalizers: ReadonlyMap<string, number>;
}

type Told = readonly [type: string, status: 'True' | 'False', reason: string, message: string];

function tell({ discoveryError, deletionErrors, remaining, finalizers }: DeletionProgress): Told[] {
  const counts = (map: ReadonlyMap<string, number>, text: (name: string) => string): string =>
    [...map]
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${text(name)} ${count} resource instances`)
      .sort()
      .join(', ');
  const left = counts(remaining, (name) => `${name} has`);
  const held = counts(finalizers, (name) => `${name} in`);
  const failures = deletionErrors.map((error) => error.message).join(', ');
  return [
    discoveryError
      ? [
          'NamespaceDeletionDiscoveryFailure',
          'True',
          'DiscoveryFailed',
          `Discovery failed for some groups, 1 failing: ${discoveryError.message}`,
        ]
      : ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered', 'All resources successfully discovered'],
    ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'],
    failures
      ? [
          'NamespaceDeletionContentFailure',
          'True',
          'ContentDeletionFailed',
          `Failed to delete all resource types, ${deletionErrors.length} remaining: ${failures}`,
        ]
      : ['NamespaceDeletionContentFailure', 'False', 'ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
    left
      ? ['NamespaceContentRemaining', 'True', 'SomeResourcesRemain', `Some resources are remaining: ${left}`]
      : ['NamespaceContentRemaining', 'False', 'ContentRemoved', 'All content successfully removed'],
    held
      ? ['NamespaceFinalizersRemaining', 'True', 'SomeFinalizersRemain', `Some content in the namespace has finalizers remaining: ${held}`]
      : ['NamespaceFinalizersRemaining', 'False', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
  ];
}

/** `before` with what is told now; the same array when nothing is new. */
export function deletionConditions(
  before: readonly NamespaceCondition[],
  progress: DeletionProgress,
  now: Date,
): readonly NamespaceCondition[] {
  let changed = false;
  const next = [...before];
  for (const [type, status, reason, message] of tell(progress)) {
    const at = next.findIndex((condition) => condition.type === type);
    const old = next[at];
    if (old?.status === status && old.reason === reason && old.message === message) continue;
    changed = true;
    const lastTransitionTime = old?.status === status && old.lastTransitionTime ? old.lastTransitionTime : formatTime(now);
    next.splice(at < 0 ? next.length : at, at < 0 ? 0 : 1, { type, status, lastTransitionTime, reason, message });
  }
  return changed ? next : before;
}
