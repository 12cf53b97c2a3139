/**
 * The pods a quota counts. Mirrors kubernetes `core/validation` validateScopeSelector and the scopes of ValidateResourceQuotaSpec.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { labelValue } from '../../../machinery/api/names.ts';
import type { ResourceQuotaSpec } from '../../../machinery/api/types/core.v1.ts';
import { isHugePages, isQuotaResource } from '../validation/resources.ts';

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

const COMPUTE = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);
const CLAIMS = new Set(['persistentvolumeclaims', 'requests.storage']);
const NOT_APPLICABLE = 'unsupported scope applied to resource';

/** Whether the scope tells apart what uses the resource: those of pods say nothing of services. */
function appliesTo(scope: string, resource: string): boolean {
  if (!SCOPES.includes(scope) || !isQuotaResource(resource)) return true;
  if (scope === 'BestEffort') return resource === 'pods';
  if (scope === 'VolumeAttributesClass') return CLAIMS.has(resource);
  return resource === 'pods' || COMPUTE.has(resource) || isHugePages(resource) || resource.startsWith('requests.hugepages-');
}

export function scopeErrors(spec: ResourceQuotaSpec, errors: FieldError[]): void {
  const resources = Object.keys(spec.hard ?? {}).sort();
  if (spec.scopes) setErrors(spec.scopes, { shown: spec.scopes, resources }, 'spec.scopes', errors);
  const expressions = spec.scopeSelector?.matchExpressions;
  if (!expressions) return;
  const path = 'spec.scopeSelector.matchExpressions';
  expressions.forEach((requirement) => {
    const values = requirement.values ?? [];
    const operator: string = requirement.operator ?? '';
    if (!SCOPES.includes(requirement.scopeName))
      errors.push(invalidValue(`${path}.scopeName`, requirement.scopeName ?? '', 'unsupported scope'));
    for (const resource of resources) {
      if (!appliesTo(requirement.scopeName, resource)) errors.push(invalidValue(path, spec.scopeSelector, NOT_APPLICABLE));
    }
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
    for (const value of values) for (const detail of labelValue(value)) errors.push(invalidValue(`${path}.values`, value, detail));
  });
  setErrors(
    expressions.map((e) => e.scopeName),
    undefined,
    path,
    errors,
  );
}

interface PlainScopes {
  readonly shown: readonly string[];
  readonly resources: readonly string[];
}

/** `plain`: of the older list, whose members are checked here. */
function setErrors(scopes: readonly string[], plain: PlainScopes | undefined, path: string, errors: FieldError[]): void {
  if (plain !== undefined) {
    for (const scope of scopes) {
      if (!SCOPES.includes(scope)) errors.push(invalidValue(path, plain.shown, 'unsupported scope'));
      for (const resource of plain.resources) {
        if (!appliesTo(scope, resource)) errors.push(invalidValue(path, plain.shown, NOT_APPLICABLE));
      }
    }
  }
  for (const [a, b] of OPPOSITES) {
    if (scopes.includes(a) && scopes.includes(b)) errors.push(invalidValue(path, plain?.shown ?? scopes, 'conflicting scopes'));
  }
}
