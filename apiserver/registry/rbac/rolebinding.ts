/**
 * RoleBinding: who has a role. Mirrors kubernetes `pkg/registry/rbac/rolebinding`.
 */

import { nameIsPathSegment } from '../../../machinery/api/names.ts';
import type { RoleBinding } from '../../../machinery/api/types/rbac.authorization.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { bindingCells, bindingErrors, bindingUpdateErrors, defaultBinding } from './bindings.ts';

const KINDS = ['Role', 'ClusterRole'];

export const rolebinding = defineKind<RoleBinding>({
  group: 'rbac.authorization.k8s.io',
  resource: 'rolebindings',
  kind: 'RoleBinding',
  nameRule: nameIsPathSegment,
  createOnUpdate: true,
  strategy: {
    default: defaultBinding,
    validate: (object) => bindingErrors(object, KINDS, true),
    validateUpdate: (object, old) => bindingUpdateErrors(object, old, bindingErrors(object, KINDS, true)),
  },
  cells: bindingCells,
});
