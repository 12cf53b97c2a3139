/**
 * Whether a quota's scopes take an object in. Mirrors the scope selectors of kubernetes `pkg/quota/v1/evaluator/core`: scopes of pods take no other
 * kind in.
 */
import type { KubeObject } from '../../../machinery/api/object.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';

type Requirement = Pick<core.ScopedResourceSelectorRequirement, 'scopeName' | 'operator' | 'values'>;

export function scopesMatch({ spec }: core.ResourceQuota, resource: string, object: KubeObject): boolean {
  const requirements: Requirement[] = [
    ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' as const })),
    ...(spec?.scopeSelector?.matchExpressions ?? []),
  ];
  return requirements.every((requirement) => requirementMatches(requirement, resource, object));
}

function requirementMatches(requirement: Requirement, resource: string, object: KubeObject): boolean {
  if (requirement.scopeName === 'VolumeAttributesClass') {
    if (resource !== 'persistentvolumeclaims') return false;
    const { spec } = object as unknown as core.PersistentVolumeClaim;
    return nameMatches(requirement, spec?.volumeAttributesClassName ?? '');
  }
  return resource === 'pods' && podMatches(requirement, object as unknown as core.Pod);
}

function podMatches(requirement: Requirement, { spec, status }: core.Pod): boolean {
  switch (requirement.scopeName) {
    case 'Terminating':
      return spec.activeDeadlineSeconds !== undefined;
    case 'NotTerminating':
      return spec.activeDeadlineSeconds === undefined;
    case 'BestEffort':
      return status?.qosClass === 'BestEffort';
    case 'NotBestEffort':
      return status?.qosClass !== 'BestEffort';
    case 'PriorityClass':
      return nameMatches(requirement, spec.priorityClassName ?? '');
    case 'CrossNamespacePodAffinity':
      return reachesOut(spec.affinity);
    default:
      return false;
  }
}

function nameMatches({ operator, values = [] }: Requirement, name: string): boolean {
  if (operator === 'Exists') return name !== '';
  if (operator === 'DoesNotExist') return name === '';
  return values.includes(name) === (operator === 'In');
}

/** Affinity to pods of other namespaces. */
function reachesOut(affinity: core.Affinity | undefined): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some((rules) =>
    [
      ...(rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(rules?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => term.podAffinityTerm),
    ].some((term) => (term?.namespaces?.length ?? 0) > 0 || Boolean(term?.namespaceSelector)),
  );
}
