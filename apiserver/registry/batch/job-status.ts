/**
 * What a job's controller may report: counts that do not go back, ends that are final. Mirrors kubernetes `batch/validation` ValidateJobStatus and
 * the update rules of `pkg/registry/batch/job`.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { duplicate, type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import type { Job, JobStatus } from '../../../machinery/api/types/batch.v1.ts';
import { immutableField, nonNegativeMembers } from '../validation/numbers.ts';
import { firstOverlap, indexCount } from './index-intervals.ts';
import { invalidRule } from './job-policies.ts';

const hasTrue = (status: JobStatus | undefined, type: string): boolean =>
  status?.conditions?.some((c) => c.type === type && c.status === 'True') === true;
const isFinished = (status: JobStatus | undefined): boolean => hasTrue(status, 'Complete') || hasTrue(status, 'Failed');

const noValue = (detail: string): FieldError => invalidRule('status.conditions', detail);

export function jobStatusErrors(object: Job, old: Job): FieldError[] {
  const errors: FieldError[] = [];
  const status = object.status ?? {};
  const changed = changesOf(status, old.status ?? {});
  nonNegativeMembers(status, 'status', ['active', 'succeeded', 'failed', 'ready', 'terminating'], errors);
  uncountedErrors(status, errors);
  completionErrors(status, changed, errors);
  criteriaErrors(status, changed, errors);
  finishedErrors(object, changed, errors);
  indexErrors(object, status, changed, errors);
  if (changed.any('terminating') && (status.terminating ?? 0) > 0 && isFinished(status)) {
    errors.push(invalidValue('status.terminating', status.terminating, 'terminating>0 is invalid for finished job'));
  }
  if (changed.member('ready', 'active') && status.ready !== undefined && status.ready > (status.active ?? 0)) {
    errors.push(invalidValue('status.ready', status.ready, 'cannot set more ready pods than active'));
  }
  successPolicyErrors(object, status, errors);
  updateErrors(status, old.status ?? {}, object, errors);
  return errors;
}

/** What an update touches: most rules look only at what changes, so that an old mistake does not forbid further reports. */
interface Changes {
  condition(...types: string[]): boolean;
  /** Whether one of the members changes, or whether the job has finished. */
  any(...members: (keyof JobStatus)[]): boolean;
  member(...members: (keyof JobStatus)[]): boolean;
}

/** What a member that is not there means, where that is not the same as nothing. */
const ZERO: Partial<Record<keyof JobStatus, unknown>> = { active: 0, completedIndexes: '' };

