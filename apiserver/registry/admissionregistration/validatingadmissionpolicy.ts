/**
 * ValidatingAdmissionPolicy: expressions that check what is written. Mirrors kubernetes `pkg/registry/admissionregistration/validatingadmissionpolicy`.
 */
import { duplicate, type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { qualifiedName } from '../../../machinery/api/names.ts';
import type {
  AuditAnnotation,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
  Validation,
} from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { conditionErrors } from '../validation/conditions.ts';
import { defaultMatch } from './defaults.ts';
import { type PolicySpec, policyErrors, variableErrors } from './policies.ts';
import { enumErrors } from './rules.ts';

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const MAX_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION = 5 * 1024;

function validationErrors(validation: Validation, path: string, errors: FieldError[]): void {
  const { expression = '', message = '', messageExpression = '' } = validation;
  if (expression.trim() === '') errors.push(required(`${path}.expression`, 'expression is not specified'));
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(invalidValue(`${path}.messageExpression`, messageExpression, 'must be non-empty if specified'));
  }
  if (message !== '' && message.trim() === '') errors.push(invalidValue(`${path}.message`, message, 'must be non-empty if specified'));
  else if (/[\r\n]/.test(message.trim())) errors.push(invalidValue(`${path}.message`, message, 'must not contain line breaks'));
  enumErrors(validation.reason, REASONS, `${path}.reason`, errors);
}

/** The key of an audit annotation is what follows the name of the policy and a slash. */
function annotationErrors(policy: string, annotation: AuditAnnotation, path: string, errors: FieldError[]): void {
  const { key = '', valueExpression = '' } = annotation;
  if (policy !== '') {
    const name = `${policy}/${key}`;
    for (const detail of qualifiedName(name)) errors.push(invalidValue(`${path}.key`, name, detail));
  }
  const length = Buffer.byteLength(valueExpression.trim());
  if (length === 0) errors.push(required(`${path}.valueExpression`, 'valueExpression is not specified'));
  else if (length > MAX_VALUE_EXPRESSION) {
    errors.push(required(`${path}.valueExpression`, `must not exceed ${MAX_VALUE_EXPRESSION} bytes in length`));
  }
}

function validate({ metadata: { name = '' }, spec }: ValidatingAdmissionPolicy, old?: ValidatingAdmissionPolicySpec): FieldError[] {
  const errors: FieldError[] = [];
  policyErrors((spec ?? {}) as PolicySpec, old as PolicySpec | undefined, errors);
  variableErrors(spec?.variables, errors);
  const validations = spec?.validations ?? [];
  const annotations = spec?.auditAnnotations ?? [];
  if (validations.length === 0 && annotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    errors.push(required('spec.validations', detail), required('spec.auditAnnotations', detail));
  }
  validations.forEach((validation, i) => {
    validationErrors(validation, `spec.validations[${i}]`, errors);
  });
  const path = 'spec.auditAnnotations';
  if (annotations.length > MAX_ANNOTATIONS) {
    errors.push(invalidValue(path, annotations, `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`));
  }
  const keys = new Set<string>();
  annotations.forEach((annotation, i) => {
    annotationErrors(name, annotation, `${path}[${i}]`, errors);
    const key = annotation.key ?? '';
    if (keys.has(key)) errors.push(duplicate(`${path}[${i}].key`, key));
    keys.add(key);
  });
  return errors;
}

function statusErrors({ status }: ValidatingAdmissionPolicy): FieldError[] {
  const errors: FieldError[] = [];
  status?.typeChecking?.expressionWarnings?.forEach((warning, i) => {
    const path = `status.typeChecking.expressionWarnings[${i}]`;
    if (!warning.warning) errors.push(required(`${path}.warning`));
    const field = (warning.fieldRef ?? '').trim();
    if (field === '') errors.push(required(`${path}.fieldRef`));
    else if (/\[[^\]]*$/.test(field)) errors.push(invalidValue(`${path}.fieldRef`, field, 'invalid JSONPath: unterminated array'));
  });
  conditionErrors(status?.conditions ?? [], 'status.conditions', errors);
  return errors;
}

export const validatingadmissionpolicy = defineKind<ValidatingAdmissionPolicy>({
  group: 'admissionregistration.k8s.io',
  resource: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  generation: 'spec',
  unconditionalUpdate: false,
  strategy: {
    default: (object) => {
      object.spec ??= {} as ValidatingAdmissionPolicySpec;
      const { spec } = object;
      spec.failurePolicy ??= 'Fail';
      defaultMatch(spec.matchConstraints);
    },
    prepareForCreate: dropStatus,
    prepareForUpdate: keepStatus,
    validate: (object) => validate(object),
    validateUpdate: (object, old) => validate(object, old.spec),
  },
  status: statusView({ keepMetadata: true, validate: statusErrors }),
  cells: ({ metadata, spec }, now) => [
    metadata.name,
    spec?.validations?.length ?? 0,
    spec?.paramKind ? `${spec.paramKind.apiVersion ?? ''}/${spec.paramKind.kind ?? ''}` : '<unset>',
    ageCell(metadata.creationTimestamp, now),
  ],
});
