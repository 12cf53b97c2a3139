/**
 * Rules of roles. Mirrors kubernetes `pkg/apis/rbac/validation` ValidatePolicyRule.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import type { PolicyRule } from '../../../machinery/api/types/rbac.authorization.k8s.io.v1.ts';

export function policyRuleErrors(rules: readonly PolicyRule[], namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  rules.forEach((rule, i) => {
    ruleErrors(rule, namespaced, `rules[${i}]`, errors);
  });
  return errors;
}

function ruleErrors(rule: PolicyRule, namespaced: boolean, path: string, errors: FieldError[]): void {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  // A stored rule without verbs has `verbs: null`.
  if ((rule.verbs ?? []).length === 0) errors.push(required(`${path}.verbs`, 'verbs must contain at least one value'));
  if (nonResourceURLs.length > 0) {
    if (namespaced) {
      errors.push(invalidValue(`${path}.nonResourceURLs`, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs'));
    }
    if (apiGroups.length > 0 || resources.length > 0 || resourceNames.length > 0) {
      errors.push(
        invalidValue(`${path}.nonResourceURLs`, nonResourceURLs, 'rules cannot apply to both regular resources and non-resource URLs'),
      );
    }
    return;
  }
  if (apiGroups.length === 0) errors.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
  if (resources.length === 0) errors.push(required(`${path}.resources`, 'resource rules must supply at least one resource'));
}
