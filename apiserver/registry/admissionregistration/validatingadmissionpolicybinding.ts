/**
 * ValidatingAdmissionPolicyBinding: where a policy applies. Mirrors kubernetes `pkg/registry/admissionregistration/validatingadmissionpolicybinding`.
 */
import type { ValidatingAdmissionPolicyBinding } from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { defaultMatch } from './defaults.ts';

function paramCell({ spec }: ValidatingAdmissionPolicyBinding): string {
  const ref = spec?.paramRef;
  if (!ref) return '<unset>';
  if (ref.name) return ref.namespace ? `${ref.namespace}/${ref.name}` : `*/${ref.name}`;
  return ref.selector ? '*' : '<unset>';
}

export const validatingadmissionpolicybinding = defineKind<ValidatingAdmissionPolicyBinding>({
  group: 'admissionregistration.k8s.io',
  resource: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
  generation: 'spec',
  unconditionalUpdate: false,
  strategy: { default: ({ spec }) => defaultMatch(spec?.matchResources) },
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.policyName ?? '',
    paramCell(object),
    ageCell(object.metadata.creationTimestamp, now),
  ],
});
