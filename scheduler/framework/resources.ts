/**
 * Amounts of resources as plain numbers: cpu in thousandths, everything else in its unit. Mirrors upstream `framework.Resource` and
 * `component-helpers/resource.PodRequests`.
 */
import { parseQuantity, quantityMilli, quantityValue } from '../../machinery/api/quantity.ts';
import type { Container, Pod, ResourceList } from '../../machinery/api/types/core.v1.ts';

/** By resource name: `cpu` in thousandths. */
export type Amounts = Map<string, number>;

const parsed = new Map<string, number>();
const MAX_PARSED = 10_000;

function amount(name: string, text: string): number {
  const key = name === 'cpu' ? `m${text}` : `v${text}`;
  let value = parsed.get(key);
  if (value === undefined) {
    const quantity = parseQuantity(text);
    value = name === 'cpu' ? quantityMilli(quantity) : quantityValue(quantity);
    if (parsed.size >= MAX_PARSED) parsed.clear();
    parsed.set(key, value);
  }
  return value;
}

export function amountsOf(list: ResourceList | undefined): Amounts {
  const amounts: Amounts = new Map();
  for (const [name, text] of Object.entries(list ?? {})) amounts.set(name, amount(name, String(text)));
  return amounts;
}

export function addTo(target: Amounts, other: Amounts, sign = 1): void {
  for (const [name, value] of other) {
    const sum = (target.get(name) ?? 0) + sign * value;
    if (sum === 0) target.delete(name);
    else target.set(name, sum);
  }
}

function raiseTo(target: Amounts, other: Amounts): void {
  for (const [name, value] of other) if (value > (target.get(name) ?? 0)) target.set(name, value);
}

/** What scoring assumes of a container that asks for nothing: 100m and 200 MB. */
const ASSUMED: ReadonlyMap<string, number> = new Map([
  ['cpu', 100],
  ['memory', 200 * 1024 * 1024],
]);

/**
 * What a pod asks for: its containers and sidecars together, or the largest init container beside the sidecars started before it, whichever is more;
 * plus the overhead. With `assume` containers that ask for no cpu or memory count with a small assumed amount.
 */
export function podRequests(pod: Pod, assume = false): Amounts {
  const of = (container: Container): Amounts => {
    const amounts = amountsOf(container.resources?.requests);
    if (assume) for (const [name, value] of ASSUMED) if (!amounts.has(name)) amounts.set(name, value);
    return amounts;
  };
  const total: Amounts = new Map();
  for (const container of pod.spec.containers) addTo(total, of(container));
  const sidecars: Amounts = new Map();
  const initPeak: Amounts = new Map();
  for (const container of pod.spec.initContainers ?? []) {
    const own = of(container);
    if (container.restartPolicy === 'Always') {
      addTo(total, own);
      addTo(sidecars, own);
      raiseTo(initPeak, sidecars);
    } else {
      addTo(own, sidecars);
      raiseTo(initPeak, own);
    }
  }
  raiseTo(total, initPeak);
  for (const [name, value] of amountsOf(pod.spec.resources?.requests)) total.set(name, value);
  addTo(total, amountsOf(pod.spec.overhead));
  return total;
}
