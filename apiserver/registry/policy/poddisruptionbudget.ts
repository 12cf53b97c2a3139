/**
 * PodDisruptionBudget: how many pods may be missing by choice. Mirrors kubernetes `pkg/registry/policy/poddisruptionbudget`.
 */
import { type FieldError, invalidValue, notSupported } from '../../../machinery/api/field-error.ts';
import { anyName } from '../../../machinery/api/names.ts';
import type { PodDisruptionBudget } from '../../../machinery/api/types/policy.v1.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { conditionErrors } from '../validation/conditions.ts';
import { nonNegativeIntOrPercent, nonNegativeMembers, notMoreThan100Percent } from '../validation/numbers.ts';
import { labelSelectorErrors } from '../validation/selectors.ts';

const POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

function validate({ spec = {} }: PodDisruptionBudget): FieldError[] {
  const errors: FieldError[] = [];
  const { minAvailable, maxUnavailable, unhealthyPodEvictionPolicy: policy } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = {
      MinAvailable: minAvailable,
      Selector: spec.selector ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: policy ?? null,
    };
    errors.push(invalidValue('spec', shown, 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const member of ['minAvailable', 'maxUnavailable'] as const) {
    if (spec[member] === undefined) continue;
    nonNegativeIntOrPercent(spec[member], `spec.${member}`, errors);
    notMoreThan100Percent(spec[member], `spec.${member}`, errors);
  }
  labelSelectorErrors(spec.selector, 'spec.selector', errors);
  if (policy !== undefined && !POLICIES.includes(policy)) errors.push(notSupported('spec.unhealthyPodEvictionPolicy', policy, POLICIES));
  return errors;
}

function statusErrors({ status }: PodDisruptionBudget): FieldError[] {
  const errors: FieldError[] = [];
  conditionErrors(status?.conditions ?? [], 'status.conditions', errors);
  nonNegativeMembers(status, 'status', ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'], errors);
  return errors;
}

export const poddisruptionbudget = defineKind<PodDisruptionBudget>({
  group: 'policy',
  resource: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  nameRule: anyName,
  generation: 'spec',
  unconditionalUpdate: false,
  strategy: { prepareForCreate: dropStatus, prepareForUpdate: keepStatus, validate, validateUpdate: validate },
  status: statusView({ validate: statusErrors }),
  cells: ({ metadata, spec = {}, status }, now) => [
    metadata.name,
    String(spec.minAvailable ?? 'N/A'),
    String(spec.maxUnavailable ?? 'N/A'),
    status?.disruptionsAllowed ?? 0,
    ageCell(metadata.creationTimestamp, now),
  ],
});
