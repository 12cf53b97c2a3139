/**
 * Deployment: ReplicaSets rolled from one template to the next. Mirrors kubernetes `pkg/registry/apps/deployment` and `apps/validation`.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import type { Deployment, DeploymentSpec, DeploymentStrategy } from '../../../machinery/api/types/apps.v1.ts';
import { defaultPodTemplate } from '../defaults/pod-spec.ts';
import { defineKind } from '../define.ts';
import { preparedTemplate } from '../disabled-fields.ts';
import { statusView } from '../status.ts';
import { ageCell, selectorCell, templateCells } from '../tables/cells.ts';
import { isZero, nonNegative, nonNegativeIntOrPercent, notMoreThan100Percent } from '../validation/numbers.ts';
import { selectorAndTemplateErrors } from '../validation/pod-template.ts';
import { annotatedNumber } from './former-annotations.ts';
import { type CountRules, collisionErrors, countErrors, fixedSelector, namedPodWarnings, replicaScale } from './replicas.ts';

const RULES = { selectorOwner: 'deployment', deadlineOwner: 'ReplicaSet' };

function applyDefaults(object: Deployment): void {
  object.spec ??= {} as DeploymentSpec;
  const { spec } = object;
  spec.replicas ??= 1;
  spec.strategy ??= {};
  if (!spec.strategy.type) spec.strategy.type = 'RollingUpdate';
  if (spec.strategy.type === 'RollingUpdate') {
    spec.strategy.rollingUpdate ??= {};
    spec.strategy.rollingUpdate.maxUnavailable ??= '25%';
    spec.strategy.rollingUpdate.maxSurge ??= '25%';
  }
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  spec.template ??= {};
  defaultPodTemplate(spec.template);
  const revision = rollbackRevision(object);
  if (revision !== undefined) object.metadata.annotations = { ...object.metadata.annotations, [ROLLBACK_TO]: String(revision) };
}

/** Where the revision to roll back to is kept since its field is gone; nothing acts upon it. */
const ROLLBACK_TO = 'deprecated.deployment.rollback.to';

function rollbackRevision(object: Deployment): bigint | undefined {
  const text = object.metadata.annotations?.[ROLLBACK_TO];
  return text ? annotatedNumber(object, ROLLBACK_TO, `failed to parse annotation[${ROLLBACK_TO}]=${text} as int64: `) : undefined;
}

function strategyErrors(strategy: DeploymentStrategy, errors: FieldError[]): void {
  const path = 'spec.strategy';
  if (strategy.type === 'Recreate') {
    if (strategy.rollingUpdate) {
      errors.push(forbiddenField(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'"));
    }
    return;
  }
  if (strategy.type !== 'RollingUpdate') {
    errors.push(notSupported(path, { Type: strategy.type, RollingUpdate: strategy.rollingUpdate ?? null }, ['Recreate', 'RollingUpdate']));
    return;
  }
  const rolling = strategy.rollingUpdate;
  if (!rolling) {
    errors.push(required(`${path}.rollingUpdate`, 'this should be defaulted and never be nil'));
    return;
  }
  const { maxUnavailable, maxSurge } = rolling;
  nonNegativeIntOrPercent(maxUnavailable, `${path}.rollingUpdate.maxUnavailable`, errors);
  nonNegativeIntOrPercent(maxSurge, `${path}.rollingUpdate.maxSurge`, errors);
  if (isZero(maxUnavailable) && isZero(maxSurge)) {
    errors.push(invalidValue(`${path}.rollingUpdate.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  notMoreThan100Percent(maxUnavailable, `${path}.rollingUpdate.maxUnavailable`, errors);
}

function specErrors(object: Deployment, errors: FieldError[], old?: Deployment): void {
  const spec = object.spec ?? ({} as DeploymentSpec);
  nonNegative(spec.replicas, 'spec.replicas', errors);
  selectorAndTemplateErrors(spec, RULES, errors, old?.spec);
  strategyErrors(spec.strategy ?? {}, errors);
  nonNegative(spec.minReadySeconds, 'spec.minReadySeconds', errors);
  nonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit', errors);
  const revision = rollbackRevision(object);
  if (revision !== undefined) nonNegative(Number(revision), 'spec.rollback.version', errors);
  const deadline = spec.progressDeadlineSeconds;
  if (deadline === undefined) return;
  nonNegative(deadline, 'spec.progressDeadlineSeconds', errors);
  if (deadline <= (spec.minReadySeconds ?? 0)) {
    errors.push(invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  }
}

const COUNTS: CountRules = {
  counts: [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'terminatingReplicas',
    'collisionCount',
  ],
  parts: ['updatedReplicas', 'readyReplicas'],
  ready: 'readyReplicas',
};

function statusErrors({ status }: Deployment, old: Deployment): FieldError[] {
  const errors: FieldError[] = [];
  countErrors(status, COUNTS, errors);
  collisionErrors(status?.collisionCount, old.status?.collisionCount, errors);
  return errors;
}

export const deployment = defineKind<Deployment>({
  group: 'apps',
  resource: 'deployments',
  kind: 'Deployment',
  hiddenAnnotations: [ROLLBACK_TO],
  zero: { spec: { replicas: 0 } },
  generation: 'specAndAnnotations',
  strategy: {
    default: applyDefaults,
    ...preparedTemplate(({ spec }) => spec?.template),
    ...fixedSelector(specErrors),
    warnings: namedPodWarnings,
  },
  status: statusView({ keepMetadata: ['labels'], validate: statusErrors }),
  scale: replicaScale,
  cells: ({ metadata, spec, status = {} }, now) => [
    metadata.name,
    `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
    status.updatedReplicas ?? 0,
    status.availableReplicas ?? 0,
    ageCell(metadata.creationTimestamp, now),
    ...templateCells(spec.template),
    selectorCell(spec.selector),
  ],
});
