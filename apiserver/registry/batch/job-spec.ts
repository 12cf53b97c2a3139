/**
 * The spec of jobs, alone and in cron jobs: defaults and rules. Mirrors kubernetes `batch/v1/defaults.go` and `batch/validation` ValidateJobSpec.
 */
import { type FieldError, invalidValue, notSupported, required, tooLong } from '../../../machinery/api/field-error.ts';
import type { JobSpec } from '../../../machinery/api/types/batch.v1.ts';
import { defaultPodTemplate } from '../defaults/pod-spec.ts';
import { nonNegative } from '../validation/numbers.ts';
import { domainPrefixedPathErrors } from '../validation/paths.ts';
import { mismatch, podTemplateErrors } from '../validation/pod-template.ts';
import { podWarnings } from '../validation/pod-warnings.ts';
import { labelSelectorErrors, selectorMatches } from '../validation/selectors.ts';
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
  defaultFailurePolicy(spec);
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
  spec.manualSelector ??= false;
  spec.template ??= {};
  defaultPodTemplate(spec.template);
}

function defaultFailurePolicy(spec: JobSpec): void {
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const condition of rule.onPodConditions ?? []) if (!condition.status) condition.status = 'True';
  }
}

/** Defaults inside a cron job's template: only those of what lies deeper than the spec itself. */
export function defaultJobTemplateSpec(spec: JobSpec): void {
  defaultFailurePolicy(spec);
  spec.template ??= {};
  defaultPodTemplate(spec.template);
}

export function jobSpecErrors(spec: JobSpec, path: string, errors: FieldError[], old?: JobSpec): void {
  for (const member of NUMBERS) nonNegative(spec[member], `${path}.${member}`, errors);
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    errors.push(required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  }
  if (spec.managedBy !== undefined) managedByErrors(spec.managedBy, `${path}.managedBy`, errors);
  modeErrors(spec, path, errors);
  if (spec.podFailurePolicy) podFailurePolicyErrors(spec, `${path}.podFailurePolicy`, errors);
  if (spec.successPolicy) successPolicyErrors(spec, `${path}.successPolicy`, errors);
  replacementErrors(spec, path, errors);
  podTemplateErrors(spec.template ?? {}, `${path}.template`, errors, old?.template);
  restartErrors(spec, path, errors);
}

const NUMBERS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const;

function modeErrors(spec: JobSpec, path: string, errors: FieldError[]): void {
  const mode: string = spec.completionMode ?? 'NonIndexed';
  if (mode === 'Indexed') {
    indexedErrors(spec, path, errors);
    return;
  }
  if (mode !== 'NonIndexed') {
    errors.push(notSupported(`${path}.completionMode`, mode, ['NonIndexed', 'Indexed']));
    return;
  }
  for (const member of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
    if (spec[member] !== undefined) errors.push(invalidValue(`${path}.${member}`, spec[member], 'requires indexed completion mode'));
  }
}

/** The text of the indexes that are done must stay short: above so many completions, few may run and few may fail. */
const MANY_INDEXES = 100_000;
const FEW_OF_MANY = 10_000;

function indexedErrors(spec: JobSpec, path: string, errors: FieldError[]): void {
  const { completions, parallelism, maxFailedIndexes: maxFailed } = spec;
  if (completions === undefined) errors.push(required(`${path}.completions`, 'when completion mode is Indexed'));
  if (parallelism !== undefined && parallelism > MANY_INDEXES) {
    const detail = `must be less than or equal to ${MANY_INDEXES} when completion mode is Indexed`;
    errors.push(invalidValue(`${path}.parallelism`, parallelism, detail));
  }
  if (completions !== undefined && maxFailed !== undefined && maxFailed > completions) {
    errors.push(invalidValue(`${path}.maxFailedIndexes`, maxFailed, 'must be less than or equal to completions'));
  }
  if (maxFailed !== undefined && maxFailed > MANY_INDEXES) {
    errors.push(invalidValue(`${path}.maxFailedIndexes`, maxFailed, `must be less than or equal to ${MANY_INDEXES}`));
  }
  if (completions === undefined || completions <= MANY_INDEXES || spec.backoffLimitPerIndex === undefined) return;
  if (maxFailed === undefined) {
    errors.push(required(`${path}.maxFailedIndexes`, `must be specified when completions is above ${MANY_INDEXES}`));
  }
  const detail = `must be less than or equal to ${FEW_OF_MANY} when completions are above ${MANY_INDEXES} and used with backoff limit per index`;
  for (const member of ['parallelism', 'maxFailedIndexes'] as const) {
    const value = spec[member];
    if (value !== undefined && value > FEW_OF_MANY) errors.push(invalidValue(`${path}.${member}`, value, detail));
  }
}

/** Warnings of the spec of a job, `path` is its: of a list of indexes that may grow too long, and of the template. */
export function jobSpecWarnings(spec: JobSpec, path: string): string[] {
  const texts: string[] = [];
  if (spec.completionMode === 'Indexed' && (spec.completions ?? 0) > MANY_INDEXES && (spec.parallelism ?? 0) > FEW_OF_MANY) {
    texts.push(
      `${path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`,
    );
  }
  const { template } = spec;
  return template?.spec ? [...texts, ...podWarnings(template.metadata, template.spec, `${path}.template`)] : texts;
}

const MAX_MANAGED_BY = 63;

function managedByErrors(name: string, path: string, errors: FieldError[]): void {
  domainPrefixedPathErrors(name, path, errors);
  if (Buffer.byteLength(name) > MAX_MANAGED_BY) errors.push(tooLong(path, MAX_MANAGED_BY));
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
  if (selectorMatches(spec.selector, spec.template?.metadata?.labels) === false)
    errors.push(mismatch('spec.template', spec.template ?? {}));
}
