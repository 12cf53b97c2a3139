/**
 * autoscaling/v1 and v2 of the same autoscaler: v1 has one CPU target and keeps what else there is in annotations. Mirrors kubernetes
 * `pkg/apis/autoscaling/v1/conversion.go`.
 */
import type { KubeObject, ObjectMeta } from '../../../machinery/api/object.ts';
import type * as v1 from '../../../machinery/api/types/autoscaling.v1.ts';
import type * as v2 from '../../../machinery/api/types/autoscaling.v2.ts';

const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';
const CURRENT = 'autoscaling.alpha.kubernetes.io/current-metrics';
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions';
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';
const ANNOTATIONS = [METRICS, CURRENT, CONDITIONS, BEHAVIOR];

function parse<T>(annotations: Record<string, string> | undefined, key: string): T | undefined {
  const text = annotations?.[key];
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined; // broken annotations vanish
  }
}

function withoutOwn(annotations: Record<string, string> | undefined): Record<string, string> | undefined {
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

/** What an autoscaler without metrics looks at. */
export const defaultMetric = (): v2.MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
});

export function hpaToV2(given: KubeObject): v2.HorizontalPodAutoscaler {
  const object = given as unknown as v1.HorizontalPodAutoscaler;
  const { annotations } = object.metadata;
  const spec = object.spec ?? ({} as v1.HorizontalPodAutoscalerSpec);
  const { targetCPUUtilizationPercentage: cpu, ...rest } = spec;
  const metrics = (parse<unknown[]>(annotations, METRICS) ?? []).map(metricToV2);
  if (cpu !== undefined)
    metrics.push({ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: cpu } } });
  if (metrics.length === 0) metrics.push(defaultMetric());
  const behavior = parse<v2.HorizontalPodAutoscalerBehavior>(annotations, BEHAVIOR);
  const metadata = { ...object.metadata };
  dropRoundTripAnnotations(metadata);
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata,
    spec: {
      ...rest,
      ...(metrics.length > 0 && { metrics }),
      ...(behavior && { behavior: lower(behavior) as v2.HorizontalPodAutoscalerBehavior }),
    },
    ...(object.status && { status: statusToV2(object.status, annotations) }),
  };
}

function statusToV2(
  status: v1.HorizontalPodAutoscalerStatus,
  annotations: Record<string, string> | undefined,
): v2.HorizontalPodAutoscalerStatus {
  const { currentCPUUtilizationPercentage: cpu, ...rest } = status;
  const current = (parse<unknown[]>(annotations, CURRENT) ?? []).map(currentToV2);
  if (cpu !== undefined && current.length === 0)
    current.unshift({ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: cpu } } });
  const conditions = parse<v2.HorizontalPodAutoscalerCondition[]>(annotations, CONDITIONS);
  return {
    ...rest,
    ...(current.length > 0 && { currentMetrics: current }),
    ...(conditions && { conditions }),
  } as v2.HorizontalPodAutoscalerStatus;
}

/** Behaviour in the annotation has the member names of the internal type. */
function lower(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lower);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, v]) => v !== null)
      .map(([k, v]) => [k.charAt(0).toLowerCase() + k.slice(1), lower(v)]),
  );
}
function upper(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(upper);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k.charAt(0).toUpperCase() + k.slice(1), upper(v)]));
}

type Flat = Record<string, unknown>;

function target(value: unknown, average: unknown, utilization: unknown): v2.MetricTarget {
  if (utilization !== undefined) return { type: 'Utilization', averageUtilization: utilization as number };
  if (average !== undefined) return { type: 'AverageValue', averageValue: average as string };
  return { type: 'Value', value: value as string };
}

function metricToV2(given: unknown): v2.MetricSpec {
  const metric = given as Flat;
  const type = metric['type'] as v2.MetricSpec['type'];
  const inner = (metric[sourceKey(type)] ?? {}) as Flat;
  const resource = (): v2.ResourceMetricSource => ({
    name: inner['name'] as string,
    target: target(undefined, inner['targetAverageValue'], inner['targetAverageUtilization']),
  });
  const identifier = (): v2.MetricIdentifier => ({
    name: inner['metricName'] as string,
    ...((inner['selector'] ?? inner['metricSelector']) !== undefined && {
      selector: (inner['selector'] ?? inner['metricSelector']) as v2.MetricIdentifier['selector'] & object,
    }),
  });
  switch (type) {
    case 'Resource':
      return { type, resource: resource() };
    case 'ContainerResource':
      return { type, containerResource: { ...resource(), container: inner['container'] as string } };
    case 'Pods':
      return { type, pods: { metric: identifier(), target: target(undefined, inner['targetAverageValue'], undefined) } };
    case 'Object':
      return {
        type,
        object: {
          describedObject: inner['target'] as v2.CrossVersionObjectReference,
          metric: identifier(),
          target: target(inner['targetValue'], inner['averageValue'], undefined),
        },
      };
    default:
      return { type, external: { metric: identifier(), target: target(inner['targetValue'], inner['targetAverageValue'], undefined) } };
  }
}

const sourceKey = (type: string): string => (type ?? '').charAt(0).toLowerCase() + (type ?? '').slice(1);

