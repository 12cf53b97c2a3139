/**
 * References to objects of any kind. Mirrors the typed references of kubernetes `networking/validation`, `autoscaling/validation` and `core/validation`.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain, pathSegmentName } from '../../../machinery/api/names.ts';

/** A name that becomes a part of a path: told when missing. */
export function requiredSegmentErrors(text: string | undefined, path: string, errors: FieldError[]): void {
  if (!text) errors.push(required(path));
  else segmentErrors(text, path, errors);
}

export function segmentErrors(text: string, path: string, errors: FieldError[]): void {
  for (const detail of pathSegmentName(text)) errors.push(invalidValue(path, text, detail));
}

export interface LocalReference {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
}

/** A group that is given must be one, even when it is empty. */
export function localReferenceErrors(reference: LocalReference, path: string, errors: FieldError[]): void {
  const { apiGroup } = reference;
  if (apiGroup !== undefined) for (const detail of dnsSubdomain(apiGroup)) errors.push(invalidValue(`${path}.apiGroup`, apiGroup, detail));
  requiredSegmentErrors(reference.kind, `${path}.kind`, errors);
  requiredSegmentErrors(reference.name, `${path}.name`, errors);
}

/** What is wrong with `group/version`, or undefined. */
export function groupVersionProblem(text: string): string | undefined {
  return text.split('/').length > 2 ? `unexpected GroupVersion string: ${text}` : undefined;
}
