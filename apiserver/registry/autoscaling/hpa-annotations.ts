/**
 * The metrics of autoscaling/v2 as autoscaling/v1 holds them: JSON in annotations, in a flat form of its own. Mirrors the MetricSpec and MetricStatus of
 * kubernetes `staging/src/k8s.io/api/autoscaling/v1/types.go` and their conversions.
 *
 * Invariant: an annotation is read whole or not at all; what has not the shape of its type vanishes without a word.
 */
import { decodeObject } from '../../../machinery/api/decode.ts';
import { encodeObject, parseJson } from '../../../machinery/api/json.ts';
import { isPlain, type Plain } from '../../../machinery/api/plain.ts';
import { structSchema, type TypeSchema, typeSchema } from '../../../machinery/api/schema/schema.ts';
import type * as v2 from '../../../machinery/api/types/autoscaling.v2.ts';

/** In the order in which they are printed. */
const SOURCES = ['object', 'pods', 'resource', 'containerResource', 'external'] as const;
type Source = (typeof SOURCES)[number];
type Form = 'target' | 'current';

type Row = [name: string, type: string, flags: string, protobuf: number];
const text = (name: string): Row => [name, 'string', '', 0];
const quantity = (name: string): Row => [name, 'quantity', '', 0];
const maybe = (name: string, type: string): Row => [name, type, 'op', 0];
const SELECTOR = 'meta.v1.LabelSelector';
const REFERENCE: Row = ['target', 'autoscaling.v1.CrossVersionObjectReference', '', 0];

/** What was found always has an amount where what is wanted may have none. */
function rows(source: Source, form: Form): Row[] {
  const amount = (name: string): Row => (form === 'current' ? quantity(name) : maybe(name, 'quantity'));
  const usage = [maybe(`${form}AverageUtilization`, 'int32'), amount(`${form}AverageValue`)];
  switch (source) {
    case 'object':
      return [REFERENCE, text('metricName'), quantity(`${form}Value`), maybe('selector', SELECTOR), maybe('averageValue', 'quantity')];
    case 'pods':
      return [text('metricName'), quantity(`${form}AverageValue`), maybe('selector', SELECTOR)];
    case 'resource':
      return [text('name'), ...usage];
    case 'containerResource':
      return [text('name'), ...usage, text('container')];
    case 'external':
      return [text('metricName'), maybe('metricSelector', SELECTOR), amount(`${form}Value`), maybe(`${form}AverageValue`, 'quantity')];
  }
}

const schemasOf = (form: Form): Record<Source, TypeSchema> =>
  Object.fromEntries(
    SOURCES.map((source) => [source, structSchema(`autoscaling.v1.${form}.${source}`, { fields: rows(source, form) })]),
  ) as Record<Source, TypeSchema>;

const SCHEMAS: Record<Form, Record<Source, TypeSchema>> = { target: schemasOf('target'), current: schemasOf('current') };

/** What is wanted of metrics, or undefined when the annotation does not say so. */
export const readSpecs = (annotation: string | undefined): v2.MetricSpec[] | undefined =>
  read(annotation, 'target') as v2.MetricSpec[] | undefined;
/** What was found of metrics. */
export const readStatuses = (annotation: string | undefined): v2.MetricStatus[] | undefined =>
  read(annotation, 'current') as v2.MetricStatus[] | undefined;
export const writeSpecs = (metrics: readonly v2.MetricSpec[]): string => write(metrics, 'target');
export const writeStatuses = (metrics: readonly v2.MetricStatus[]): string => write(metrics, 'current');

/** Decodes an annotation's list, each item by `item`; undefined when there is none or it does not fit. */
export function readList<T>(annotation: string | undefined, item: (value: Plain) => T): T[] | undefined {
  if (annotation === undefined) return undefined;
  try {
    const { value } = parseJson(annotation);
    if (value === null) return [];
    if (!Array.isArray(value) || !value.every((one) => one === null || isPlain(one))) return undefined;
    return value.map((one) => item((one ?? {}) as Plain));
  } catch {
    return undefined;
  }
}

const HEAD = structSchema('autoscaling.v1.MetricHead', { fields: [text('type')] });

