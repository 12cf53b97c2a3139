/**
 * Job: pods that run to their end. Mirrors kubernetes `pkg/registry/batch/job` and `batch/validation`.
 */

import { humanDuration } from '../../../machinery/api/duration.ts';
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, invalidValue } from '../../../machinery/api/field-error.ts';
import { dnsLabel } from '../../../machinery/api/names.ts';
import { typeSchema } from '../../../machinery/api/schema/schema.ts';
import type { Job, JobSpec } from '../../../machinery/api/types/batch.v1.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell, selectorCell, templateCells } from '../tables/cells.ts';
import { immutableField } from '../validation/numbers.ts';
import { mismatch } from '../validation/pod-template.ts';
import { templateWarnings } from '../validation/pod-warnings.ts';
import { selectorMatches } from '../validation/selectors.ts';
import { defaultJobSpec, jobSelectorErrors, jobSpecErrors } from './job-spec.ts';
import { jobStatusErrors } from './job-status.ts';

const PREFIX = 'batch.kubernetes.io/';

function applyDefaults(object: Job): void {
  object.spec ??= {} as JobSpec;
  defaultJobSpec(object.spec);
  const labels = object.spec.template?.metadata?.labels;
  if (labels && Object.keys(labels).length > 0 && Object.keys(object.metadata.labels ?? {}).length === 0)
    object.metadata.labels = { ...labels };
}

/** A job's pods are told apart by labels with its uid, in the old and the new spelling. */
function generateSelector(object: Job): void {
  if (object.spec.manualSelector === true) return;
  const uid = object.metadata.uid ?? '';
  const name = object.metadata.name ?? '';
  object.spec.template ??= {};
  const { template } = object.spec;
  template.metadata ??= {};
  const generated: Record<string, string> = {
    'controller-uid': uid,
    'job-name': name,
    [`${PREFIX}controller-uid`]: uid,
    [`${PREFIX}job-name`]: name,
  };
  // A label that is there already stays, for validation to find it wrong.
  const own = template.metadata.labels ?? {};
  template.metadata.labels = { ...own, ...Object.fromEntries(Object.entries(generated).filter(([key]) => !Object.hasOwn(own, key))) };
  object.spec.selector = { ...object.spec.selector, matchLabels: { ...object.spec.selector?.matchLabels } };
  if (Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = { ...template.metadata.labels };
  if (!Object.hasOwn(object.spec.selector.matchLabels!, `${PREFIX}controller-uid`)) {
    object.spec.selector.matchLabels![`${PREFIX}controller-uid`] = uid;
  }
}

function validate(object: Job): FieldError[] {
  const errors: FieldError[] = [];
  generatedSelectorErrors(object, errors);
  selectorErrors(object.spec, errors);
  jobSpecErrors(object.spec, 'spec', errors);
  return errors;
}

function generatedSelectorErrors(object: Job, errors: FieldError[]): void {
  const { spec } = object;
  if (spec.manualSelector === true) return;
  if (!spec.selector) return;
  const labels = spec.template?.metadata?.labels ?? {};
  const path = 'spec.template.metadata.labels';
  const expected: [string, string][] = [
    ['controller-uid', object.metadata.uid ?? ''],
    ['job-name', object.metadata.name ?? ''],
  ];
  for (const prefix of ['', PREFIX]) {
    for (const [key, value] of expected) {
      if (labels[prefix + key] !== value) errors.push(invalidValue(`${path}[${prefix}${key}]`, sortedLabels(labels), `must be '${value}'`));
    }
  }
  const wanted = { matchLabels: { [`${PREFIX}controller-uid`]: object.metadata.uid ?? '' } };
  if (!deepEqual(spec.selector, wanted)) errors.push(invalidValue('spec.selector', spec.selector, '`selector` not auto-generated'));
}

const sortedLabels = (labels: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));

function selectorErrors(spec: JobSpec, errors: FieldError[]): void {
  jobSelectorErrors(spec, errors);
  if (spec.selector && selectorMatches(spec.selector, spec.template?.metadata?.labels) === false) {
    errors.push(mismatch('spec.template', spec.template ?? {}));
  }
}

