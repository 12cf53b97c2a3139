/**
 * The spec of jobs, alone and in cron jobs: defaults and rules. Mirrors kubernetes `batch/v1/defaults.go` and `batch/validation` ValidateJobSpec.
 */
import { type FieldError, invalidValue, notSupported, required, tooLong } from '../../../machinery/api/field-error.ts';
import type { JobSpec } from '../../../machinery/api/types/batch.v1.ts';
import { defaultPodTemplate } from '../defaults/pod-spec.ts';
import { nonNegative } from '../validation/numbers.ts';
import { domainPrefixedPathErrors } from '../validation/paths.ts';
import { podTemplateErrors } from '../validation/pod-template.ts';
import { labelSelectorErrors } from '../validation/selectors.ts';
import { podFailurePolicyErrors, successPolicyErrors } from './job-policies.ts';

const MAX_INT32 = 2147483647;
const DEFAULT_BACKOFF = 6;

export function defaultJobSpec(spec: JobSpec): void {
  // Both counts follow from one another only when neither is given.
  if (spec.completions === undefined && spec.parallelism === undefined) {
    spec.completions = 1;
    spec.parallelism = 1;
  }
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? DEFAULT_BACKOFF : MAX_INT32;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  for (const rule of spec.podFailurePolicy?.rules ?? []) for (const condition of rule.onPodConditions ?? []) condition.status ??= 'True';
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
  spec.manualSelector ??= false;
  spec.template ??= {};
  defaultPodTemplate(spec.template);
}

/** Defaults inside a cron job's template: the template only. */
export function defaultJobTemplateSpec(spec: JobSpec): void {
  spec.template ??= {};
  defaultPodTemplate(spec.template);
}

export function jobSpecErrors(spec: JobSpec, path: string, errors: FieldError[], old?: JobSpec): void {
  for (const member of [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
  ] as const) {
    nonNegative(spec[member], `${path}.${member}`, errors);
  }
  indexErrors(spec, path, errors);
  if (spec.managedBy !== undefined) managedByErrors(spec.managedBy, `${path}.managedBy`, errors);
  const mode: string | undefined = spec.completionMode;
  if (mode !== undefined && mode !== 'NonIndexed' && mode !== 'Indexed') {
    errors.push(notSupported(`${path}.completionMode`, mode, ['NonIndexed', 'Indexed']));
  }
  if (spec.podFailurePolicy) podFailurePolicyErrors(spec, `${path}.podFailurePolicy`, errors);
  if (spec.successPolicy) successPolicyErrors(spec, `${path}.successPolicy`, errors);
  replacementErrors(spec, path, errors);
  podTemplateErrors(spec.template ?? {}, `${path}.template`, errors, old?.template);
  restartErrors(spec, path, errors);
}

function indexErrors(spec: JobSpec, path: string, errors: FieldError[]): void {
  const indexed = spec.completionMode === 'Indexed';
  if (indexed) {
    if (spec.completions === undefined) errors.push(required(`${path}.completions`, 'when completion mode is Indexed'));
    nonNegative(spec.maxFailedIndexes, `${path}.maxFailedIndexes`, errors);
  }
  if (spec.backoffLimitPerIndex !== undefined && !indexed) {
    errors.push(invalidValue(`${path}.backoffLimitPerIndex`, spec.backoffLimitPerIndex, 'requires indexed completion mode'));
  }
  if (spec.maxFailedIndexes === undefined) return;
  if (spec.backoffLimitPerIndex === undefined) errors.push(required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  if (!indexed) errors.push(invalidValue(`${path}.maxFailedIndexes`, spec.maxFailedIndexes, 'requires indexed completion mode'));
}

const MAX_MANAGED_BY = 63;

function managedByErrors(name: string, path: string, errors: FieldError[]): void {
  if (name === '') errors.push(required(path));
  else domainPrefixedPathErrors(name, path, errors);
  if (name.length > MAX_MANAGED_BY) errors.push(tooLong(path, MAX_MANAGED_BY));
}

function replacementErrors(spec: JobSpec, path: string, errors: FieldError[]): void {
  const policy: string | undefined = spec.podReplacementPolicy;
  if (policy === undefined) return;
  const supported = spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
  if (!supported.includes(policy)) errors.push(notSupported(`${path}.podReplacementPolicy`, policy, supported));
}

function restartErrors(spec: JobSpec, path: string, errors: FieldError[]): void {
  const policy: string = spec.template?.spec?.restartPolicy ?? '';
  const at = `${path}.template.spec.restartPolicy`;
  if (policy === '' || policy === 'Always') errors.push(required(at, 'valid values: "OnFailure", "Never"'));
  else if (policy !== 'OnFailure' && policy !== 'Never') errors.push(notSupported(at, policy, ['OnFailure', 'Never']));
  else if (spec.podFailurePolicy && policy !== 'Never') {
    errors.push(invalidValue(at, policy, 'only "Never" is supported when podFailurePolicy is specified'));
  }
}

/** The selector of a job of its own. */
export function jobSelectorErrors(spec: JobSpec, errors: FieldError[]): void {
  if (!spec.selector) errors.push(required('spec.selector'));
  else labelSelectorErrors(spec.selector, 'spec.selector', errors);
}
