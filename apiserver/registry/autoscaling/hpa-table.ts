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
      return averageOrValue(spec.external?.target, status?.external?.current);
    case 'Pods':
      return `${status?.pods ? text(status.pods.current?.averageValue) : UNKNOWN}/${text(spec.pods?.target?.averageValue)}`;
    case 'Object':
      return averageOrValue(spec.object?.target, status?.object?.current);
    case 'Resource':
      return resourceText(spec.resource?.name ?? '', spec.resource?.target, status?.resource?.current);
    case 'ContainerResource':
      return resourceText(spec.containerResource?.name ?? '', spec.containerResource?.target, status?.containerResource?.current);
    default:
      return '<unknown type>';
  }
}

function averageOrValue(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined)
    return `${current?.averageValue === undefined ? UNKNOWN : text(current.averageValue)}/${text(target.averageValue)} (avg)`;
  return `${current?.value === undefined ? UNKNOWN : text(current.value)}/${text(target?.value)}`;
}

function resourceText(name: string, target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${name}: ${current ? text(current.averageValue) : UNKNOWN}/${text(target.averageValue)}`;
  const utilization = current?.averageUtilization;
  return `${name}: ${utilization === undefined ? UNKNOWN : `${utilization}%`}/${target?.averageUtilization === undefined ? '<auto>' : `${target.averageUtilization}%`}`;
}
