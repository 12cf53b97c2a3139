/**
 * MutatingAdmissionPolicyBinding: where a policy applies. Mirrors kubernetes `pkg/registry/admissionregistration/mutatingadmissionpolicybinding`.
 */
import type { FieldError } from '../../../machinery/api/field-error.ts';
import type { MutatingAdmissionPolicyBinding } from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { defaultMatch } from './defaults.ts';
import { type BindingSpec, bindingSpecErrors } from './policies.ts';

function validate({ spec }: MutatingAdmissionPolicyBinding): FieldError[] {
  const errors: FieldError[] = [];
  bindingSpecErrors((spec ?? {}) as BindingSpec, errors);
  return errors;
}

function paramCell({ spec }: MutatingAdmissionPolicyBinding): string {
  const ref = spec?.paramRef;
  if (!ref) return '<unset>';
  if (ref.name) return ref.namespace ? `${ref.namespace}/${ref.name}` : `*/${ref.name}`;
  return ref.selector ? '*' : '<unset>';
}

export const mutatingadmissionpolicybinding = defineKind<MutatingAdmissionPolicyBinding>({
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingadmissionpolicybindings',
  kind: 'MutatingAdmissionPolicyBinding',
  generation: 'spec',
  unconditionalUpdate: false,
  strategy: { default: ({ spec }) => defaultMatch(spec?.matchResources), validate, validateUpdate: validate },
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.policyName ?? '',
    paramCell(object),
    ageCell(object.metadata.creationTimestamp, now),
  ],
});
