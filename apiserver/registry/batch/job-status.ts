/**
 * What a job's controller may report: counts that do not go back, ends that are final. Mirrors kubernetes `batch/validation` ValidateJobStatus and
 * the update rules of `pkg/registry/batch/job`.
 */
import { duplicate, type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import type { Job, JobStatus } from '../../../machinery/api/types/batch.v1.ts';
import { nonNegativeMembers } from '../validation/numbers.ts';
import { parseIndexes } from './index-intervals.ts';

const hasTrue = (status: JobStatus | undefined, type: string): boolean =>
  status?.conditions?.some((c) => c.type === type && c.status === 'True') === true;
const isFinished = (status: JobStatus | undefined): boolean => hasTrue(status, 'Complete') || hasTrue(status, 'Failed');

/** Upstream prints no value here. */
const noValue = (detail: string): FieldError => ({
  type: 'FieldValueInvalid',
  field: 'status.conditions',
  body: `Invalid value: ${detail}`,
  message: `status.conditions: Invalid value: ${detail}`,
});

export function jobStatusErrors(object: Job, old: Job): FieldError[] {
  const errors: FieldError[] = [];
  const status = object.status ?? {};
  nonNegativeMembers(status, 'status', ['active', 'succeeded', 'failed', 'ready', 'terminating'], errors);
  uncountedErrors(status, errors);
  if ((status.ready ?? 0) > Math.max(0, status.active ?? 0))
    errors.push(invalidValue('status.ready', status.ready, 'cannot set more ready pods than active'));
  indexErrors(object, status, errors);
  finishedErrors(status, errors);
  conditionErrors(object, status, errors);
  changeErrors(status, old, object, errors);
  return errors;
}

function uncountedErrors({ uncountedTerminatedPods: pods }: JobStatus, errors: FieldError[]): void {
  if (!pods) return;
  const seen = new Set<string>();
  for (const member of ['succeeded', 'failed'] as const) {
    pods[member]?.forEach((uid, i) => {
      const path = `status.uncountedTerminatedPods.${member}[${i}]`;
      if (uid === '') errors.push(invalidValue(path, uid, 'must not be empty'));
      else if (seen.has(uid)) errors.push(duplicate(path, uid));
      seen.add(uid);
    });
  }
}

function indexErrors({ spec }: Job, status: JobStatus, errors: FieldError[]): void {
  const completed = status.completedIndexes ?? '';
  const failed = status.failedIndexes;
  if (spec.completionMode !== 'Indexed') {
    if (completed !== '') {
      errors.push(
        invalidValue('status.completedIndexes', completed, 'cannot set non-empty completedIndexes when non-indexed completion mode'),
      );
    }
    if (failed)
      errors.push(invalidValue('status.failedIndexes', failed, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'));
    return;
  }
  const done = parseIndexes(completed, spec.completions ?? 0);
  if (typeof done === 'string') errors.push(invalidValue('status.completedIndexes', completed, `error parsing completedIndexes: ${done}`));
  if (failed === undefined) return;
  if (spec.backoffLimitPerIndex === undefined) {
    errors.push(invalidValue('status.failedIndexes', failed, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'));
  }
  const lost = parseIndexes(failed, spec.completions ?? 0);
  if (typeof lost === 'string') errors.push(invalidValue('status.failedIndexes', failed, `error parsing failedIndexes: ${lost}`));
  else if (typeof done !== 'string') {
    const overlap = lost
      .flatMap(([a, b]) => done.map(([c, d]) => [Math.max(a, c), Math.min(b, d)] as const))
      .find(([from, to]) => from <= to);
    if (overlap !== undefined) {
      errors.push(invalidValue('status.failedIndexes', failed, `failedIndexes and completedIndexes overlap at index: ${overlap[0]}`));
    }
  }
}

function finishedErrors(status: JobStatus, errors: FieldError[]): void {
  const complete = hasTrue(status, 'Complete');
  if (status.completionTime && !complete) {
    errors.push(
      invalidValue('status.completionTime', status.completionTime, 'cannot set completionTime when there is no Complete=True condition'),
    );
  }
  if (complete && !status.completionTime) errors.push(required('status.completionTime', 'completionTime is required for Complete jobs'));
  if (!isFinished(status)) return;
  if (!status.startTime) errors.push(required('status.startTime', 'startTime is required for finished job'));
  if ((status.active ?? 0) > 0) errors.push(invalidValue('status.active', status.active, 'active>0 is invalid for finished job'));
  if ((status.terminating ?? 0) > 0)
    errors.push(invalidValue('status.terminating', status.terminating, 'terminating>0 is invalid for finished job'));
  const pods = status.uncountedTerminatedPods;
  if ((pods?.succeeded?.length ?? 0) + (pods?.failed?.length ?? 0) > 0) {
    const shown = { Succeeded: pods?.succeeded ?? null, Failed: pods?.failed ?? null };
    errors.push(invalidValue('status.uncountedTerminatedPods', shown, 'must be empty for finished job'));
  }
  if (status.startTime && status.completionTime && Date.parse(status.completionTime) < Date.parse(status.startTime)) {
    errors.push(invalidValue('status.completionTime', status.completionTime, 'must be equal to or after `startTime`'));
  }
}

function conditionErrors({ spec }: Job, status: JobStatus, errors: FieldError[]): void {
  const both = (a: string, b: string, text: string): void => {
    if (hasTrue(status, a) && hasTrue(status, b)) errors.push(noValue(text));
  };
  both('Complete', 'Failed', 'cannot set Complete=True and Failed=true conditions');
  both('Complete', 'FailureTarget', 'cannot set Complete=True and FailureTarget=true conditions');
  both('SuccessCriteriaMet', 'Failed', 'cannot set SuccessCriteriaMet=True and Failed=true conditions');
  both('SuccessCriteriaMet', 'FailureTarget', 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions');
  if (hasTrue(status, 'Failed') && !hasTrue(status, 'FailureTarget')) {
    errors.push(noValue('cannot set Failed=True condition without the FailureTarget=true condition'));
  }
  if (hasTrue(status, 'Complete') && !hasTrue(status, 'SuccessCriteriaMet')) {
    if (spec.successPolicy) errors.push(noValue('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'));
    errors.push(noValue('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'));
  }
}

function changeErrors(status: JobStatus, old: Job, object: Job, errors: FieldError[]): void {
  const before = old.status ?? {};
  for (const type of ['Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet']) {
    if (!hasTrue(before, type) || hasTrue(status, type)) continue;
    errors.push(noValue(`cannot disable the ${type === 'SuccessCriteriaMet' ? '' : 'terminal '}${type}=True condition`));
  }
  for (const member of ['failed', 'succeeded'] as const) {
    const shrinks = (status[member] ?? 0) < (before[member] ?? 0);
    const mayShrink =
      member === 'succeeded' && object.spec.completionMode === 'Indexed' && object.spec.completions !== old.spec.completions;
    if (shrinks && !mayShrink) errors.push(invalidValue(`status.${member}`, status[member] ?? 0, `cannot decrease the ${member} counter`));
  }
  if (isFinished(before) && before.completionTime && before.completionTime !== status.completionTime) {
    errors.push(invalidValue('status.completionTime', status.completionTime, 'field is immutable'));
  }
  const running = object.spec.suspend !== true;
  if (before.startTime && running && before.startTime !== status.startTime) {
    errors.push(invalidValue('status.startTime', status.startTime, 'field is immutable for unsuspended job once set'));
  }
}
