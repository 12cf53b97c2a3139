/**
 * CronJob: jobs at set times. Mirrors kubernetes `pkg/registry/batch/cronjob` and `batch/validation` ValidateCronJobSpec.
 */
import { type FieldError, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { nameIsSubdomain } from '../../../machinery/api/names.ts';
import type { CronJob, CronJobSpec, JobSpec } from '../../../machinery/api/types/batch.v1.ts';
import { defineKind } from '../define.ts';
import { preparedTemplate } from '../disabled-fields.ts';
import { statusView } from '../status.ts';
import { ageCell, selectorCell, templateCells } from '../tables/cells.ts';
import { nonNegative } from '../validation/numbers.ts';
import { podNameWarnings } from '../validation/pod-warnings.ts';
import { locationProblem, scheduleProblem } from './cron-schedule.ts';
import { defaultJobTemplateSpec, jobSpecErrors, jobSpecWarnings } from './job-spec.ts';

const POLICIES = ['Allow', 'Forbid', 'Replace'];
/** A job's name is the cron job's and eleven characters of time; its pods' label holds 63. */
const MAX_NAME = 52;

function applyDefaults(object: CronJob): void {
  object.spec ??= {} as CronJobSpec;
  const { spec } = object;
  if (!spec.concurrencyPolicy) spec.concurrencyPolicy = 'Allow';
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
  spec.jobTemplate ??= {};
  spec.jobTemplate.spec ??= {} as JobSpec;
  defaultJobTemplateSpec(spec.jobTemplate.spec);
}

function specErrors(spec: CronJobSpec, errors: FieldError[], old?: CronJobSpec): void {
  if (!spec.schedule) errors.push(required('spec.schedule'));
  else scheduleErrors(spec.schedule, spec, errors, old);
  nonNegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds', errors);
  const zone = spec.timeZone;
  if (zone !== undefined && zone !== old?.timeZone) timeZoneErrors(zone, errors);
  const policy: string = spec.concurrencyPolicy ?? '';
  if (policy === '') errors.push(required('spec.concurrencyPolicy'));
  else if (!POLICIES.includes(policy)) errors.push(notSupported('spec.concurrencyPolicy', policy, POLICIES));
  jobTemplateErrors(spec, errors, old);
  nonNegative(spec.successfulJobsHistoryLimit, 'spec.successfulJobsHistoryLimit', errors);
  nonNegative(spec.failedJobsHistoryLimit, 'spec.failedJobsHistoryLimit', errors);
}

/** A zone inside the schedule was never refused of objects that had one before it was. */
function scheduleErrors(schedule: string, { timeZone }: CronJobSpec, errors: FieldError[], old?: CronJobSpec): void {
  const path = 'spec.schedule';
  const why = scheduleProblem(schedule);
  if (why !== undefined) errors.push(invalidValue(path, schedule, why));
  if (!schedule.includes('TZ')) return;
  if (!old?.schedule?.includes('TZ')) {
    errors.push(invalidValue(path, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'));
  } else if (timeZone !== undefined) {
    errors.push(invalidValue(path, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'));
  }
}

const ZONE_PART = /^[A-Za-z.\-_0-9+]{1,14}$/;

function timeZoneErrors(zone: string, errors: FieldError[]): void {
  const path = 'spec.timeZone';
  if (zone === '') {
    errors.push(invalidValue(path, zone, 'timeZone must be nil or non-empty string'));
    return;
  }
  if (zone.split('/').some((part) => part === '.' || part === '..' || part.startsWith('-') || !ZONE_PART.test(part))) {
    errors.push(invalidValue(path, zone, `unknown time zone ${zone}`));
    return;
  }
  if (zone.toLowerCase() === 'local')
    errors.push(invalidValue(path, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'));
  const why = locationProblem(zone);
  if (why !== undefined) errors.push(invalidValue(path, zone, why));
}

function jobTemplateErrors({ jobTemplate }: CronJobSpec, errors: FieldError[], old?: CronJobSpec): void {
  const path = 'spec.jobTemplate';
  const spec = jobTemplate?.spec ?? ({} as JobSpec);
  jobSpecErrors(spec, `${path}.spec`, errors, old?.jobTemplate?.spec);
  if (spec.selector) errors.push(invalidValue(`${path}.spec.selector`, spec.selector, '`selector` will be auto-generated'));
  if (spec.manualSelector === true) errors.push(notSupported(`${path}.spec.manualSelector`, true, ['nil', 'false']));
}

function validate(object: CronJob): FieldError[] {
  const errors: FieldError[] = [];
  specErrors(object.spec, errors);
  const name = object.metadata.name ?? '';
  if (name.length > MAX_NAME) errors.push(invalidValue('metadata.name', name, `must be no more than ${MAX_NAME} characters`));
  return errors;
}

function warnings(object: CronJob, old: CronJob | undefined): string[] {
  const texts: string[] = old === undefined ? podNameWarnings(object.metadata.name ?? '') : [];
  if (old === undefined || old.metadata.generation !== object.metadata.generation) {
    texts.push(...jobSpecWarnings(object.spec.jobTemplate?.spec ?? ({} as JobSpec), 'spec.jobTemplate.spec'));
  }
  return texts;
}

export const cronjob = defineKind<CronJob>({
  group: 'batch',
  resource: 'cronjobs',
  kind: 'CronJob',
  nameRule: nameIsSubdomain,
  generation: 'spec',
  strategy: {
    default: applyDefaults,
    ...preparedTemplate(({ spec }) => spec?.jobTemplate?.spec?.template),
    validate,
    validateUpdate: (object, old) => {
      const errors: FieldError[] = [];
      specErrors(object.spec, errors, old.spec);
      return errors;
    },
    warnings,
  },
  status: statusView(),
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    spec.schedule ?? '',
    spec.timeZone ?? '<none>',
    spec.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False',
    status?.active?.length ?? 0,
    status?.lastScheduleTime ? ageCell(status.lastScheduleTime, now) : '<none>',
    ageCell(metadata.creationTimestamp, now),
    ...templateCells(spec.jobTemplate?.spec?.template),
    selectorCell(spec.jobTemplate?.spec?.selector),
  ],
});
