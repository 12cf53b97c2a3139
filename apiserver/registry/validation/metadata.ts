/**
 * Rules of metadata: at creation and across an update. Mirrors apimachinery `api/validation/objectmeta.go`, `meta/v1/validation` and the additions
 * of kubernetes `core/validation` ValidateObjectMeta.
 */
import {
  type FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  quoteGo,
  required,
  tooLong,
} from '../../../machinery/api/field-error.ts';
import { labelValue, type NameRule, nameIsLabel, qualifiedName } from '../../../machinery/api/names.ts';
import type { ObjectMeta } from '../../../machinery/api/object.ts';
import { fieldManagerErrors } from './field-manager.ts';

const ANNOTATIONS_LIMIT = 256 * 1024;
export const IMMUTABLE = 'field is immutable';
const STANDARD_FINALIZERS = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** Sorted, so that several errors come in an order that does not depend on how the client wrote the map. */
const keys = (map: object): string[] => Object.keys(map).sort();

export function labelErrors(labels: Record<string, string> | undefined, path: FieldPath, errors: FieldError[]): void {
  if (labels === undefined) return;
  for (const key of keys(labels)) {
    for (const detail of qualifiedName(key)) errors.push(invalidValue(path, key, detail));
    for (const detail of labelValue(labels[key]!)) errors.push(invalidValue(path, labels[key], detail));
  }
}

export function annotationErrors(annotations: Record<string, string> | undefined, path: FieldPath, errors: FieldError[]): void {
  if (annotations === undefined) return;
  let size = 0;
  for (const key of keys(annotations)) {
    for (const detail of qualifiedName(key.toLowerCase())) errors.push(invalidValue(path, key, detail));
    size += Buffer.byteLength(key) + Buffer.byteLength(annotations[key]!);
  }
  if (size > ANNOTATIONS_LIMIT) errors.push(tooLong(path, ANNOTATIONS_LIMIT));
}

