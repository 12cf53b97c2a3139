/**
 * Resource names, quantities and requirements. Mirrors kubernetes `core/validation` ValidateResourceRequirements.
 */
import { duplicate, type FieldError, forbiddenField, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { qualifiedName } from '../../../machinery/api/names.ts';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityMilli,
} from '../../../machinery/api/quantity.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';

const CONTAINER_RESOURCES = new Set(['cpu', 'memory', 'ephemeral-storage']);
const OBJECT_COUNTS = ['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps', 'persistentvolumeclaims'];
const STANDARD_RESOURCES = new Set([
  ...CONTAINER_RESOURCES,
  ...OBJECT_COUNTS,
  ...['requests', 'limits'].flatMap((kind) => [...CONTAINER_RESOURCES].map((name) => `${kind}.${name}`)),
  'storage',
  'requests.storage',
  'services.nodeports',
  'services.loadbalancers',
]);
const INTEGER_RESOURCES = new Set([...OBJECT_COUNTS, 'services.nodeports', 'services.loadbalancers']);

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
/** Resources of Kubernetes itself: no domain, or kubernetes.io. */
export const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
export const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0;

export const isContainerResource = (name: string): boolean => CONTAINER_RESOURCES.has(name) || isHugePages(name);
export const isQuotaResource = (name: string): boolean =>
  STANDARD_RESOURCES.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-');

export function resourceNameErrors(name: string, path: string, errors: FieldError[]): void {
  const details = qualifiedName(name);
  for (const detail of details) errors.push(invalidValue(path, name, detail));
  if (details.length > 0) return;
  if (!name.includes('/') && !STANDARD_RESOURCES.has(name) && !isHugePages(name)) {
    errors.push(invalidValue(path, name, 'must be a standard resource type or fully qualified'));
  }
}

export function containerResourceNameErrors(name: string, path: string, errors: FieldError[]): void {
  resourceNameErrors(name, path, errors);
  if (!name.includes('/')) {
    if (!CONTAINER_RESOURCES.has(name) && !isHugePages(name))
      errors.push(invalidValue(path, name, 'must be a standard resource for containers'));
  } else if (!isNative(name) && !isExtended(name)) errors.push(invalidValue(path, name, "doesn't follow extended resource name standard"));
}

/** Not negative, and whole where the resource is counted. Returns the parsed quantity. */
export function quantityErrors(name: string, value: string, path: string, errors: FieldError[]): Quantity {
  const quantity = parseQuantity(value);
  if (quantityMilli(quantity) < 0) errors.push(invalidValue(path, formatQuantity(quantity), 'must be greater than or equal to 0'));
  if ((INTEGER_RESOURCES.has(name) || isExtended(name)) && quantityMilli(quantity) % 1000 !== 0) {
    errors.push(invalidValue(path, formatQuantity(quantity), 'must be an integer'));
  }
  return quantity;
}

function hugePageErrors(name: string, quantity: Quantity, path: string, errors: FieldError[]): void {
  if (!isHugePages(name)) return;
  let size: number;
  try {
    size = quantityMilli(parseQuantity(name.slice('hugepages-'.length)));
  } catch {
    size = 0;
  }
  if (size > 0 && quantityMilli(quantity) % size === 0) return;
  const text = formatQuantity(quantity);
  errors.push(invalidValue(path, text, `${text} is not positive integer multiple of ${name}`));
}

export function containerResourceErrors(
  resources: core.ResourceRequirements,
  claims: readonly core.PodResourceClaim[] | undefined,
  path: string,
  errors: FieldError[],
): void {
  if (resources.limits || resources.requests) requirementErrors(resources, path, errors);
  if (resources.claims) claimErrors(resources.claims, claims ?? [], `${path}.claims`, errors);
}

function requirementErrors({ limits = {}, requests = {} }: core.ResourceRequirements, path: string, errors: FieldError[]): void {
  let computes = false;
  let hugePages = false;
  const parsed = new Map<string, Quantity>();
  for (const name of Object.keys(limits).sort()) {
    const at = `${path}.limits[${name}]`;
    containerResourceNameErrors(name, at, errors);
    const quantity = quantityErrors(name, limits[name]!, at, errors);
    hugePageErrors(name, quantity, at, errors);
    parsed.set(name, quantity);
    computes ||= name === 'cpu' || name === 'memory';
    hugePages ||= isHugePages(name);
  }
  for (const name of Object.keys(requests).sort()) {
    const at = `${path}.requests[${name}]`;
    containerResourceNameErrors(name, at, errors);
    const quantity = quantityErrors(name, requests[name]!, at, errors);
    hugePageErrors(name, quantity, at, errors);
    requestAgainstLimit(name, quantity, parsed.get(name), path, errors);
    computes ||= name === 'cpu' || name === 'memory';
    hugePages ||= isHugePages(name);
  }
  if (hugePages && !computes) errors.push(forbiddenField(path, 'HugePages require cpu or memory'));
}

