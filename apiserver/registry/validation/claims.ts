/**
 * Volume claims: those of their own, of ephemeral volumes and of stateful sets. Mirrors kubernetes `core/validation` ValidatePersistentVolumeClaimSpec.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain } from '../../../machinery/api/names.ts';
import { formatQuantity, parseQuantity, quantityMilli } from '../../../machinery/api/quantity.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { annotationErrors, labelErrors } from './metadata.ts';
import { labelSelectorErrors } from './selectors.ts';

export const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];

export function accessModeErrors(modes: readonly string[], path: string, errors: FieldError[]): void {
  for (const mode of modes) if (!ACCESS_MODES.includes(mode)) errors.push(notSupported(path, mode, ACCESS_MODES));
  if (modes.includes('ReadWriteOncePod') && modes.length > 1) {
    errors.push(forbiddenField(path, 'may not use ReadWriteOncePod with other access modes'));
  }
}

export function claimSpecErrors(spec: core.PersistentVolumeClaimSpec, path: string, errors: FieldError[]): void {
  const modes = spec.accessModes ?? [];
  if (modes.length === 0) errors.push(required(`${path}.accessModes`, 'at least 1 access mode is required'));
  labelSelectorErrors(spec.selector, `${path}.selector`, errors);
  accessModeErrors(modes, `${path}.accessModes`, errors);
  const storage = spec.resources?.requests?.['storage'];
  if (storage === undefined) errors.push(required(`${path}.resources[storage]`));
  else if (quantityMilli(parseQuantity(storage)) <= 0) {
    errors.push(invalidValue(`${path}.resources[storage]`, formatQuantity(parseQuantity(storage)), 'must be greater than zero'));
  }
  if (spec.storageClassName) {
    for (const detail of dnsSubdomain(spec.storageClassName))
      errors.push(invalidValue(`${path}.storageClassName`, spec.storageClassName, detail));
  }
  if (spec.volumeMode !== undefined && !VOLUME_MODES.includes(spec.volumeMode)) {
    errors.push(notSupported(`${path}.volumeMode`, spec.volumeMode, VOLUME_MODES));
  }
}

/** Only labels and annotations may be set on the claim of an ephemeral volume. */
export function claimTemplateErrors(template: core.PersistentVolumeClaimTemplate, path: string, errors: FieldError[]): void {
  const metadata = template.metadata ?? {};
  labelErrors(metadata.labels, `${path}.metadata.labels`, errors);
  annotationErrors(metadata.annotations, `${path}.metadata.annotations`, errors);
  for (const [key, value] of Object.entries(metadata)) {
    if (key !== 'labels' && key !== 'annotations' && value !== undefined)
      errors.push(forbiddenField(`${path}.metadata.${key}`, 'cannot be set'));
  }
  claimSpecErrors(template.spec ?? {}, `${path}.spec`, errors);
}
