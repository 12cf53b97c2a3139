/**
 * The targets of an autoscaler as text. Mirrors kubernetes `pkg/printers/internalversion` formatHPAMetrics.
 */
import { formatQuantity, parseQuantity } from '../../../machinery/api/quantity.ts';
import type { MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from '../../../machinery/api/types/autoscaling.v2.ts';

const SHOWN = 2;
const UNKNOWN = '<unknown>';
const text = (quantity: string | undefined): string => (quantity === undefined ? '<nil>' : formatQuantity(parseQuantity(quantity)));

export function targetsCell(specs: readonly MetricSpec[], statuses: readonly MetricStatus[]): string {
  if (specs.length === 0) return '<none>';
  const all = specs.map((spec, i) => metricText(spec, statuses[i]));
  return all.length > SHOWN ? `${all.slice(0, SHOWN).join(', ')} + ${all.length - SHOWN} more...` : all.join(', ');
}

function metricText(spec: MetricSpec, status: MetricStatus | undefined): string {
  switch (spec.type) {
    case 'External':
      return averageOrValue(spec.external?.target, status?.external);
    case 'Pods':
      return `${status?.pods ? text(status.pods.current?.averageValue) : UNKNOWN}/${text(spec.pods?.target?.averageValue)}`;
    case 'Object':
      return averageOrValue(spec.object?.target, status?.object);
    case 'Resource':
      return resourceText(spec.resource?.name ?? '', spec.resource?.target, status?.resource);
    case 'ContainerResource':
      return resourceText(spec.containerResource?.name ?? '', spec.containerResource?.target, status?.containerResource);
    default:
      return '<unknown type>';
  }
}

/** What was found of a metric of the same place in the status; amounts that it does not have print as nothing. */
type Found = { readonly current?: MetricValueStatus } | undefined;

function averageOrValue(target: MetricTarget | undefined, found: Found): string {
  const average = found?.current?.averageValue;
  if (target?.averageValue !== undefined) return `${average === undefined ? UNKNOWN : text(average)}/${text(target.averageValue)} (avg)`;
  return `${found ? text(found.current?.value) : UNKNOWN}/${text(target?.value)}`;
}

function resourceText(name: string, target: MetricTarget | undefined, found: Found): string {
  if (target?.averageValue !== undefined)
    return `${name}: ${found ? text(found.current?.averageValue) : UNKNOWN}/${text(target.averageValue)}`;
  const utilization = found?.current?.averageUtilization;
  return `${name}: ${utilization === undefined ? UNKNOWN : `${utilization}%`}/${target?.averageUtilization === undefined ? '<auto>' : `${target.averageUtilization}%`}`;
}
