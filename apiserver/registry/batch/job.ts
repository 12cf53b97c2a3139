/**
 * Job: pods that run to their end. Mirrors kubernetes `pkg/registry/batch/job` and `batch/validation`.
 */

import { humanDuration } from '../../../machinery/api/duration.ts';
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { dnsLabel } from '../../../machinery/api/names.ts';
import { typeSchema } from '../../../machinery/api/schema/schema.ts';
import type { Job, JobSpec } from '../../../machinery/api/types/batch.v1.ts';
import type { Affinity, Container } from '../../../machinery/api/types/core.v1.ts';
import { defineKind } from '../define.ts';
import { preparedTemplate } from '../disabled-fields.ts';
import { statusView } from '../status.ts';
import { ageCell, selectorCell, templateCells } from '../tables/cells.ts';
import { immutableField } from '../validation/numbers.ts';
import { podNameWarnings } from '../validation/pod-warnings.ts';
import { selectorMatches } from '../validation/selectors.ts';
import { defaultJobSpec, jobSelectorErrors, jobSpecErrors, jobSpecWarnings } from './job-spec.ts';
import { jobStatusErrors } from './job-status.ts';

const PREFIX = 'batch.kubernetes.io/';

function applyDefaults(object: Job): void {
  object.spec ??= {} as JobSpec;
  defaultJobSpec(object.spec);
  const labels = object.spec.template?.metadata?.labels;
  // the same map, as upstream: labels that the template gets later are the job's too
  if (labels && Object.keys(labels).length > 0 && Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = labels;
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
  template.metadata.labels ??= {};
  const { labels } = template.metadata;
  for (const [key, value] of Object.entries(generated)) if (!Object.hasOwn(labels, key)) labels[key] = value;
  object.spec.selector = { ...object.spec.selector, matchLabels: { ...object.spec.selector?.matchLabels } };
  if (!Object.hasOwn(object.spec.selector.matchLabels!, `${PREFIX}controller-uid`)) {
    object.spec.selector.matchLabels![`${PREFIX}controller-uid`] = uid;
  }
}

/** As the defaults would when the job is read: labels it has not are those of its template. They are not validated as its own. */
function takeTemplateLabels(object: Job): void {
  const labels = object.spec.template?.metadata?.labels;
  if (labels && Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = { ...labels };
}

function validate(object: Job, old?: Job): FieldError[] {
  const errors: FieldError[] = [];
  const before = old?.spec.template?.metadata?.labels ?? {};
  const prefixes = old === undefined || NAMES.every((name) => Object.hasOwn(before, PREFIX + name)) ? ['', PREFIX] : [''];
  generatedSelectorErrors(object, prefixes, errors);
  jobSpecErrors(object.spec, 'spec', errors, old?.spec);
  jobSelectorErrors(object.spec, errors);
  hostnameErrors(object, errors);
  return errors;
}

/** The pods of an indexed job have host names that end with their index. */
function hostnameErrors({ metadata, spec }: Job, errors: FieldError[]): void {
  if (spec.completionMode !== 'Indexed' || spec.completions === undefined || spec.completions <= 0) return;
  const last = `${metadata.name ?? ''}-${spec.completions - 1}`;
  if (dnsLabel(last).length === 0) return;
  errors.push(invalidValue('metadata.name', metadata.name ?? '', `will not able to create pod with invalid DNS label: ${last}`));
}

const NAMES = ['controller-uid', 'job-name'] as const;

/** Unless the user chooses, a job finds its pods by labels that no other job has. `prefixes`: the spellings its template must have. */
function generatedSelectorErrors(object: Job, prefixes: readonly string[], errors: FieldError[]): void {
  const { spec, metadata } = object;
  if (spec.manualSelector === true || !spec.selector) return;
  const labels = spec.template?.metadata?.labels ?? {};
  const expected = { 'controller-uid': metadata.uid ?? '', 'job-name': metadata.name ?? '' };
  for (const key of prefixes.flatMap((prefix) => NAMES.map((name) => prefix + name))) {
    const value = expected[key.slice(key.indexOf('/') + 1) as (typeof NAMES)[number]];
    const path = `spec.template.metadata.labels[${key}]`;
    if (!Object.hasOwn(labels, key)) errors.push(required(path, `must be '${value}'`));
    else if (labels[key] !== value) errors.push(invalidValue(path, sortedLabels(labels), `must be '${value}'`));
  }
  const generated = Object.fromEntries(prefixes.flatMap((prefix) => NAMES.map((name) => [prefix + name, expected[name]])));
  if (selectorMatches(spec.selector, generated) === false) {
    errors.push(invalidValue('spec.selector', spec.selector, '`selector` not auto-generated'));
  }
}

const sortedLabels = (labels: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));

/** The rules of a new job count as well, so that upstream tells most mistakes twice. */
function validateUpdate(object: Job, old: Job): FieldError[] {
  const errors = validate(object, old);
  jobSpecErrors(object.spec, 'spec', errors, old.spec);
  jobSelectorErrors(object.spec, errors);
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
  if (spec.completionMode !== 'Indexed') immutableField(spec.completions, old.completions, 'spec.completions', errors);
  else if (spec.completions !== undefined && spec.completions !== old.completions && spec.completions !== spec.parallelism) {
    errors.push(invalidValue('spec.completions', spec.completions, 'can only be modified in tandem with spec.parallelism'));
  }
}

/** A suspended job none of whose pods runs, and which has not started or says itself that it is suspended. */
function isAtRest({ spec, status }: Job): boolean {
  if (spec.suspend !== true || (status?.active ?? 0) > 0) return false;
  return status?.startTime === undefined || status.conditions?.some((c) => c.type === 'Suspended' && c.status === 'True') === true;
}

const SCHEDULING = ['nodeSelector', 'tolerations', 'schedulingGates'] as const;

/** While a job is at rest, where its pods run and what they use may still be decided: of affinity only that to nodes. */
function templateErrors(object: Job, old: Job, errors: FieldError[]): void {
  const next = structuredClone(object.spec.template ?? {});
  const before = old.spec.template ?? {};
  const open = isAtRest(old);
  if (open && next.spec && before.spec) {
    for (const member of SCHEDULING) setOrDelete(next.spec, member, before.spec[member]);
    setOrDelete(next.spec, 'affinity', withNodeAffinityOf(next.spec.affinity, before.spec.affinity));
    for (const list of ['containers', 'initContainers'] as const) takeResources(next.spec[list] ?? [], before.spec[list] ?? []);
    setOrDelete(next, 'metadata', before.metadata);
  }
  if (deepEqual(next, before, typeSchema('core.v1.PodTemplateSpec'))) return;
  const shown = { Spec: object.spec.template?.spec ?? null };
  errors.push(invalidValue(open ? 'spec.template.spec' : 'spec.template', shown, 'field is immutable'));
}

function takeResources(containers: readonly Container[], before: readonly Container[]): void {
  if (containers.length !== before.length) return;
  containers.forEach((container, i) => {
    if (container.name === before[i]!.name) setOrDelete(container, 'resources', before[i]!.resources);
  });
}

/** Nothing is left of an affinity that has only that to nodes, where there was none before or is none now. */
function withNodeAffinityOf(affinity: Affinity | undefined, before: Affinity | undefined): Affinity | undefined {
  const { nodeAffinity: _, ...others } = affinity ?? {};
  if (before === undefined) return Object.keys(others).length === 0 ? undefined : others;
  if (affinity !== undefined || Object.keys(before).every((member) => member === 'nodeAffinity')) {
    return { ...others, ...(before.nodeAffinity && { nodeAffinity: before.nodeAffinity }) };
  }
  return undefined;
}

function setOrDelete<T extends object, K extends keyof T>(target: T, member: K, value: T[K] | undefined): void {
  if (value === undefined) delete target[member];
  else target[member] = value;
}

function warnings(object: Job, old: Job | undefined): string[] {
  if (old === undefined) return [...podNameWarnings(object.metadata.name ?? ''), ...jobSpecWarnings(object.spec, 'spec')];
  return old.metadata.generation === object.metadata.generation ? [] : jobSpecWarnings(object.spec, 'spec');
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

const prepared = preparedTemplate<Job>(({ spec }) => spec?.template);

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
      prepared.prepareForCreate(object);
      generateSelector(object);
    },
    prepareForUpdate: prepared.prepareForUpdate,
    validate: (object) => validate(object),
    validateUpdate,
    admitValidated: takeTemplateLabels,
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
