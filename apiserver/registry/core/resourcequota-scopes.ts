/**
 * The pods a quota counts. Mirrors kubernetes `core/validation` validateScopeSelector and the scopes of ValidateResourceQuotaSpec.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { labelValue } from '../../../machinery/api/names.ts';
import type { ResourceQuotaSpec } from '../../../machinery/api/types/core.v1.ts';

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

export function scopeErrors(spec: ResourceQuotaSpec, errors: FieldError[]): void {
  if (spec.scopes) setErrors(spec.scopes, spec.scopes, 'spec.scopes', errors);
  const expressions = spec.scopeSelector?.matchExpressions;
  if (!expressions) return;
  const path = 'spec.scopeSelector.matchExpressions';
  expressions.forEach((requirement) => {
    const values = requirement.values ?? [];
    const operator: string = requirement.operator ?? '';
    if (!SCOPES.includes(requirement.scopeName))
      errors.push(invalidValue(`${path}.scopeName`, requirement.scopeName ?? '', 'unsupported scope'));
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

function setErrors(scopes: readonly string[], shown: readonly string[] | undefined, path: string, errors: FieldError[]): void {
  if (shown !== undefined)
    for (const scope of scopes) if (!SCOPES.includes(scope)) errors.push(invalidValue(path, shown, 'unsupported scope'));
  for (const [a, b] of OPPOSITES) {
    if (scopes.includes(a) && scopes.includes(b)) errors.push(invalidValue(path, shown ?? scopes, 'conflicting scopes'));
  }
}
