/**
 * ClusterRole: rules that say what may be done in all namespaces. Mirrors kubernetes `pkg/registry/rbac/clusterrole`.
 */
import type { ClusterRole } from '../../../machinery/api/types/rbac.authorization.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { nameIsPathSegment } from '../validation/names.ts';
import { policyRuleErrors } from './rules.ts';

export const clusterrole = defineKind<ClusterRole>({
  group: 'rbac.authorization.k8s.io',
  resource: 'clusterroles',
  kind: 'ClusterRole',
  nameRule: nameIsPathSegment,
  createOnUpdate: true,
  strategy: {
    validate: (object) => policyRuleErrors(object.rules ?? [], false),
    validateUpdate: (object) => policyRuleErrors(object.rules ?? [], false),
  },
});
