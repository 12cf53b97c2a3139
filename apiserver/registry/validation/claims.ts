/**
 * Volume claims: those of their own, of ephemeral volumes and of stateful sets. Mirrors kubernetes `core/validation` ValidatePersistentVolumeClaimSpec.
 */
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dnsLabel, dnsSubdomain } from '../../../machinery/api/names.ts';
import type { ObjectMeta } from '../../../machinery/api/object.ts';
import { formatQuantity, parseQuantity, quantityMilli } from '../../../machinery/api/quantity.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { annotationErrors, labelErrors } from './metadata.ts';
import { labelSelectorErrors } from './selectors.ts';

export const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];

export function accessModeErrors(modes: readonly string[], path: string, errors: FieldError[]): void {
  for (const mode of modes) if (!ACCESS_MODES.includes(mode)) errors.push(notSupported(path, mode, ACCESS_MODES));
  if (modes.includes('ReadWriteOncePod') && modes.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode))) {
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
  classNameErrors(spec.storageClassName, `${path}.storageClassName`, errors);
  if (spec.volumeMode !== undefined && !VOLUME_MODES.includes(spec.volumeMode)) {
    errors.push(notSupported(`${path}.volumeMode`, spec.volumeMode, VOLUME_MODES));
  }
  dataSourceErrors(spec, path, errors);
  classNameErrors(spec.volumeAttributesClassName, `${path}.volumeAttributesClassName`, errors);
}

export function classNameErrors(name: string | undefined, path: string, errors: FieldError[]): void {
  if (name) for (const detail of dnsSubdomain(name)) errors.push(invalidValue(path, name, detail));
}

/** A claim is filled from one source; the older field must say the same as the newer where both are there. */
function dataSourceErrors(spec: core.PersistentVolumeClaimSpec, path: string, errors: FieldError[]): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource) sourceErrors(dataSource, `${path}.dataSource`, errors);
  if (dataSourceRef) sourceErrors(dataSourceRef, `${path}.dataSourceRef`, errors);
  if (!dataSource || !dataSourceRef) return;
  // upstream shows an inner value that prints as nothing
  if (dataSourceRef.namespace) errors.push(invalidValue(path, {}, 'may not be specified when dataSourceRef.namespace is specified'));
  else if (!SOURCE_MEMBERS.every((member) => dataSource[member] === dataSourceRef[member])) {
    errors.push(invalidValue(path, {}, 'must match dataSourceRef'));
  }
}

const SOURCE_MEMBERS = ['apiGroup', 'kind', 'name'] as const;

function sourceErrors(source: core.TypedObjectReference, path: string, errors: FieldError[]): void {
  const { apiGroup = '', kind = '', name = '', namespace = '' } = source;
  if (name === '') errors.push(required(`${path}.name`));
  if (kind === '') errors.push(required(`${path}.kind`));
  if (apiGroup === '' && kind !== 'PersistentVolumeClaim') {
    errors.push(invalidValue(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  }
  if (apiGroup !== '') for (const detail of dnsSubdomain(apiGroup)) errors.push(invalidValue(`${path}.apiGroup`, apiGroup, detail));
  if (namespace !== '') for (const detail of dnsLabel(namespace)) errors.push(invalidValue(`${path}.namespace`, namespace, detail));
}

/** In the order of the Go type, as upstream's reflection names them. */
const NOT_IN_TEMPLATES: readonly (readonly [keyof ObjectMeta, string])[] = [
  ['name', 'name'],
  ['generateName', 'generateName'],
  ['namespace', 'namespace'],
  ['selfLink', 'selfLink'],
  ['uid', 'uID'],
  ['resourceVersion', 'resourceVersion'],
  ['generation', 'generation'],
  ['creationTimestamp', 'creationTimestamp'],
  ['deletionTimestamp', 'deletionTimestamp'],
  ['deletionGracePeriodSeconds', 'deletionGracePeriodSeconds'],
  ['ownerReferences', 'ownerReferences'],
  ['finalizers', 'finalizers'],
  ['managedFields', 'managedFields'],
];

/** Only labels and annotations may be set on what a template makes: the claim of an ephemeral volume, a resource claim. */
export function templateMetadataErrors(metadata: ObjectMeta, path: string, errors: FieldError[]): void {
  annotationErrors(metadata.annotations, `${path}.annotations`, errors);
  labelErrors(metadata.labels, `${path}.labels`, errors);
  for (const [member, name] of NOT_IN_TEMPLATES) {
    const value = metadata[member];
    // zero values are as good as none
    if (value !== undefined && value !== null && value !== '' && value !== 0)
      errors.push(forbiddenField(`${path}.${name}`, 'cannot be set'));
  }
}

export function claimTemplateErrors(template: core.PersistentVolumeClaimTemplate, path: string, errors: FieldError[]): void {
  templateMetadataErrors(template.metadata ?? {}, `${path}.metadata`, errors);
  claimSpecErrors(template.spec ?? {}, `${path}.spec`, errors);
}
