/**
 * Role: rules that say what may be done. Mirrors kubernetes `pkg/registry/rbac/role`.
 */

import { nameIsPathSegment } from '../../../machinery/api/names.ts';
import type { Role } from '../../../machinery/api/types/rbac.authorization.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { policyRuleErrors } from './rules.ts';

export const role = defineKind<Role>({
  group: 'rbac.authorization.k8s.io',
  resource: 'roles',
  kind: 'Role',
  nameRule: nameIsPathSegment,
  createOnUpdate: true,
  emptyIsNull: true,
  strategy: {
    validate: (object) => policyRuleErrors(object.rules ?? [], true),
    validateUpdate: (object) => policyRuleErrors(object.rules ?? [], true),
  },
});