function requestAgainstLimit(name: string, request: Quantity, limit: Quantity | undefined, path: string, errors: FieldError[]): void {
  const overcommitted = isNative(name) && !isHugePages(name);
  if (limit === undefined) {
    if (!overcommitted) errors.push(required(`${path}.limits`, 'Limit must be set for non overcommitable resources'));
    return;
  }
  const order = compareQuantities(request, limit);
  if (order !== 0 && !overcommitted) {
    errors.push(invalidValue(`${path}.requests`, formatQuantity(request), `must be equal to ${name} limit of ${formatQuantity(limit)}`));
  } else if (order > 0) {
    const detail = `must be less than or equal to ${name} limit of ${formatQuantity(limit)}`;
    errors.push(invalidValue(`${path}.requests`, formatQuantity(request), detail));
  }
}

function claimErrors(
  claims: readonly core.ResourceClaim[],
  known: readonly core.PodResourceClaim[],
  path: string,
  errors: FieldError[],
): void {
  const seen = new Set<string>();
  claims.forEach((claim, i) => {
    const at = `${path}[${i}]`;
    const name = claim.name ?? '';
    if (name === '') errors.push(required(at));
    else {
      const key = claim.request ? `${name}/${claim.request}` : name;
      if (seen.has(name) || seen.has(key)) errors.push(duplicate(at, name));
      else seen.add(key);
      if (!known.some((c) => c.name === name)) errors.push(unknownClaim(at, name, known));
    }
  });
}

function unknownClaim(field: string, name: string, known: readonly core.PodResourceClaim[]): FieldError {
  const names = known.map((c) => c.name).sort();
  const detail = `must be one of the names in pod.spec.resourceClaims${names.length === 0 ? ' which is empty' : `: ${names.join(', ')}`}`;
  const body = `Not found: ${JSON.stringify(name)}: ${detail}`;
  return { type: 'FieldValueNotFound', field, body, message: `${field}: ${body}` };
}

const POD_RESOURCES = new Set(['cpu', 'memory']);

/** Resources of the pod as a whole bound those of its containers. */
export function podLevelResourceErrors(spec: core.PodSpec, path: string, errors: FieldError[]): void {
  const resources = spec.resources!;
  if (resources.claims) errors.push(forbiddenField(`${path}.claims`, 'claims cannot be set for Resources at pod-level'));
  for (const member of ['limits', 'requests'] as const) {
    for (const name of Object.keys(resources[member] ?? {}).sort()) {
      if (!POD_RESOURCES.has(name) && !isHugePages(name)) {
        const supported = 'cpu, hugepages-, memory';
        errors.push(invalidValue(`${path}.${member}[${name}]`, name, `must be one of ${supported}`));
      }
    }
  }
  if (resources.limits || resources.requests) requirementErrors(resources, path, errors);
  aggregateErrors(spec, path, errors);
}

function aggregateErrors(spec: core.PodSpec, path: string, errors: FieldError[]): void {
  const { requests = {}, limits = {} } = spec.resources!;
  const totals = new Map<string, Quantity>();
  for (const container of spec.containers ?? []) {
    for (const [name, value] of Object.entries(container.resources?.requests ?? {})) {
      const sum = totals.get(name);
      totals.set(name, sum === undefined ? parseQuantity(value) : addQuantities(sum, parseQuantity(value)));
    }
  }
  for (const [name, total] of [...totals].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!POD_RESOURCES.has(name) && !isHugePages(name)) continue;
    const given = parseQuantity(requests[name] ?? '0');
    if (compareQuantities(total, given) <= 0) continue;
    const detail = `must be greater than or equal to aggregate container requests of ${formatQuantity(total)}`;
    errors.push(invalidValue(`${path}.requests[${name}]`, formatQuantity(given), detail));
  }
  (spec.containers ?? []).forEach((container, i) => {
    for (const name of Object.keys(container.resources?.limits ?? {}).sort()) {
      const bound = limits[name];
      const limit = parseQuantity(container.resources!.limits![name]!);
      if (bound === undefined || compareQuantities(limit, parseQuantity(bound)) <= 0) continue;
      const detail = `must be less than or equal to pod limits of ${formatQuantity(parseQuantity(bound))}`;
      errors.push(invalidValue(`${path}.containers[${i}][${name}].limits`, formatQuantity(limit), detail));
    }
  });
}