function read(annotation: string | undefined, form: Form): object[] | undefined {
  return readList(annotation, (item) => {
    const { type = '' } = decodeObject(HEAD, { type: item['type'] }, { strict: false }).object;
    const metric: Plain = { type };
    for (const source of SOURCES) {
      const given = item[source];
      if (given === undefined || given === null) continue;
      metric[source] = unflat(source, form, decodeObject(SCHEMAS[form][source], given, { strict: false }).object);
    }
    return metric;
  });
}

function unflat(source: Source, form: Form, flat: Plain): Plain {
  const selector = flat['selector'] ?? flat['metricSelector'];
  const metric = { name: flat['metricName'] ?? '', ...(selector !== undefined && { selector }) };
  const named = {
    object: { describedObject: flat['target'] ?? { kind: '', name: '' }, metric },
    pods: { metric },
    resource: { name: flat['name'] ?? '' },
    containerResource: { name: flat['name'] ?? '', container: flat['container'] ?? '' },
    external: { metric },
  };
  return { ...named[source], [form]: amounts(source, form, flat) };
}

function amounts(source: Source, form: Form, flat: Plain): Plain {
  const isRequired = (name: string): boolean => SCHEMAS[form][source].member(name)?.pointer === false;
  const of = (name: string): unknown => flat[name] ?? (isRequired(name) ? '0' : undefined);
  const value = of(`${form}Value`);
  const averageValue = of(`${form}AverageValue`) ?? flat['averageValue'];
  const averageUtilization = flat[`${form}AverageUtilization`];
  const present = Object.fromEntries(
    Object.entries({ value, averageValue, averageUtilization }).filter(([, amount]) => amount !== undefined),
  );
  return form === 'current' ? present : { type: targetType(source, present), ...present };
}

/** The older form does not say of what type a target is: it follows from the amounts that there are. */
function targetType(source: Source, { value, averageValue, averageUtilization }: Plain): string {
  switch (source) {
    case 'object':
      return averageValue === undefined ? 'Value' : 'AverageValue';
    case 'external':
      return value === undefined ? 'AverageValue' : 'Value';
    case 'pods':
      return 'AverageValue';
    default:
      return averageUtilization === undefined ? 'AverageValue' : 'Utilization';
  }
}

function write(metrics: readonly (v2.MetricSpec | v2.MetricStatus)[], form: Form): string {
  return `[${metrics.map((metric) => writeOne(metric as unknown as Plain, form)).join()}]`;
}

function writeOne(metric: Plain, form: Form): string {
  const head = encodeObject(HEAD, { type: metric['type'] }).toString();
  const sources = SOURCES.filter((source) => metric[source] !== undefined).map(
    (source) => `"${source}":${encodeObject(SCHEMAS[form][source], flatten(metric[source] as Plain, form))}`,
  );
  return `${[head.slice(0, -1), ...sources].join()}}`;
}

/** All members that any source may have; the schema prints those that this one has. */
function flatten(source: Plain, form: Form): Plain {
  const { name: metricName, selector } = (source['metric'] ?? {}) as Partial<v2.MetricIdentifier>;
  const { value, averageValue, averageUtilization } = (source[form] ?? {}) as v2.MetricValueStatus;
  return {
    name: source['name'],
    container: source['container'],
    target: source['describedObject'],
    metricName,
    selector,
    metricSelector: selector,
    averageValue,
    [`${form}Value`]: value,
    [`${form}AverageValue`]: averageValue,
    [`${form}AverageUtilization`]: averageUtilization,
  };
}

const CONDITION = (): TypeSchema => typeSchema('autoscaling.v2.HorizontalPodAutoscalerCondition');

export const readConditions = (annotation: string | undefined): v2.HorizontalPodAutoscalerCondition[] | undefined =>
  readList(
    annotation,
    (item) => decodeObject(CONDITION(), item, { strict: false }).object as unknown as v2.HorizontalPodAutoscalerCondition,
  );

export const writeConditions = (conditions: readonly v2.HorizontalPodAutoscalerCondition[]): string =>
  `[${conditions.map((condition) => encodeObject(CONDITION(), condition)).join()}]`;
