/**
 * ClusterRoleBinding: who has a role in all namespaces. Mirrors kubernetes `pkg/registry/rbac/clusterrolebinding`.
 */

import { nameIsPathSegment } from '../../../machinery/api/names.ts';
import type { ClusterRoleBinding } from '../../../machinery/api/types/rbac.authorization.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { bindingCells, bindingErrors, bindingUpdateErrors, defaultBinding } from './bindings.ts';

const KINDS = ['ClusterRole'];

export const clusterrolebinding = defineKind<ClusterRoleBinding>({
  group: 'rbac.authorization.k8s.io',
  resource: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  nameRule: nameIsPathSegment,
  createOnUpdate: true,
  strategy: {
    default: defaultBinding,
    validate: (object) => bindingErrors(object, KINDS, false),
    validateUpdate: (object, old) => bindingUpdateErrors(object, old, bindingErrors(object, KINDS, false)),
  },
  cells: bindingCells,
});
