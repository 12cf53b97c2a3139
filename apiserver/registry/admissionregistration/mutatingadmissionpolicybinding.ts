/**
 * MutatingAdmissionPolicyBinding: where a policy applies. Mirrors kubernetes `pkg/registry/admissionregistration/mutatingadmissionpolicybinding`.
 */
import type { MutatingAdmissionPolicyBinding } from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { defineBinding } from './bindings.ts';

export const mutatingadmissionpolicybinding = defineBinding<MutatingAdmissionPolicyBinding>({
  resource: 'mutatingadmissionpolicybindings',
  kind: 'MutatingAdmissionPolicyBinding',
});
