/**
 * ClusterRole: rules that say what may be done in all namespaces. Mirrors kubernetes `pkg/registry/rbac/clusterrole`.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { nameIsPathSegment } from '../../../machinery/api/names.ts';
import type { ClusterRole } from '../../../machinery/api/types/rbac.authorization.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { labelSelectorErrors } from '../validation/selectors.ts';
import { policyRuleErrors } from './rules.ts';

function validate({ rules, aggregationRule }: ClusterRole): FieldError[] {
  const errors = policyRuleErrors(rules ?? [], false);
  if (!aggregationRule) return errors;
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = aggregationRule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) errors.push(required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil'));
  selectors.forEach((selector, i) => {
    const at = `${path}[${i}]`;
    const before = errors.length;
    labelSelectorErrors(selector, at, errors);
    if (errors.length > before) errors.push(invalidValue(at, null, 'invalid label selector.'));
  });
  return errors;
}

export const clusterrole = defineKind<ClusterRole>({
  group: 'rbac.authorization.k8s.io',
  resource: 'clusterroles',
  kind: 'ClusterRole',
  nameRule: nameIsPathSegment,
  createOnUpdate: true,
  emptyIsNull: true,
  strategy: {
    validate,
    validateUpdate: validate,
  },
});
