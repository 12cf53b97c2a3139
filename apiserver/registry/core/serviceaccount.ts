/**
 * ServiceAccount: an identity for pods. Mirrors kubernetes `pkg/registry/core/serviceaccount`.
 */
import type { ServiceAccount } from '../../../machinery/api/types/core.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';

const ENFORCE = 'kubernetes.io/enforce-mountable-secrets';

export const serviceaccount = defineKind<ServiceAccount>({
  resource: 'serviceaccounts',
  kind: 'ServiceAccount',
  deleteAnswer: 'object',
  strategy: {
    warnings: (object, old) =>
      object.metadata.annotations?.[ENFORCE] !== undefined && old?.metadata.annotations?.[ENFORCE] === undefined
        ? [`metadata.annotations[${ENFORCE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`]
        : [],
  },
  cells: (object, now) => [object.metadata.name, ageCell(object.metadata.creationTimestamp, now)],
});
