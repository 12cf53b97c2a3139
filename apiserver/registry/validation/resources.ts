/**
 * Resource names, quantities and requirements. Mirrors kubernetes `core/validation` ValidateResourceRequirements.
 */
import { duplicate, type FieldError, forbiddenField, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { qualifiedName } from '../../../machinery/api/names.ts';
import {
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityMilli,
  quantityValue,
} from '../../../machinery/api/quantity.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { dnsLabelErrors } from './ip.ts';

const CONTAINER_RESOURCES = new Set(['cpu', 'memory', 'ephemeral-storage']);
const OBJECT_COUNTS = ['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps', 'persistentvolumeclaims'];
/** What quotas count by themselves. */
const QUOTA_RESOURCES = new Set([
  ...CONTAINER_RESOURCES,
  ...OBJECT_COUNTS,
  ...['requests', 'limits'].flatMap((kind) => [...CONTAINER_RESOURCES].map((name) => `${kind}.${name}`)),
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

export const isQuotaResource = (name: string): boolean =>
  QUOTA_RESOURCES.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-');
const isStandard = (name: string): boolean => name === 'storage' || isQuotaResource(name);
/** More may be promised than there is: not of huge pages and devices. */
export const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePages(name);

export function resourceNameErrors(name: string, path: string, errors: FieldError[]): void {
  const details = qualifiedName(name);
  for (const detail of details) errors.push(invalidValue(path, name, detail));
  if (details.length > 0) return;
  if (!name.includes('/') && !isStandard(name)) {
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

/** An amount that is not below nothing, where upstream says no more than that. */
export function basicQuantityErrors(value: string, path: string, errors: FieldError[]): void {
  const amount = quantityValue(parseQuantity(value));
  if (amount < 0) errors.push(invalidValue(path, amount, 'must be a valid resource quantity'));
}

function hugePageErrors(name: string, quantity: Quantity, path: string, errors: FieldError[]): void {
  if (!isHugePages(name)) return;
  let size: Quantity | undefined;
  try {
    size = parseQuantity(name.slice('hugepages-'.length));
  } catch {
    size = undefined;
  }
  const whole = size !== undefined && quantityMilli(size) > 0 && quantityMilli(size) % 1000 === 0;
  if (whole && quantityValue(quantity) % quantityValue(size!) === 0) return;
  const text = formatQuantity(quantity);
  errors.push(invalidValue(path, text, `${text} is not positive integer multiple of ${name}`));
}

export function containerResourceErrors(
  resources: core.ResourceRequirements,
  claims: readonly core.PodResourceClaim[] | undefined,
  path: string,
  errors: FieldError[],
): void {
  if (resources.limits || resources.requests) requirementErrors(resources, containerResourceNameErrors, path, errors);
  if (resources.claims) claimErrors(resources.claims, claims ?? [], `${path}.claims`, errors);
}

export type ResourceNameRule = (name: string, path: string, errors: FieldError[]) => void;

/** Requests and limits; `nameRule` says which resources there may be. */
export function requirementErrors(
  { limits = {}, requests = {} }: core.ResourceRequirements,
  nameRule: ResourceNameRule,
  path: string,
  errors: FieldError[],
): void {
  const parsed = new Map<string, Quantity>();
  for (const name of Object.keys(limits).sort()) {
    const at = `${path}.limits[${name}]`;
    nameRule(name, at, errors);
    const quantity = quantityErrors(name, limits[name]!, at, errors);
    hugePageErrors(name, quantity, at, errors);
    parsed.set(name, quantity);
  }
  for (const name of Object.keys(requests).sort()) {
    const at = `${path}.requests[${name}]`;
    nameRule(name, at, errors);
    const quantity = quantityErrors(name, requests[name]!, at, errors);
    requestAgainstLimit(name, [quantity, parsed.get(name)], path, errors);
    hugePageErrors(name, quantity, at, errors);
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory'))
    errors.push(forbiddenField(path, 'HugePages require cpu or memory'));
}

type RequestAndLimit = readonly [request: Quantity, limit: Quantity | undefined];

function requestAgainstLimit(name: string, [request, limit]: RequestAndLimit, path: string, errors: FieldError[]): void {
  const overcommitted = isOvercommitAllowed(name);
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

/** What a pod needs beside its containers: bounded like limits. */
export const overheadErrors = (overhead: Record<string, string>, path: string, errors: FieldError[]): void =>
  requirementErrors({ limits: overhead }, containerResourceNameErrors, path, errors);

function claimErrors(
  claims: readonly core.ResourceClaim[],
  known: readonly core.PodResourceClaim[],
  path: string,
  errors: FieldError[],
): void {
  const seen = new Set<string>();
  claims.forEach((claim, i) => {
    const at = `${path}[${i}]`;
    const { name = '', request = '' } = claim;
    if (name === '') {
      errors.push(required(at));
      return;
    }
    referenceErrors([name, request], seen, at, errors);
    if (!known.some((c) => c.name === name)) errors.push(unknownClaim(at, name, known));
  });
}

/** A claim is referred to as a whole once, or request by request. */
function referenceErrors([name, request]: readonly [string, string], seen: Set<string>, path: string, errors: FieldError[]): void {
  if (seen.has(name)) {
    errors.push(duplicate(path, name));
    return;
  }
  if (request !== '') dnsLabelErrors(request, `${path}.request`, errors);
  const key = request === '' ? name : `${name}/${request}`;
  if (seen.has(key)) errors.push(duplicate(path, key));
  else if (request === '') for (const other of seen) if (other.startsWith(`${name}/`)) errors.push(duplicate(path, name));
  seen.add(key);
}

function unknownClaim(field: string, name: string, known: readonly core.PodResourceClaim[]): FieldError {
  const names = known.map((c) => c.name).sort();
  const detail = `must be one of the names in pod.spec.resourceClaims${names.length === 0 ? ' which is empty' : `: ${names.join(', ')}`}`;
  const body = `Not found: ${JSON.stringify(name)}: ${detail}`;
  return { type: 'FieldValueNotFound', field, body, message: `${field}: ${body}` };
}
