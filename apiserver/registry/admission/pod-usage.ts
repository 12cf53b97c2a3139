/**
 * What a pod asks for as a whole: containers run together, init containers one after another before them, those that go on running beside both.
 * Mirrors kubernetes `component-helpers/resource` PodRequests and PodLimits.
 *
 * Example: init containers of 3 and 1 CPU (the second restarts always) before containers of 1 and 1: max(3, 1 + 1 + 1) = 3.
 */
import { addQuantities, compareQuantities, formatQuantity, parseQuantity } from '../../../machinery/api/quantity.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';

export type Amounts = Record<string, string>;
type Side = 'requests' | 'limits';

export function addAmounts(a: Amounts, b: Amounts): Amounts {
  const sum: Amounts = { ...a };
  for (const [name, value] of Object.entries(b)) sum[name] = sum[name] === undefined ? value : addTexts(sum[name]!, value);
  return sum;
}

export const addTexts = (a: string, b: string): string => formatQuantity(addQuantities(parseQuantity(a), parseQuantity(b)));
export const compareTexts = (a: string, b: string): number => compareQuantities(parseQuantity(a), parseQuantity(b));

function maxAmounts(a: Amounts, b: Amounts): Amounts {
  const max: Amounts = { ...a };
  for (const [name, value] of Object.entries(b)) if (max[name] === undefined || compareTexts(value, max[name]!) > 0) max[name] = value;
  return max;
}

/** Of the containers alone, whatever the pod as a whole says. */
export function containerAmounts(spec: core.PodSpec, side: Side): Amounts {
  const of = (container: core.Container): Amounts => (container.resources?.[side] ?? {}) as Amounts;
  let running: Amounts = {};
  for (const container of spec.containers ?? []) running = addAmounts(running, of(container));
  let beside: Amounts = {};
  let starting: Amounts = {};
  for (const container of spec.initContainers ?? []) {
    if (container.restartPolicy === 'Always') {
      beside = addAmounts(beside, of(container));
      running = addAmounts(running, of(container));
      starting = maxAmounts(starting, beside);
    } else starting = maxAmounts(starting, addAmounts(beside, of(container)));
  }
  return maxAmounts(running, starting);
}

export function podAmounts({ spec }: core.Pod, side: Side): Amounts {
  const sum = { ...containerAmounts(spec, side), ...((spec.resources?.[side] ?? {}) as Amounts) };
  return withOverhead(sum, (spec.overhead ?? {}) as Amounts, side);
}

/** A limit that nobody set does not come into being by the overhead. */
function withOverhead(sum: Amounts, overhead: Amounts, side: Side): Amounts {
  const counted = Object.entries(overhead).filter(([name]) => side === 'requests' || sum[name] !== undefined);
  return addAmounts(sum, Object.fromEntries(counted));
}
