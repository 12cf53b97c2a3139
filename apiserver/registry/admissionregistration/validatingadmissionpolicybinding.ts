/**
 * ValidatingAdmissionPolicyBinding: where a policy applies. Mirrors kubernetes `pkg/registry/admissionregistration/validatingadmissionpolicybinding`.
 */
import { duplicate, type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import type { ValidatingAdmissionPolicyBinding } from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { ageCell } from '../tables/cells.ts';
import { defaultMatch } from './defaults.ts';
import { type BindingSpec, bindingSpecErrors } from './policies.ts';
import { enumErrors } from './rules.ts';

const ACTIONS = ['Audit', 'Deny', 'Warn'];

function validate({ spec }: ValidatingAdmissionPolicyBinding): FieldError[] {
  const errors: FieldError[] = [];
  bindingSpecErrors((spec ?? {}) as BindingSpec, errors);
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
  return errors;
}

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
  strategy: { default: ({ spec }) => defaultMatch(spec?.matchResources), validate, validateUpdate: validate },
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.policyName ?? '',
    paramCell(object),
    ageCell(object.metadata.creationTimestamp, now),
  ],
});
