/**
 * Rules of the metrics of an autoscaler. Mirrors kubernetes `autoscaling/validation` validateMetrics. Of several sources in one metric only the first,
 * in the order of `SOURCES`, is looked into.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dnsLabel } from '../../../machinery/api/names.ts';
import { compareQuantities, formatQuantity, parseQuantity } from '../../../machinery/api/quantity.ts';
import type {
  CrossVersionObjectReference,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from '../../../machinery/api/types/autoscaling.v2.ts';
import { groupVersionProblem, requiredSegmentErrors, segmentErrors } from '../validation/references.ts';
import { containerResourceNameErrors } from '../validation/resources.ts';

const SOURCE_TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];
const TARGET_TYPES = ['Utilization', 'Value', 'AverageValue'];
const TARGET_TYPE_DETAIL = 'must be either Utilization, Value, or AverageValue';

type Source = 'object' | 'external' | 'pods' | 'resource' | 'containerResource';
const SOURCES: readonly Source[] = ['object', 'external', 'pods', 'resource', 'containerResource'];

export function metricsErrors(metrics: readonly MetricSpec[], path: string, errors: FieldError[]): void {
  metrics.forEach((metric, i) => {
    metricErrors(metric, `${path}[${i}]`, errors);
  });
}

function metricErrors(metric: MetricSpec, path: string, errors: FieldError[]): void {
  const type: string = metric.type ?? '';
  const known = SOURCE_TYPES.includes(type);
  if (type === '') errors.push(required(`${path}.type`, 'must specify a metric source type'));
  if (!known) errors.push(notSupported(`${path}.type`, type, SOURCE_TYPES));
  const present = SOURCES.filter((source) => metric[source]);
  const [first] = present;
  if (first) sourceErrors(metric, first, `${path}.${first}`, errors);
  const expected = `${type.charAt(0).toLowerCase()}${type.slice(1)}` as Source;
  if (!known) errors.push(notSupported(`${path}.type`, type, SOURCE_TYPES));
  else if (!metric[expected]) errors.push(required(`${path}.${expected}`, 'must populate information for the given metric source'));
  if (present.length === 1) return;
  for (const source of present) {
    if (source !== expected) errors.push(forbiddenField(`${path}.${source}`, 'must populate the given metric source only'));
  }
}

function sourceErrors(metric: MetricSpec, source: Source, path: string, errors: FieldError[]): void {
  const { target = {} as MetricTarget } = metric[source]!;
  const at = `${path}.target`;
  if (source === 'object') versionedReferenceErrors(metric.object!.describedObject, `${path}.describedObject`, errors, true);
  if (source === 'object' || source === 'external' || source === 'pods') identifierErrors(metric[source]!.metric, `${path}.metric`, errors);
  else resourceNameErrors(metric, source, path, errors);
  targetErrors(target, at, errors);
  const { value, averageValue, averageUtilization } = target;
  switch (source) {
    case 'object':
      if (value === undefined && averageValue === undefined) {
        errors.push(required(`${at}.averageValue`, 'must set either a target value or averageValue'));
      }
      break;
    case 'external':
      if (value === undefined && averageValue === undefined) {
        errors.push(required(`${at}.averageValue`, 'must set either a target value for metric or a per-pod target'));
      } else if (value !== undefined && averageValue !== undefined) {
        errors.push(forbiddenField(`${at}.value`, 'may not set both a target value for metric and a per-pod target'));
      }
      break;
    case 'pods':
      if (averageValue === undefined) errors.push(required(`${at}.averageValue`, 'must specify a positive target averageValue'));
      break;
    default:
      if (averageUtilization === undefined && averageValue === undefined) {
        errors.push(required(`${at}.averageUtilization`, 'must set either a target raw value or a target utilization'));
      } else if (averageUtilization !== undefined && averageValue !== undefined) {
        errors.push(forbiddenField(`${at}.averageValue`, 'may not set both a target raw value and a target utilization'));
      }
  }
}

function resourceNameErrors(metric: MetricSpec, source: 'resource' | 'containerResource', path: string, errors: FieldError[]): void {
  const name = metric[source]!.name ?? '';
  if (name === '') errors.push(required(`${path}.name`, 'must specify a resource name'));
  if (source === 'resource') return;
  if (name !== '') containerResourceNameErrors(name, `${path}.name`, errors);
  const container = metric.containerResource!.container ?? '';
  if (container === '') errors.push(required(`${path}.container`, 'must specify a container'));
  else for (const detail of dnsLabel(container)) errors.push(invalidValue(`${path}.container`, container, detail));
}

function identifierErrors(identifier: MetricIdentifier | undefined, path: string, errors: FieldError[]): void {
  const name = identifier?.name ?? '';
  if (name === '') errors.push(required(`${path}.name`, 'must specify a metric name'));
  else segmentErrors(name, `${path}.name`, errors);
}

function targetErrors(target: MetricTarget, path: string, errors: FieldError[]): void {
  const type: string = target.type ?? '';
  if (type === '') errors.push(required(`${path}.type`, 'must specify a metric target type'));
  if (!TARGET_TYPES.includes(type)) errors.push(invalidValue(`${path}.type`, type, TARGET_TYPE_DETAIL));
  for (const member of ['value', 'averageValue'] as const) {
    const text = target[member];
    if (text === undefined) continue;
    const quantity = parseQuantity(text);
    if (compareQuantities(quantity, parseQuantity(0)) <= 0)
      errors.push(invalidValue(`${path}.${member}`, formatQuantity(quantity), 'must be positive'));
  }
  const utilization = target.averageUtilization;
  if (utilization !== undefined && utilization < 1) {
    errors.push(invalidValue(`${path}.averageUtilization`, utilization, 'must be greater than 0'));
  }
}

/** A reference to an object by kind and name. */
export function referenceErrors(reference: CrossVersionObjectReference | undefined, path: string, errors: FieldError[]): void {
  requiredSegmentErrors(reference?.kind, `${path}.kind`, errors);
  requiredSegmentErrors(reference?.name, `${path}.name`, errors);
}

/** The same with the version, which has to name a group unless the object may be one of the core group. */
export function versionedReferenceErrors(
  reference: CrossVersionObjectReference | undefined,
  path: string,
  errors: FieldError[],
  mayBeCore: boolean,
): void {
  referenceErrors(reference, path, errors);
  const version = reference?.apiVersion ?? '';
  const group = version.split('/').length === 2 ? version.slice(0, version.indexOf('/')) : '';
  const problem = groupVersionProblem(version) ?? (mayBeCore || group !== '' ? undefined : 'apiVersion must specify API group');
  if (problem !== undefined) errors.push(invalidValue(`${path}.apiVersion`, version, problem));
}
