/**
 * ValidatingAdmissionPolicy: expressions that check what is written. Mirrors kubernetes `pkg/registry/admissionregistration/validatingadmissionpolicy`.
 */
import type { ValidatingAdmissionPolicy } from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { defaultMatch } from './defaults.ts';

export const validatingadmissionpolicy = defineKind<ValidatingAdmissionPolicy>({
  group: 'admissionregistration.k8s.io',
  resource: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  generation: 'spec',
  unconditionalUpdate: false,
  strategy: {
    default: ({ spec }) => {
      if (!spec) return;
      spec.failurePolicy ??= 'Fail';
      defaultMatch(spec.matchConstraints);
    },
    prepareForCreate: dropStatus,
    prepareForUpdate: keepStatus,
  },
  status: statusView({ keepMetadata: true }),
  cells: ({ metadata, spec }, now) => [
    metadata.name,
    spec?.validations?.length ?? 0,
    spec?.paramKind ? `${spec.paramKind.apiVersion ?? ''}/${spec.paramKind.kind ?? ''}` : '<unset>',
    ageCell(metadata.creationTimestamp, now),
  ],
});
