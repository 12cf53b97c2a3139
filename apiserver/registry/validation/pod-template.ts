/**
 * Pod templates and how workloads bind to them by selector. Mirrors kubernetes `core/validation` ValidatePodTemplateSpec and
 * `apps/validation` ValidatePodTemplateSpecForReplicaSet.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import type { LabelSelector } from '../../../machinery/api/object.ts';
import type { PodTemplateSpec } from '../../../machinery/api/types/core.v1.ts';
import { annotationErrors, labelErrors } from './metadata.ts';
import { annotationFieldErrors, podAnnotationErrors } from './pod-annotations.ts';
import { podSpecErrors } from './pod-spec.ts';
import { isEmptySelector, labelSelectorErrors, selectorMatches } from './selectors.ts';

const EMPTY: PodTemplateSpec = {} as PodTemplateSpec;

export function podTemplateErrors(template: PodTemplateSpec, path: string, errors: FieldError[], old?: PodTemplateSpec): void {
  templateMetadataErrors(template, path, errors);
  podSpecErrors(template.spec ?? {}, `${path}.spec`, errors, { template: true, oldSpec: old?.spec });
  annotationFieldErrors(template.metadata?.annotations, template.spec ?? { containers: [] }, `${path}.spec`, errors);
  if ((template.spec?.ephemeralContainers?.length ?? 0) > 0) {
    errors.push(forbiddenField(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'));
  }
}

function templateMetadataErrors(template: PodTemplateSpec, path: string, errors: FieldError[]): void {
  labelErrors(template.metadata?.labels, `${path}.labels`, errors);
  annotationErrors(template.metadata?.annotations, `${path}.annotations`, errors);
  podAnnotationErrors(template.metadata?.annotations, template.spec, `${path}.annotations`, errors);
}

export interface WorkloadRules {
  /** For the texts: `deployment`, `statefulset`, … */
  readonly selectorOwner: string;
  readonly deadlineOwner: string;
  /** What is said of a selector that cannot be understood. */
  readonly badSelector?: string;
  /** Upstream looks at the metadata of a stateful set's template twice, and at its restart policy even if the selector cannot be understood. */
  readonly metadataTwice?: boolean;
}

export interface SelectedTemplate {
  readonly selector?: LabelSelector;
  readonly template?: PodTemplateSpec;
}

/** The selector, its match with the template's labels, and the template of a workload that keeps pods running. */
export function selectorAndTemplateErrors(
  spec: SelectedTemplate,
  rules: WorkloadRules,
  errors: FieldError[],
  old?: SelectedTemplate,
): void {
  const { selector } = spec;
  const template = spec.template ?? EMPTY;
  if (selector === undefined || selector === null) errors.push(required('spec.selector'));
  else {
    labelSelectorErrors(selector, 'spec.selector', errors);
    if (isEmptySelector(selector))
      errors.push(invalidValue('spec.selector', selector, `empty selector is invalid for ${rules.selectorOwner}`));
  }
  const matched = selectorMatches(selector, template.metadata?.labels);
  if (matched === undefined) {
    errors.push(invalidValue('spec.selector', selector, rules.badSelector ?? 'invalid label selector'));
    if (rules.metadataTwice) alwaysRestartsErrors(template, 'spec.template', rules.deadlineOwner, errors);
    return;
  }
  if (!matched) errors.push(mismatch('spec.template', template));
  if (rules.metadataTwice) templateMetadataErrors(template, 'spec.template', errors);
  podTemplateErrors(template, 'spec.template', errors, old?.template);
  alwaysRestartsErrors(template, 'spec.template', rules.deadlineOwner, errors);
}

export const mismatch = (path: string, template: PodTemplateSpec): FieldError =>
  invalidValue(`${path}.metadata.labels`, sorted(template.metadata?.labels), '`selector` does not match template `labels`');

const sorted = (labels: Record<string, string> | undefined): object | undefined =>
  labels && Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));

export function alwaysRestartsErrors(template: PodTemplateSpec, path: string, owner: string, errors: FieldError[]): void {
  const policy = template.spec?.restartPolicy ?? '';
  if (policy !== 'Always') errors.push(notSupported(`${path}.spec.restartPolicy`, policy, ['Always']));
  if (template.spec?.activeDeadlineSeconds !== undefined) {
    errors.push(forbiddenField(`${path}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${owner} is not Supported`));
  }
}
