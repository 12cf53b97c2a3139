/**
 * Resources of a pod as a whole, which bound those of its containers. Mirrors kubernetes `core/validation` validatePodResources.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported } from '../../../machinery/api/field-error.ts';
import { formatQuantity, parseQuantity } from '../../../machinery/api/quantity.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { type Amounts, compareTexts, containerAmounts } from '../admission/pod-usage.ts';
import { isHugePages, requirementErrors, resourceNameErrors } from './resources.ts';

const SUPPORTED = ['cpu', 'hugepages-', 'memory'];

/** What can be said of a pod as a whole. */
export const isPodResource = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name);

function nameErrors(name: string, path: string, errors: FieldError[]): void {
  const before = errors.length;
  resourceNameErrors(name, path, errors);
  if (errors.length === before && !isPodResource(name)) errors.push(notSupported(path, name, SUPPORTED));
}

export function podResourceErrors(spec: core.PodSpec, path: string, errors: FieldError[]): void {
  if (spec.os?.name === 'windows') {
    errors.push(forbiddenField(path, 'may not be set for a windows pod'));
    return;
  }
  const resources = spec.resources!;
  if (resources.claims) errors.push(forbiddenField(`${path}.claims`, 'claims may not be set for Resources at pod-level'));
  if (resources.limits || resources.requests) requirementErrors(resources, nameErrors, path, errors);
  consistencyErrors(spec, path, errors);
}

const canonical = (text: string): string => formatQuantity(parseQuantity(text));

function consistencyErrors(spec: core.PodSpec, path: string, errors: FieldError[]): void {
  const requests = (spec.resources!.requests ?? {}) as Amounts;
  const limits = (spec.resources!.limits ?? {}) as Amounts;
  sumErrors(containerAmounts(spec, 'requests'), requests, ['requests', path], errors);
  const pages = Object.entries(containerAmounts(spec, 'limits')).filter(([name]) => isHugePages(name));
  sumErrors(Object.fromEntries(pages), limits, ['limits', path], errors);
  (spec.containers ?? []).forEach((container, i) => {
    const own = (container.resources?.limits ?? {}) as Amounts;
    for (const name of Object.keys(own).sort()) {
      const bound = limits[name];
      if (bound === undefined || compareTexts(own[name]!, bound) <= 0) continue;
      const detail = `must be less than or equal to pod limits of ${canonical(bound)}`;
      errors.push(invalidValue(`${path}.containers[${i}][${name}].limits`, canonical(own[name]!), detail));
    }
  });
}

/** The containers together may not ask for more than the pod. */
function sumErrors(sums: Amounts, given: Amounts, [side, path]: readonly [string, string], errors: FieldError[]): void {
  for (const name of Object.keys(sums).sort()) {
    const bound = given[name];
    if (bound === undefined || compareTexts(sums[name]!, bound) <= 0) continue;
    const detail = `must be greater than or equal to aggregate container ${side} of ${canonical(sums[name]!)}`;
    errors.push(invalidValue(`${path}.${side}[${name}]`, canonical(bound), detail));
  }
}