function validateUpdate(object: Job, old: Job): FieldError[] {
  const errors: FieldError[] = [];
  jobSpecErrors(object.spec, 'spec', errors, old.spec);
  completionsErrors(object.spec, old.spec, errors);
  immutableField(object.spec.selector, old.spec.selector, 'spec.selector', errors);
  templateErrors(object, old, errors);
  immutableField(object.spec.completionMode, old.spec.completionMode, 'spec.completionMode', errors);
  immutableField(object.spec.podFailurePolicy, old.spec.podFailurePolicy, 'spec.podFailurePolicy', errors);
  immutableField(object.spec.backoffLimitPerIndex, old.spec.backoffLimitPerIndex, 'spec.backoffLimitPerIndex', errors);
  immutableField(object.spec.managedBy, old.spec.managedBy, 'spec.managedBy', errors);
  immutableField(object.spec.successPolicy, old.spec.successPolicy, 'spec.successPolicy', errors);
  return errors;
}

/** The count of an indexed job may change together with its parallelism. */
function completionsErrors(spec: JobSpec, old: JobSpec, errors: FieldError[]): void {
  if (spec.completions === old.completions) return;
  if (old.completionMode !== 'Indexed') immutableField(spec.completions, old.completions, 'spec.completions', errors);
  else if (spec.completions !== spec.parallelism || old.completions !== old.parallelism) {
    errors.push(invalidValue('spec.completions', spec.completions, 'can only be modified in tandem with spec.parallelism'));
  }
}

/** While a job is suspended and has not started, where its pods run may still be decided. */
function templateErrors(object: Job, old: Job, errors: FieldError[]): void {
  const next = structuredClone(object.spec.template ?? {});
  const before = old.spec.template ?? {};
  const open = old.spec.suspend === true && old.status?.startTime === undefined;
  if (open && next.spec && before.spec) {
    for (const member of ['nodeSelector', 'affinity', 'tolerations', 'schedulingGates'] as const) {
      if (before.spec[member] === undefined) delete next.spec[member];
      else Object.assign(next.spec, { [member]: before.spec[member] });
    }
    next.spec.containers?.forEach((container, i) => {
      const resources = before.spec?.containers?.[i]?.resources;
      if (resources === undefined) delete container.resources;
      else container.resources = resources;
    });
    if (before.metadata === undefined) delete next.metadata;
    else next.metadata = before.metadata;
  }
  if (!deepEqual(next, before, typeSchema('core.v1.PodTemplateSpec')))
    errors.push(invalidValue('spec.template', { Spec: next.spec ?? null }, 'field is immutable'));
}

function warnings(object: Job, old: Job | undefined): string[] {
  const texts: string[] = [];
  if (old === undefined) {
    const details = dnsLabel(object.metadata.name ?? '');
    if (details.length > 0) {
      texts.push(
        `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${details.join(' ')}]`,
      );
    }
  }
  return [...texts, ...templateWarnings(object, old, object.spec.template, 'spec.template')];
}

function statusCell({ metadata, spec, status }: Job): string {
  const has = (type: string): boolean => status?.conditions?.some((c) => c.type === type && c.status === 'True') === true;
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (has('Suspended')) return 'Suspended';
  if (has('FailureTarget')) return 'FailureTarget';
  if (has('SuccessCriteriaMet')) return 'SuccessCriteriaMet';
  return spec === undefined ? '' : 'Running';
}

function completionsCell({ spec, status }: Job): string {
  const done = status?.succeeded ?? 0;
  if (spec.completions !== undefined) return `${done}/${spec.completions}`;
  const parallel = spec.parallelism ?? 0;
  return parallel > 1 ? `${done}/1 of ${parallel}` : `${done}/1`;
}

function durationCell({ status }: Job, now: Date): string {
  if (!status?.startTime) return '';
  const end = status.completionTime ? Date.parse(status.completionTime) : now.getTime();
  return humanDuration(end - Date.parse(status.startTime));
}

export const job = defineKind<Job>({
  group: 'batch',
  resource: 'jobs',
  kind: 'Job',
  generation: 'spec',
  defaultPropagation: 'Orphan',
  deleteWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  fieldLabelError: 'notSupportedForKind',
  selectableFields: { 'status.successful': ({ status }) => String(status?.succeeded ?? 0) },
  strategy: {
    default: applyDefaults,
    prepareForCreate: (object) => {
      dropStatus(object);
      generateSelector(object);
    },
    prepareForUpdate: keepStatus,
    validate,
    validateUpdate,
    warnings,
  },
  status: statusView({ validate: jobStatusErrors }),
  cells: (object, now) => [
    object.metadata.name,
    statusCell(object),
    completionsCell(object),
    durationCell(object, now),
    ageCell(object.metadata.creationTimestamp, now),
    ...templateCells(object.spec.template),
    selectorCell(object.spec.selector),
  ],
});