function ownerReferenceErrors(meta: ObjectMeta, errors: FieldError[]): void {
  const references = meta.ownerReferences;
  if (references === undefined) return;
  const path = 'metadata.ownerReferences';
  let controller = '';
  for (const reference of references) {
    const version = reference.apiVersion ?? '';
    if (version === '' || version.split('/').length > 2 || version.endsWith('/')) {
      errors.push(invalidValue(`${path}.apiVersion`, version, 'version must not be empty'));
    }
    if (!reference.kind) errors.push(invalidValue(`${path}.kind`, '', 'must not be empty'));
    if (!reference.name) errors.push(invalidValue(`${path}.name`, '', 'must not be empty'));
    if (!reference.uid) errors.push(invalidValue(`${path}.uid`, '', 'must not be empty'));
    if (reference.apiVersion === 'v1' && reference.kind === 'Event') {
      errors.push(invalidValue(path, goReference(reference), '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (reference.controller !== true) continue;
    const name = `${reference.kind ?? ''}/${reference.name ?? ''}`;
    if (controller === '') controller = name;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push(invalidValue(path, references.map(goReference), detail));
    }
  }
}

/** In the member order of the Go type, whatever order the client wrote. */
function goReference(r: NonNullable<ObjectMeta['ownerReferences']>[number]): object {
  return {
    apiVersion: r.apiVersion,
    kind: r.kind,
    name: r.name,
    uid: r.uid,
    controller: r.controller,
    blockOwnerDeletion: r.blockOwnerDeletion,
  };
}

function finalizerErrors(finalizers: readonly string[] | undefined, errors: FieldError[]): void {
  if (finalizers === undefined) return;
  for (const name of finalizers) {
    for (const detail of qualifiedName(name)) errors.push(invalidValue('metadata.finalizers', name, detail));
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalidValue('metadata.finalizers', finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
}

export const isKubeFinalizer = (name: string): boolean => name.includes('/') || STANDARD_FINALIZERS.has(name);

/** The built-in kinds ask for a domain in finalizer names. */
export function kubeFinalizerErrors(finalizers: readonly string[] | undefined, errors: FieldError[], path = 'metadata.finalizers'): void {
  finalizers?.forEach((name, i) => {
    if (!isKubeFinalizer(name)) {
      errors.push(invalidValue(`${path}[${i}]`, name, 'name is neither a standard finalizer name nor is it fully qualified'));
    }
  });
}

function managedFieldsErrors(meta: ObjectMeta, errors: FieldError[]): void {
  meta.managedFields?.forEach((entry, i) => {
    const path = `metadata.managedFields[${i}]`;
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      errors.push(invalidValue(`${path}.operation`, entry.operation ?? '', 'must be `Apply` or `Update`'));
    }
    if ((entry.fieldsType ?? '') !== '' && entry.fieldsType !== 'FieldsV1') {
      errors.push(invalidValue(`${path}.fieldsType`, entry.fieldsType, 'must be `FieldsV1`'));
    }
    errors.push(...fieldManagerErrors(entry.manager ?? '', `${path}.manager`));
    if (Buffer.byteLength(entry.subresource ?? '') > 256) errors.push(tooLong(`${path}.subresource`, 256));
  });
}

/** What a name function and all rules of stored metadata say. */
export function metadataErrors(meta: ObjectMeta, namespaced: boolean, rule: NameRule, errors: FieldError[]): void {
  const { name = '', generateName = '', namespace = '' } = meta;
  if (generateName !== '')
    for (const detail of rule(generateName, true)) errors.push(invalidValue('metadata.generateName', generateName, detail));
  if (name === '') errors.push(required('metadata.name', 'name or generateName is required'));
  else for (const detail of rule(name, false)) errors.push(invalidValue('metadata.name', name, detail));
  if (!namespaced) {
    if (namespace !== '') errors.push(forbiddenField('metadata.namespace', 'not allowed on this type'));
  } else if (namespace === '') errors.push(required('metadata.namespace'));
  else for (const detail of nameIsLabel(namespace, false)) errors.push(invalidValue('metadata.namespace', namespace, detail));
  if ((meta.generation ?? 0) < 0) errors.push(invalidValue('metadata.generation', meta.generation, 'must be greater than or equal to 0'));
  labelErrors(meta.labels, 'metadata.labels', errors);
  annotationErrors(meta.annotations, 'metadata.annotations', errors);
  ownerReferenceErrors(meta, errors);
  finalizerErrors(meta.finalizers, errors);
  managedFieldsErrors(meta, errors);
}

const IMMUTABLE_FIELDS = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const;

/** What must hold between two versions of metadata. */
export function metadataUpdateErrors(meta: ObjectMeta, old: ObjectMeta, errors: FieldError[]): void {
  if (old.deletionTimestamp !== undefined) {
    const added = [...new Set(meta.finalizers ?? [])].filter((name) => !old.finalizers?.includes(name)).sort();
    if (added.length > 0) {
      const list = `[]string{${added.map(quoteGo).join(', ')}}`;
      errors.push(
        forbiddenField(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`,
        ),
      );
    }
  }
  if (!meta.resourceVersion) errors.push(invalidValue('metadata.resourceVersion', '', 'must be specified for an update'));
  if ((meta.generation ?? 0) < (old.generation ?? 0))
    errors.push(invalidValue('metadata.generation', meta.generation, 'must not be decremented'));
  for (const field of IMMUTABLE_FIELDS) {
    if (meta[field] !== old[field])
      errors.push(invalidValue(`metadata.${field}`, meta[field] ?? (field === 'uid' ? '' : undefined), IMMUTABLE));
  }
  labelErrors(meta.labels, 'metadata.labels', errors);
  annotationErrors(meta.annotations, 'metadata.annotations', errors);
  ownerReferenceErrors(meta, errors);
  managedFieldsErrors(meta, errors);
}
