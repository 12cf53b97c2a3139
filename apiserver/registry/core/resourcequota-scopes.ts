/**
 * The pods a quota counts. Mirrors kubernetes `core/validation` validateScopeSelector and the scopes of ValidateResourceQuotaSpec.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import type { ResourceQuotaSpec, ScopedResourceSelectorRequirement } from '../../../machinery/api/types/core.v1.ts';
import { isQuotaResource } from '../validation/resources.ts';

const SCOPES = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
];
const EXISTS_ONLY = new Set(['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'CrossNamespacePodAffinity']);
const OPPOSITES = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

const COMPUTE = new Set(['pods', 'cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);
const CLAIMS = new Set(['persistentvolumeclaims', 'requests.storage']);
const NOT_APPLICABLE = 'unsupported scope applied to resource';

/** Whether the scope tells apart what uses the resource: those of pods say nothing of services. */
function appliesTo(scope: string, resource: string): boolean {
  if (!SCOPES.includes(scope) || !isQuotaResource(resource)) return true;
  if (scope === 'BestEffort') return resource === 'pods';
  return (scope === 'VolumeAttributesClass' ? CLAIMS : COMPUTE).has(resource);
}

export function scopeErrors(spec: ResourceQuotaSpec, errors: FieldError[]): void {
  const resources = Object.keys(spec.hard ?? {}).sort();
  const scopes: readonly string[] = spec.scopes ?? [];
  for (const scope of scopes) {
    if (!SCOPES.includes(scope)) errors.push(invalidValue('spec.scopes', scopes, 'unsupported scope'));
    for (const resource of resources) if (!appliesTo(scope, resource)) errors.push(invalidValue('spec.scopes', scopes, NOT_APPLICABLE));
  }
  conflictErrors(scopes, scopes, 'spec.scopes', errors);
  const expressions = spec.scopeSelector?.matchExpressions ?? [];
  const path = 'spec.scopeSelector.matchExpressions';
  for (const requirement of expressions) {
    const scope: string = requirement.scopeName ?? '';
    if (!SCOPES.includes(scope)) errors.push(invalidValue(`${path}.scopeName`, scope, 'unsupported scope'));
    for (const resource of resources) {
      if (!appliesTo(scope, resource))
        errors.push(invalidValue(path, { MatchExpressions: expressions.map(goRequirement) }, NOT_APPLICABLE));
    }
    requirementErrors(requirement, path, errors);
  }
  // upstream shows the older list here, whatever it holds
  conflictErrors(
    expressions.map((e) => e.scopeName),
    spec.scopes,
    path,
    errors,
  );
}

const goRequirement = ({ scopeName, operator, values }: ScopedResourceSelectorRequirement): object => ({
  ScopeName: scopeName,
  Operator: operator,
  Values: values ?? null,
});

function requirementErrors(requirement: ScopedResourceSelectorRequirement, path: string, errors: FieldError[]): void {
  const values = requirement.values ?? [];
  const operator: string = requirement.operator ?? '';
  if (EXISTS_ONLY.has(requirement.scopeName) && operator !== 'Exists') {
    errors.push(
      invalidValue(
        `${path}.operator`,
        operator,
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
      ),
    );
  }
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      errors.push(required(`${path}.values`, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      errors.push(
        invalidValue(`${path}.values`, values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"),
      );
  } else errors.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'));
}

function conflictErrors(scopes: readonly string[], shown: readonly string[] | undefined, path: string, errors: FieldError[]): void {
  for (const [a, b] of OPPOSITES)
    if (scopes.includes(a) && scopes.includes(b)) errors.push(invalidValue(path, shown, 'conflicting scopes'));
}