function currentToV2(given: unknown): v2.MetricStatus {
  const metric = given as Flat;
  const type = metric['type'] as v2.MetricStatus['type'];
  const inner = (metric[sourceKey(type)] ?? {}) as Flat;
  const current = Object.fromEntries(
    [
      ['value', inner['currentValue']],
      ['averageValue', inner['currentAverageValue'] ?? inner['averageValue']],
      ['averageUtilization', inner['currentAverageUtilization']],
    ].filter(([, v]) => v !== undefined),
  );
  const name = inner['name'] !== undefined ? { name: inner['name'] } : { metric: { name: inner['metricName'] } };
  return {
    type,
    [sourceKey(type)]: { ...name, ...(inner['target'] !== undefined && { describedObject: inner['target'] }), current },
  } as unknown as v2.MetricStatus;
}

export function hpaFromV2(given: KubeObject): v1.HorizontalPodAutoscaler {
  const object = given as unknown as v2.HorizontalPodAutoscaler;
  const { metrics = [], behavior, ...spec } = object.spec;
  const { currentMetrics = [], conditions, ...status } = object.status ?? ({} as v2.HorizontalPodAutoscalerStatus);
  const isCpu = (m: v2.MetricSpec): boolean =>
    m.type === 'Resource' && m.resource?.name === 'cpu' && m.resource.target.averageUtilization !== undefined;
  const cpuAt = metrics.findIndex(isCpu);
  const cpu = metrics[cpuAt]?.resource?.target.averageUtilization;
  const others = metrics.filter((_, i) => i !== cpuAt);
  const currentAt =
    currentMetrics?.findIndex(
      (m) => m.type === 'Resource' && m.resource?.name === 'cpu' && m.resource.current?.averageUtilization !== undefined,
    ) ?? -1;
  const currentCpu = currentMetrics?.[currentAt]?.resource?.current.averageUtilization;
  const annotations: Record<string, string> = { ...withoutOwn(object.metadata.annotations) };
  if (others.length > 0) annotations[METRICS] = JSON.stringify(others.map((metric) => flat(metric, 'target')));
  if ((currentMetrics?.length ?? 0) > 0) annotations[CURRENT] = JSON.stringify(currentMetrics!.map((metric) => flat(metric, 'current')));
  if ((conditions?.length ?? 0) > 0) annotations[CONDITIONS] = JSON.stringify(conditions!.map(conditionFromV2));
  if (behavior) annotations[BEHAVIOR] = JSON.stringify(upper(behaviorShape(behavior)));
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
function behaviorShape(behavior: v2.HorizontalPodAutoscalerBehavior): object {
  const side = (rules: v2.HPAScalingRules | undefined): object | null =>
    rules
      ? {
          stabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
          selectPolicy: rules.selectPolicy ?? null,
          policies: (rules.policies ?? []).map(({ type, value, periodSeconds }) => ({ type, value, periodSeconds })),
          tolerance: rules.tolerance ?? null,
        }
      : null;
  return { scaleUp: side(behavior.scaleUp), scaleDown: side(behavior.scaleDown) };
}

function conditionFromV2(condition: v2.HorizontalPodAutoscalerCondition): object {
  const { type, status, lastTransitionTime, reason, message } = condition;
  return { type, status, lastTransitionTime: lastTransitionTime ?? null, ...(reason && { reason }), ...(message && { message }) };
}

interface Amounts {
  readonly value?: string;
  readonly averageValue?: string;
  readonly averageUtilization?: number;
}

/**
 * What is wanted of a metric and what was found have one form in the annotations: what names it, and its amounts under the names `target…` or
 * `current…`. Members stand in the order of the internal types. Amounts that those always have are '0' when absent.
 */
function flat(metric: v2.MetricSpec | v2.MetricStatus, form: 'target' | 'current'): object {
  const { type, resource, containerResource, pods, object, external } = metric;
  const zero = form === 'current' ? '0' : undefined;
  const drop = (o: Flat): Flat => Object.fromEntries(Object.entries(o).filter(([, v]) => v !== undefined));
  const amounts = (source: object): Amounts => (source as { target?: Amounts; current?: Amounts })[form] ?? {};
  const average = (source: object): Flat => ({
    [`${form}AverageUtilization`]: amounts(source).averageUtilization,
    [`${form}AverageValue`]: amounts(source).averageValue ?? zero,
  });
  if (resource) return { type, resource: drop({ name: resource.name, ...average(resource) }) };
  if (containerResource) {
    const { name, container } = containerResource;
    return { type, containerResource: drop({ name, ...average(containerResource), container }) };
  }
  if (pods) {
    const { name: metricName, selector } = pods.metric;
    return { type, pods: drop({ metricName, [`${form}AverageValue`]: amounts(pods).averageValue ?? zero, selector }) };
  }
  if (object) {
    const { name: metricName, selector } = object.metric;
    const { value = '0', averageValue } = amounts(object);
    return { type, object: drop({ target: object.describedObject, metricName, [`${form}Value`]: value, selector, averageValue }) };
  }
  const { name: metricName, selector: metricSelector } = external!.metric;
  const { value = zero, averageValue } = amounts(external!);
  return { type, external: drop({ metricName, metricSelector, [`${form}Value`]: value, [`${form}AverageValue`]: averageValue }) };
}
