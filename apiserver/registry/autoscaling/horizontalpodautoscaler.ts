/**
 * HorizontalPodAutoscaler: replicas by measurement. Stored as v2, served as v1 too. Mirrors kubernetes `pkg/registry/autoscaling`.
 */
import type { HorizontalPodAutoscaler, HPAScalingRules } from '../../../machinery/api/types/autoscaling.v2.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { defaultMetric, dropRoundTripAnnotations, hpaFromV2, hpaToV2 } from './hpa-conversion.ts';
import { targetsCell } from './hpa-table.ts';
import { hpaErrors, hpaStatusErrors } from './hpa-validation.ts';

const MAX_STABILIZATION_PERIOD = 15;

function applyDefaults(object: HorizontalPodAutoscaler): void {
  if (object.metadata.annotations) dropRoundTripAnnotations(object.metadata);
  object.spec ??= {} as HorizontalPodAutoscaler['spec'];
  const { spec } = object;
  spec.minReplicas ??= 1;
  if ((spec.metrics?.length ?? 0) === 0) spec.metrics = [defaultMetric()];
  const behavior = spec.behavior;
  if (!behavior) return;
  const pods = { type: 'Pods' as const, value: 4, periodSeconds: MAX_STABILIZATION_PERIOD };
  const percent = { type: 'Percent' as const, value: 100, periodSeconds: MAX_STABILIZATION_PERIOD };
  behavior.scaleUp = rules(behavior.scaleUp, { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: [pods, percent] });
  behavior.scaleDown = rules(behavior.scaleDown, { selectPolicy: 'Max', policies: [percent] });
}

function rules(given: HPAScalingRules | undefined, defaults: HPAScalingRules): HPAScalingRules {
  const result = { ...defaults, ...given };
  if (given?.policies === undefined || given.policies === null) result.policies = defaults.policies!.map((policy) => ({ ...policy }));
  return result;
}

export const horizontalpodautoscaler = defineKind<HorizontalPodAutoscaler>({
  group: 'autoscaling',
  version: 'v2',
  resource: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  strategy: {
    default: applyDefaults,
    prepareForCreate: dropStatus,
    prepareForUpdate: keepStatus,
    validate: (object) => hpaErrors(object),
    validateUpdate: hpaErrors,
  },
  status: statusView({ validate: hpaStatusErrors }),
  conversions: [{ group: 'autoscaling', version: 'v1', toStored: hpaToV2, fromStored: hpaFromV2 }],
  cells: (object, now) => {
    const { metadata, spec, status } = object;
    return [
      metadata.name,
      `${spec.scaleTargetRef?.kind ?? ''}/${spec.scaleTargetRef?.name ?? ''}`,
      targetsCell(spec.metrics ?? [], status?.currentMetrics ?? []),
      String(spec.minReplicas ?? '<unset>'),
      spec.maxReplicas ?? 0,
      status?.currentReplicas ?? 0,
      ageCell(metadata.creationTimestamp, now),
    ];
  },
});
