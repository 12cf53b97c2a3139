/**
 * ValidatingAdmissionPolicyBinding: where a policy applies. Mirrors kubernetes `pkg/registry/admissionregistration/validatingadmissionpolicybinding`.
 */
import { duplicate, type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import type { ValidatingAdmissionPolicyBinding } from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { defineBinding } from './bindings.ts';
import { enumErrors } from './rules.ts';

const ACTIONS = ['Audit', 'Deny', 'Warn'];

function actionErrors({ spec }: ValidatingAdmissionPolicyBinding, errors: FieldError[]): void {
  const path = 'spec.validationActions';
  const actions: readonly string[] = spec?.validationActions ?? [];
  actions.forEach((action, i) => {
    enumErrors(action, ACTIONS, `${path}[${i}]`, errors);
    if (actions.indexOf(action) < i) errors.push(duplicate(`${path}[${i}]`, action));
  });
  if (actions.includes('Deny') && actions.includes('Warn')) {
    const why = 'repeating the same validation failure information in the API response and headers serves no purpose';
    errors.push(invalidValue(path, actions, `must not contain both Deny and Warn (${why})`));
  }
  if (actions.length === 0) errors.push(required(path, 'at least one validation action is required'));
}

export const validatingadmissionpolicybinding = defineBinding<ValidatingAdmissionPolicyBinding>(
  { resource: 'validatingadmissionpolicybindings', kind: 'ValidatingAdmissionPolicyBinding' },
  actionErrors,
);
