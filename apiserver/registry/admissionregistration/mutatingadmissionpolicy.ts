/**
 * MutatingAdmissionPolicy: expressions that change what is written. Mirrors kubernetes `pkg/registry/admissionregistration/mutatingadmissionpolicy`.
 */
import type { MutatingAdmissionPolicy } from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { defaultMatch } from './defaults.ts';

export const mutatingadmissionpolicy = defineKind<MutatingAdmissionPolicy>({
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingadmissionpolicies',
  kind: 'MutatingAdmissionPolicy',
  generation: 'spec',
  unconditionalUpdate: false,
  strategy: {
    default: ({ spec }) => {
      if (!spec) return;
      spec.failurePolicy ??= 'Fail';
      defaultMatch(spec.matchConstraints);
    },
  },
  cells: ({ metadata, spec }, now) => [
    metadata.name,
    spec?.mutations?.length ?? 0,
    spec?.paramKind ? `${spec.paramKind.apiVersion ?? ''}/${spec.paramKind.kind ?? ''}` : '<unset>',
    ageCell(metadata.creationTimestamp, now),
  ],
});
