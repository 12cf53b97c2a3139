/**
 * autoscaling/v1 and v2 of the same autoscaler: v1 has one CPU target and keeps what else there is in annotations. Mirrors kubernetes
 * `pkg/apis/autoscaling/v1/conversion.go`.
 */
import { decodeObject } from '../../../machinery/api/decode.ts';
import { parseJson } from '../../../machinery/api/json.ts';
import type { KubeObject, ObjectMeta } from '../../../machinery/api/object.ts';
import { isPlain } from '../../../machinery/api/plain.ts';
import { typeSchema } from '../../../machinery/api/schema/schema.ts';
import type * as v1 from '../../../machinery/api/types/autoscaling.v1.ts';
import type * as v2 from '../../../machinery/api/types/autoscaling.v2.ts';
import { readConditions, readSpecs, readStatuses, writeConditions, writeSpecs, writeStatuses } from './hpa-annotations.ts';

const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';
const CURRENT = 'autoscaling.alpha.kubernetes.io/current-metrics';
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions';
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';
const ANNOTATIONS = [METRICS, CURRENT, CONDITIONS, BEHAVIOR];

type Annotations = Record<string, string> | undefined;

function withoutOwn(annotations: Annotations): Annotations {
  if (annotations === undefined) return undefined;
  const rest = Object.fromEntries(Object.entries(annotations).filter(([key]) => !ANNOTATIONS.includes(key)));
  return Object.keys(rest).length > 0 ? rest : undefined;
}

/** The annotations mean something in v1 only; a v2 object does not keep them. */
export function dropRoundTripAnnotations(metadata: ObjectMeta): void {
  const kept = withoutOwn(metadata.annotations);
  if (kept === undefined) delete metadata.annotations;
  else metadata.annotations = kept;
}

const cpuAt = (averageUtilization: number): v2.MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

/** What an autoscaler without metrics looks at. */
export const defaultMetric = (): v2.MetricSpec => cpuAt(80);

export function hpaToV2(given: KubeObject): v2.HorizontalPodAutoscaler {
  const object = given as unknown as v1.HorizontalPodAutoscaler;
  const { annotations } = object.metadata;
  const { targetCPUUtilizationPercentage: cpu, ...spec } = object.spec ?? ({} as v1.HorizontalPodAutoscalerSpec);
  const metrics = [...(readSpecs(annotations?.[METRICS]) ?? []), ...(cpu === undefined ? [] : [cpuAt(cpu)])];
  if (metrics.length === 0) metrics.push(defaultMetric());
  const behavior = readBehavior(annotations?.[BEHAVIOR]);
  const metadata = { ...object.metadata };
  dropRoundTripAnnotations(metadata);
  const status = statusToV2(object.status, annotations);
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata,
    spec: { ...spec, metrics, ...(behavior && { behavior }) },
    ...(status && { status }),
  };
}

/** What the annotation says of current metrics is more than the one figure of v1, which counts only without it. */
function statusToV2(
  given: v1.HorizontalPodAutoscalerStatus | undefined,
  annotations: Annotations,
): v2.HorizontalPodAutoscalerStatus | undefined {
  const { currentCPUUtilizationPercentage: cpu, ...status } = given ?? ({} as v1.HorizontalPodAutoscalerStatus);
  const ofCpu = { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: cpu } } } as v2.MetricStatus;
  const current = readStatuses(annotations?.[CURRENT]) ?? (cpu === undefined ? [] : [ofCpu]);
  const conditions = readConditions(annotations?.[CONDITIONS]) ?? [];
  if (given === undefined && current.length + conditions.length === 0) return undefined;
  return {
    ...status,
    ...(current.length > 0 && { currentMetrics: current }),
    ...(conditions.length > 0 && { conditions }),
  } as v2.HorizontalPodAutoscalerStatus;
}

/** Behaviour in the annotation has the member names of the internal type, and no policies but those it names. */
function readBehavior(annotation: string | undefined): v2.HorizontalPodAutoscalerBehavior | undefined {
  if (annotation === undefined) return undefined;
  try {
    const { value } = parseJson(annotation);
    const schema = typeSchema('autoscaling.v2.HorizontalPodAutoscalerBehavior');
    const behavior = decodeObject(schema, lower(value), { strict: false }).object as unknown as v2.HorizontalPodAutoscalerBehavior;
    const sides = [behavior.scaleUp, behavior.scaleDown].filter((side) => side !== undefined);
    for (const side of sides) side.policies ??= [];
    return sides.length === 0 ? undefined : behavior;
  } catch {
    return undefined;
  }
}

function lower(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lower);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.charAt(0).toLowerCase() + key.slice(1), lower(member)]));
}

const isCpuTarget = (m: v2.MetricSpec): boolean =>
  m.type === 'Resource' && m.resource?.name === 'cpu' && m.resource.target?.averageUtilization !== undefined;

export function hpaFromV2(given: KubeObject): v1.HorizontalPodAutoscaler {
  const object = given as unknown as v2.HorizontalPodAutoscaler;
  const { metrics, behavior, ...spec } = object.spec;
  const { currentMetrics, conditions, ...status } = object.status ?? ({} as v2.HorizontalPodAutoscalerStatus);
  const current = currentMetrics ?? [];
  const cpu = metrics?.find(isCpuTarget)?.resource?.target.averageUtilization;
  const ofCpu = current.filter((m) => m.type === 'Resource' && m.resource?.name === 'cpu');
  const currentCpu = ofCpu.map((m) => m.resource?.current?.averageUtilization).findLast((figure) => figure !== undefined);
  // a second target of the processor has no place in v1
  const others = (metrics ?? []).filter((metric) => !isCpuTarget(metric));
  const annotations: Record<string, string> = { ...withoutOwn(object.metadata.annotations) };
  if (others.length > 0) annotations[METRICS] = writeSpecs(others);
  if (current.length > 0) annotations[CURRENT] = writeStatuses(current);
  if ((conditions?.length ?? 0) > 0) annotations[CONDITIONS] = writeConditions(conditions!);
  if (behavior) annotations[BEHAVIOR] = writeBehavior(behavior);
  const metadata = { ...object.metadata };
  if (Object.keys(annotations).length > 0) metadata.annotations = annotations;
  else delete metadata.annotations;
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata,
    spec: { ...spec, ...(cpu !== undefined && { targetCPUUtilizationPercentage: cpu }) },
    ...(object.status && { status: { ...status, ...(currentCpu !== undefined && { currentCPUUtilizationPercentage: currentCpu }) } }),
  } as unknown as v1.HorizontalPodAutoscaler;
}

/** All members, in the order of the internal type; what is not set is null. */
function writeBehavior({ scaleUp, scaleDown }: v2.HorizontalPodAutoscalerBehavior): string {
  const side = (rules: v2.HPAScalingRules | undefined): object | null =>
    rules === undefined
      ? null
      : {
          StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
          SelectPolicy: rules.selectPolicy ?? null,
          Policies: rules.policies?.map((p) => ({ Type: p.type ?? '', Value: p.value ?? 0, PeriodSeconds: p.periodSeconds ?? 0 })) ?? null,
          Tolerance: rules.tolerance ?? null,
        };
  return JSON.stringify({ ScaleUp: side(scaleUp), ScaleDown: side(scaleDown) });
}
