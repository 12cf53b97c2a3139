/**
 * Rules of autoscalers. Mirrors kubernetes `pkg/apis/autoscaling/validation`. A reference whose version was wrong before may stay so.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { compareQuantities, formatQuantity, parseQuantity } from '../../../machinery/api/quantity.ts';
import type { HorizontalPodAutoscaler, HPAScalingPolicy, HPAScalingRules } from '../../../machinery/api/types/autoscaling.v2.ts';
import { nonNegativeMembers } from '../validation/numbers.ts';
import { metricsErrors, referenceErrors, versionedReferenceErrors } from './hpa-metrics.ts';

const MAX_WINDOW_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;
const SELECT_POLICIES = ['Disabled', 'Max', 'Min'];
const POLICY_TYPES = ['Percent', 'Pods'];

/** `old` is absent for a new autoscaler. */
export function hpaErrors({ spec }: HorizontalPodAutoscaler, old?: HorizontalPodAutoscaler): FieldError[] {
  const errors: FieldError[] = [];
  const { minReplicas, maxReplicas = 0, scaleTargetRef, metrics, behavior } = spec;
  if (minReplicas !== undefined && minReplicas < 1)
    errors.push(invalidValue('spec.minReplicas', minReplicas, 'must be greater than or equal to 1'));
  if (maxReplicas < 1) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    errors.push(invalidValue('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'));
  }
  scaleTargetErrors(scaleTargetRef, errors, old?.spec.scaleTargetRef);
  metricsErrors(metrics ?? [], 'spec.metrics', errors);
  if (minReplicas === 0 && !metrics?.some(({ type }) => type === 'Object' || type === 'External')) {
    const detail = 'must specify at least one Object or External metric to support scaling to zero replicas';
    errors.push(forbiddenField('spec.metrics', detail));
  }
  for (const direction of ['scaleUp', 'scaleDown'] as const) {
    const rules = behavior?.[direction];
    if (rules) rulesErrors(rules, `spec.behavior.${direction}`, errors);
  }
  return errors;
}

type Target = HorizontalPodAutoscaler['spec']['scaleTargetRef'] | undefined;

/** Nothing of the core group can be scaled but replication controllers. What an older server let in may stay. */
function scaleTargetErrors(target: Target, errors: FieldError[], old?: Target): void {
  const path = 'spec.scaleTargetRef';
  const { kind = '', apiVersion = '' } = target ?? {};
  if (old !== undefined && (old?.kind ?? '') === kind && (old?.apiVersion ?? '') === apiVersion) referenceErrors(target, path, errors);
  else versionedReferenceErrors(target, path, errors, kind === 'ReplicationController');
}

function rulesErrors(rules: HPAScalingRules, path: string, errors: FieldError[]): void {
  const { stabilizationWindowSeconds: window, selectPolicy, policies = [], tolerance } = rules;
  if (window !== undefined && window < 0) {
    errors.push(invalidValue(`${path}.stabilizationWindowSeconds`, window, 'must be greater than or equal to zero'));
  }
  if (window !== undefined && window > MAX_WINDOW_SECONDS) {
    errors.push(invalidValue(`${path}.stabilizationWindowSeconds`, window, `must be less than or equal to ${MAX_WINDOW_SECONDS}`));
  }
  if (selectPolicy !== undefined && !SELECT_POLICIES.includes(selectPolicy)) {
    errors.push(notSupported(`${path}.selectPolicy`, selectPolicy, SELECT_POLICIES));
  }
  if (policies.length === 0) errors.push(required(`${path}.policies`, 'must specify at least one Policy'));
  policies.forEach((policy, i) => {
    policyErrors(policy, `${path}.policies[${i}]`, errors);
  });
  if (tolerance === undefined) return;
  const quantity = parseQuantity(tolerance);
  if (compareQuantities(quantity, parseQuantity(0)) < 0) {
    errors.push(invalidValue(`${path}.tolerance`, formatQuantity(quantity), 'must be greater than or equal to 0'));
  }
}

function policyErrors({ type = '', value = 0, periodSeconds = 0 }: Partial<HPAScalingPolicy>, path: string, errors: FieldError[]): void {
  if (!POLICY_TYPES.includes(type)) errors.push(notSupported(`${path}.type`, type, POLICY_TYPES));
  if (value <= 0) errors.push(invalidValue(`${path}.value`, value, 'must be greater than zero'));
  if (periodSeconds <= 0) errors.push(invalidValue(`${path}.periodSeconds`, periodSeconds, 'must be greater than zero'));
  if (periodSeconds > MAX_PERIOD_SECONDS) {
    errors.push(invalidValue(`${path}.periodSeconds`, periodSeconds, `must be less than or equal to ${MAX_PERIOD_SECONDS}`));
  }
}

export function hpaStatusErrors({ status }: HorizontalPodAutoscaler): FieldError[] {
  const errors: FieldError[] = [];
  nonNegativeMembers(status, 'status', ['currentReplicas', 'desiredReplicas'], errors);
  return errors;
}
