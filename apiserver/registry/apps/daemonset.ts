/**
 * DaemonSet: one pod on every node that fits. Mirrors kubernetes `pkg/registry/apps/daemonset` and `apps/validation`.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { typeSchema } from '../../../machinery/api/schema/schema.ts';
import type { DaemonSet, DaemonSetSpec } from '../../../machinery/api/types/apps.v1.ts';
import type { PodTemplateSpec } from '../../../machinery/api/types/core.v1.ts';
import { defaultPodTemplate } from '../defaults/pod-spec.ts';
import { defineKind } from '../define.ts';
import { preparedTemplate } from '../disabled-fields.ts';
import { statusView } from '../status.ts';
import { ageCell, labelsCell, selectorCell, templateCells } from '../tables/cells.ts';
import { isZero, nonNegative, nonNegativeIntOrPercent, nonNegativeMembers, notMoreThan100Percent } from '../validation/numbers.ts';
import { alwaysRestartsErrors, mismatch, podTemplateErrors } from '../validation/pod-template.ts';
import { templateWarnings } from '../validation/pod-warnings.ts';
import { isEmptySelector, labelSelectorErrors, selectorMatches } from '../validation/selectors.ts';
import { annotatedNumber } from './former-annotations.ts';
import { collisionErrors, fixedSelector } from './replicas.ts';

/** Where the generation of the template is kept since its field is gone. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

function applyDefaults(object: DaemonSet): void {
  object.spec ??= {} as DaemonSetSpec;
  const { spec } = object;
  spec.updateStrategy ??= {};
  if (!spec.updateStrategy.type) spec.updateStrategy.type = 'RollingUpdate';
  if (spec.updateStrategy.type === 'RollingUpdate') {
    spec.updateStrategy.rollingUpdate ??= {};
    spec.updateStrategy.rollingUpdate.maxUnavailable ??= 1;
  }
  // upstream's internal form has no unset numbers here, whatever the type is
  const { rollingUpdate } = spec.updateStrategy;
  if (rollingUpdate) {
    rollingUpdate.maxUnavailable ??= 0;
    rollingUpdate.maxSurge ??= 0;
  }
  setTemplateGeneration(object, templateGeneration(object));
  spec.revisionHistoryLimit ??= 10;
  spec.template ??= {};
  defaultPodTemplate(spec.template);
}

function setTemplateGeneration(object: DaemonSet, value: number): void {
  object.metadata.annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: String(value) };
}

const templateGeneration = (object: DaemonSet): number => Number(annotatedNumber(object, TEMPLATE_GENERATION) ?? 0n);

function rollingErrors(spec: DaemonSetSpec, errors: FieldError[]): void {
  const path = 'spec.updateStrategy';
  const { type, rollingUpdate: rolling } = spec.updateStrategy ?? {};
  if (type === 'OnDelete') return;
  if (type !== 'RollingUpdate') {
    errors.push(notSupported(path, { Type: type ?? '', RollingUpdate: rolling ?? null }, ['RollingUpdate', 'OnDelete']));
    return;
  }
  if (!rolling) {
    errors.push(required(`${path}.rollingUpdate`));
    return;
  }
  const members = ['maxUnavailable', 'maxSurge'] as const;
  for (const member of members) nonNegativeIntOrPercent(rolling[member], `${path}.rollingUpdate.${member}`, errors);
  for (const member of members) notMoreThan100Percent(rolling[member], `${path}.rollingUpdate.${member}`, errors);
  const unavailable = !isZero(rolling.maxUnavailable);
  const surge = !isZero(rolling.maxSurge);
  if (unavailable && surge) {
    errors.push(invalidValue(`${path}.rollingUpdate.maxSurge`, rolling.maxSurge, 'may not be set when maxUnavailable is non-zero'));
  } else if (!unavailable && !surge) errors.push(required(`${path}.rollingUpdate.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
}

function specErrors({ spec }: DaemonSet, errors: FieldError[], old?: DaemonSet): void {
  const template: PodTemplateSpec = spec.template ?? {};
  labelSelectorErrors(spec.selector, 'spec.selector', errors);
  if (selectorMatches(spec.selector, template.metadata?.labels) === false) errors.push(mismatch('spec.template', template));
  if (spec.selector && isEmptySelector(spec.selector))
    errors.push(invalidValue('spec.selector', spec.selector, 'empty selector is invalid for daemonset'));
  podTemplateErrors(template, 'spec.template', errors, old?.spec.template);
  alwaysRestartsErrors(template, 'spec.template', 'DaemonSet', errors);
  nonNegative(spec.minReadySeconds, 'spec.minReadySeconds', errors);
  rollingErrors(spec, errors);
  nonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit', errors);
}

const COUNTS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
];

function statusErrors({ status }: DaemonSet, old: DaemonSet): FieldError[] {
  const errors: FieldError[] = [];
  nonNegativeMembers(status, 'status', COUNTS, errors);
  collisionErrors(status?.collisionCount, old.status?.collisionCount, errors);
  return errors;
}

const prepared = preparedTemplate<DaemonSet>(({ spec }) => spec?.template);

export const daemonset = defineKind<DaemonSet>({
  group: 'apps',
  resource: 'daemonsets',
  kind: 'DaemonSet',
  hiddenAnnotations: [TEMPLATE_GENERATION],
  generation: 'spec',
  strategy: {
    default: applyDefaults,
    prepareForCreate: (object) => {
      prepared.prepareForCreate(object);
      setTemplateGeneration(object, Math.max(1, templateGeneration(object)));
    },
    prepareForUpdate: (object, old) => {
      prepared.prepareForUpdate(object, old);
      const changed = !deepEqual(object.spec.template, old.spec.template, typeSchema('core.v1.PodTemplateSpec'));
      setTemplateGeneration(object, templateGeneration(old) + (changed ? 1 : 0));
    },
    ...fixedSelector(specErrors, 2),
    warnings: (object, old) => templateWarnings(object, old, object.spec.template, 'spec.template'),
  },
  status: statusView({ validate: statusErrors }),
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    status?.desiredNumberScheduled ?? 0,
    status?.currentNumberScheduled ?? 0,
    status?.numberReady ?? 0,
    status?.updatedNumberScheduled ?? 0,
    status?.numberAvailable ?? 0,
    labelsCell(spec.template?.spec?.nodeSelector),
    ageCell(metadata.creationTimestamp, now),
    ...templateCells(spec.template),
    selectorCell(spec.selector),
  ],
});