function changesOf(status: JobStatus, before: JobStatus): Changes {
  const condition = (...types: string[]): boolean => types.some((type) => hasTrue(status, type) !== hasTrue(before, type));
  const of = (from: JobStatus, name: keyof JobStatus): unknown => from[name] ?? ZERO[name];
  const member = (...members: (keyof JobStatus)[]): boolean => members.some((name) => !deepEqual(of(status, name), of(before, name)));
  return { condition, member, any: (...members) => member(...members) || isFinished(status) !== isFinished(before) };
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

function completionErrors(status: JobStatus, changed: Changes, errors: FieldError[]): void {
  const complete = hasTrue(status, 'Complete');
  const { completionTime, startTime } = status;
  if (changed.condition('Complete', 'Failed') && complete && hasTrue(status, 'Failed')) {
    errors.push(noValue('cannot set Complete=True and Failed=true conditions'));
  }
  if (changed.condition('Complete', 'FailureTarget') && complete && hasTrue(status, 'FailureTarget')) {
    errors.push(noValue('cannot set Complete=True and FailureTarget=true conditions'));
  }
  if (changed.condition('Complete') || changed.member('completionTime')) {
    if (completionTime && !complete) {
      errors.push(
        invalidValue('status.completionTime', completionTime, 'cannot set completionTime when there is no Complete=True condition'),
      );
    }
    if (complete && !completionTime) errors.push(required('status.completionTime', 'completionTime is required for Complete jobs'));
  }
  if (!changed.member('startTime', 'completionTime') || !startTime || !completionTime) return;
  if (Date.parse(completionTime) < Date.parse(startTime)) {
    errors.push(invalidValue('status.completionTime', completionTime, 'must be equal to or after `startTime`'));
  }
}

function criteriaErrors(status: JobStatus, changed: Changes, errors: FieldError[]): void {
  if (changed.condition('Failed') && hasTrue(status, 'Failed') && !hasTrue(status, 'FailureTarget')) {
    errors.push(noValue('cannot set Failed=True condition without the FailureTarget=true condition'));
  }
  if (changed.condition('Complete', 'SuccessCriteriaMet') && hasTrue(status, 'Complete') && !hasTrue(status, 'SuccessCriteriaMet')) {
    errors.push(noValue('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'));
  }
}

function finishedErrors({ spec, status = {} }: Job, changed: Changes, errors: FieldError[]): void {
  if (!isFinished(status)) return;
  if (changed.any('active') && (status.active ?? 0) > 0) {
    errors.push(invalidValue('status.active', status.active, 'active>0 is invalid for finished job'));
  }
  const neverRan = spec.suspend === true && spec.completions === 0;
  if (changed.any('startTime') && !neverRan && !status.startTime) {
    errors.push(required('status.startTime', 'startTime is required for finished job'));
  }
  const pods = status.uncountedTerminatedPods;
  if (changed.any('uncountedTerminatedPods') && (pods?.succeeded?.length ?? 0) + (pods?.failed?.length ?? 0) > 0) {
    const shown = { Succeeded: pods?.succeeded ?? null, Failed: pods?.failed ?? null };
    errors.push(invalidValue('status.uncountedTerminatedPods', shown, 'must be empty for finished job'));
  }
}

/** Of completed and of failed indexes, each in its notation; only with a count of completions do they mean anything. */
function indexErrors({ spec }: Job, status: JobStatus, changed: Changes, errors: FieldError[]): void {
  const { completedIndexes: completed = '', failedIndexes: failed } = status;
  const { completions, backoffLimitPerIndex: backoff } = spec;
  const newCompleted = changed.member('completedIndexes');
  const newFailed = changed.member('failedIndexes');
  const format = (member: 'completedIndexes' | 'failedIndexes', text: string): void => {
    const counted = completions === undefined ? 0 : indexCount(text, completions);
    if (typeof counted === 'string') errors.push(invalidValue(`status.${member}`, text, `error parsing ${member}: ${counted}`));
  };
  if (newCompleted) format('completedIndexes', completed);
  if (newFailed && backoff !== undefined && failed !== undefined) format('failedIndexes', failed);
  if (newCompleted && completed !== '' && spec.completionMode !== 'Indexed') {
    const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    errors.push(invalidValue('status.completedIndexes', completed, detail));
  }
  if (newFailed && failed !== undefined && backoff === undefined) {
    errors.push(invalidValue('status.failedIndexes', failed, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'));
  }
  if (!(newCompleted || newFailed) || completions === undefined || failed === undefined) return;
  const overlap = firstOverlap(failed, completed, completions);
  if (overlap !== undefined) {
    errors.push(invalidValue('status.failedIndexes', failed, `failedIndexes and completedIndexes overlap at index: ${overlap}`));
  }
}

function successPolicyErrors({ spec }: Job, status: JobStatus, errors: FieldError[]): void {
  const met = hasTrue(status, 'SuccessCriteriaMet');
  if (met && hasTrue(status, 'Failed')) errors.push(noValue('cannot set SuccessCriteriaMet=True and Failed=true conditions'));
  if (met && hasTrue(status, 'FailureTarget')) {
    errors.push(noValue('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'));
  }
  if (spec.successPolicy && !met && hasTrue(status, 'Complete')) {
    errors.push(noValue('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'));
  }
}

/** Ends are final, counts do not go back. */
function updateErrors(status: JobStatus, before: JobStatus, { spec }: Job, errors: FieldError[]): void {
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (hasTrue(before, type) && !hasTrue(status, type)) errors.push(noValue(`cannot disable the terminal ${type}=True condition`));
  }
  // an indexed job of equal counts can be scaled down, and forgets what was beyond
  const mayShrink = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  for (const member of ['failed', 'succeeded'] as const) {
    if ((status[member] ?? 0) >= (before[member] ?? 0) || (member === 'succeeded' && mayShrink)) continue;
    errors.push(invalidValue(`status.${member}`, status[member] ?? 0, `cannot decrease the ${member} counter`));
  }
  if (before.completionTime && status.completionTime) {
    immutableField(status.completionTime, before.completionTime, 'status.completionTime', errors);
  }
  if (before.startTime && spec.suspend !== true && before.startTime !== status.startTime) {
    errors.push(invalidValue('status.startTime', status.startTime, 'field is immutable for unsuspended job once set'));
  }
  const met = hasTrue(status, 'SuccessCriteriaMet');
  const wasMet = hasTrue(before, 'SuccessCriteriaMet');
  if (wasMet && !met) errors.push(noValue('cannot disable the SuccessCriteriaMet=True condition'));
  if (hasTrue(before, 'Complete') && !wasMet && met) {
    errors.push(noValue('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'));
  }
}
