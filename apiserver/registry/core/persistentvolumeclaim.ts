/**
 * PersistentVolumeClaim: a request for storage. Mirrors kubernetes `pkg/registry/core/persistentvolumeclaim`.
 */

import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { qualifiedName } from '../../../machinery/api/names.ts';
import { compareQuantities, parseQuantity, type Quantity } from '../../../machinery/api/quantity.ts';
import { typeSchema } from '../../../machinery/api/schema/schema.ts';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../../../machinery/api/types/core.v1.ts';
import { STORAGE_CLASS } from '../../../machinery/api/well-known-labels.ts';
import { defineKind } from '../define.ts';
import type { StrategyContext } from '../resource.ts';
import { keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { accessModesText, capacityText } from '../tables/volumes.ts';
import { claimSpecErrors } from '../validation/claims.ts';
import { fractionWarning } from '../validation/fractions.ts';
import { IMMUTABLE } from '../validation/metadata.ts';
import { immutableField } from '../validation/numbers.ts';
import { basicQuantityErrors, isNative } from '../validation/resources.ts';
import { admitDefaultClass } from './default-storage-class.ts';

const PROTECTION = 'kubernetes.io/pvc-protection';

function applyDefaults(object: PersistentVolumeClaim): void {
  object.spec ??= {};
  object.spec.volumeMode ??= 'Filesystem';
  object.status ??= {};
  if (!object.status.phase) object.status.phase = 'Pending';
}

/** dataSource and dataSourceRef say the same where both can. */
function pairDataSources(spec: PersistentVolumeClaimSpec): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource && !dataSourceRef) spec.dataSourceRef = { ...dataSource };
  else if (dataSourceRef && !dataSource && !dataSourceRef.namespace) {
    const { apiGroup, kind, name } = dataSourceRef;
    spec.dataSource = { ...(apiGroup !== undefined && { apiGroup }), kind, name };
  }
}

/** Only claims and snapshots can be copied by the older field; other sources are dropped from it. */
function dropForeignSource(spec: PersistentVolumeClaimSpec): void {
  const { dataSource: source } = spec;
  if (!source || spec.dataSourceRef) return;
  const known = source.apiGroup
    ? source.apiGroup === 'snapshot.storage.k8s.io' && source.kind === 'VolumeSnapshot'
    : source.kind === 'PersistentVolumeClaim';
  if (!known) delete spec.dataSource;
}

function admit(object: PersistentVolumeClaim, context: StrategyContext): void {
  admitDefaultClass(object, context);
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(PROTECTION)) object.metadata.finalizers = [...finalizers, PROTECTION];
}

function validate(object: PersistentVolumeClaim): FieldError[] {
  const errors: FieldError[] = [];
  claimSpecErrors(object.spec ?? {}, 'spec', errors);
  return errors;
}

function validateUpdate(object: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  // upstream checks the new claim as one, and then again as the later state of the old
  const errors = [...validate(object), ...validate(object)];
  const before: PersistentVolumeClaimSpec = { ...old.spec };
  pairDataSources(before);
  const next = comparable(object, old, before, errors);
  if (!deepEqual(next, before, typeSchema('core.v1.PersistentVolumeClaimSpec'))) {
    const detail = 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    errors.push(forbiddenField('spec', `${detail}\n@@ - changed @@`));
  }
  shrinkErrors(object, old, errors);
  immutableField(object.spec?.volumeMode, before.volumeMode, 'volumeMode', errors);
  attributesClassErrors(object, old, errors);
  return errors;
}

/** The new spec with what may change put back: a volume and a class that were missing, and the wishes of a bound claim. */
function comparable(
  object: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  before: PersistentVolumeClaimSpec,
  errors: FieldError[],
): PersistentVolumeClaimSpec {
  const next: PersistentVolumeClaimSpec = { ...object.spec };
  const put = (member: 'volumeName' | 'storageClassName' | 'volumeAttributesClassName'): void => {
    if (before[member] === undefined) delete next[member];
    else next[member] = before[member];
  };
  if (!before.volumeName) put('volumeName');
  const noted = old.metadata.annotations?.[STORAGE_CLASS];
  const notedNow = object.metadata.annotations?.[STORAGE_CLASS];
  const named = before.storageClassName === undefined ? next.storageClassName : undefined;
  const moved = noted !== undefined && named === noted && (notedNow === undefined || notedNow === noted);
  if (!moved && (noted ?? '') !== (notedNow ?? ''))
    errors.push(invalidValue(`metadata.annotations.${STORAGE_CLASS}`, notedNow ?? '', IMMUTABLE));
  if (moved || (named !== undefined && (noted === undefined || named === noted))) put('storageClassName');
  if (object.status?.phase !== 'Bound') return next;
  if (next.resources?.requests) {
    const { storage: _, ...others } = next.resources.requests as Record<string, string>;
    const had = before.resources?.requests?.['storage'];
    next.resources = { ...next.resources, requests: { ...others, ...(had !== undefined && { storage: had }) } };
  }
  put('volumeAttributesClassName');
  return next;
}

/** A claim may ask for less only while it has not been given as much. */
function shrinkErrors(object: PersistentVolumeClaim, old: PersistentVolumeClaim, errors: FieldError[]): void {
  const size = ({ spec }: PersistentVolumeClaim): Quantity => parseQuantity(spec?.resources?.requests?.['storage'] ?? '0');
  const granted = parseQuantity(old.status?.capacity?.['storage'] ?? '0');
  if (compareQuantities(size(object), size(old)) >= 0 || compareQuantities(size(object), granted) > 0) return;
  errors.push(forbiddenField('spec.resources.requests.storage', 'field can not be less than status.capacity'));
}

/** Once attributes are in force there is no way back to none. */
function attributesClassErrors(object: PersistentVolumeClaim, old: PersistentVolumeClaim, errors: FieldError[]): void {
  const next = object.spec?.volumeAttributesClassName;
  if (next === old.spec?.volumeAttributesClassName || old.status?.currentVolumeAttributesClassName === undefined || next) return;
  const what = next === undefined ? 'nil' : 'empty string';
  const detail = `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`;
  errors.push(forbiddenField('spec.volumeAttributesClassName', detail));
}

const RESIZE_STATES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
];

function statusErrors({ spec, status = {} }: PersistentVolumeClaim): FieldError[] {
  const errors: FieldError[] = [];
  if ((spec?.accessModes?.length ?? 0) === 0) errors.push(required('Spec.accessModes'));
  const capacity = (status.capacity ?? {}) as Record<string, string>;
  for (const name of Object.keys(capacity).sort()) basicQuantityErrors(capacity[name]!, `status.capacity[${name}]`, errors);
  const states = (status.allocatedResourceStatuses ?? {}) as Record<string, string>;
  for (const name of Object.keys(states).sort()) {
    const path = 'status.allocatedResourceStatuses';
    claimResourceErrors(name, path, errors);
    if (!RESIZE_STATES.includes(states[name]!)) errors.push(notSupported(path, name, [...RESIZE_STATES].sort()));
  }
  const allocated = (status.allocatedResources ?? {}) as Record<string, string>;
  for (const name of Object.keys(allocated).sort()) {
    const before = errors.length;
    claimResourceErrors(name, 'status.allocatedResources', errors);
    if (errors.length === before) basicQuantityErrors(allocated[name]!, `status.allocatedResources[${name}]`, errors);
  }
  return errors;
}

/** Claims ask for storage and for what others have invented, but for nothing else of Kubernetes' own. */
function claimResourceErrors(name: string, path: string, errors: FieldError[]): void {
  const details = qualifiedName(name);
  for (const detail of details) errors.push(invalidValue(path, name, detail));
  if (details.length === 0 && isNative(name) && name !== 'storage') errors.push(notSupported(path, name, ['storage']));
}

function warnings(object: PersistentVolumeClaim): string[] {
  const texts: string[] = [];
  if (object.metadata.annotations?.[STORAGE_CLASS] !== undefined) {
    texts.push(`metadata.annotations[${STORAGE_CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead`);
  }
  const text = fractionWarning(object.spec?.resources?.requests?.['storage'], 'spec.resources.requests[storage]');
  return text === undefined ? texts : [...texts, text];
}

const className = (object: PersistentVolumeClaim): string =>
  object.metadata.annotations?.[STORAGE_CLASS] ?? object.spec?.storageClassName ?? '';

export const persistentvolumeclaim = defineKind<PersistentVolumeClaim>({
  resource: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  deleteAnswer: 'object',
  strategy: {
    default: applyDefaults,
    admit,
    prepareForCreate: (object) => {
      object.status = { phase: 'Pending' };
      dropForeignSource(object.spec!);
      pairDataSources(object.spec!);
    },
    prepareForUpdate: (object, old) => {
      keepStatus(object, old);
      // what was never filled from a source is not to be filled from one that claims do not know
      if (!old.spec?.dataSource) dropForeignSource(object.spec!);
      pairDataSources(object.spec!);
    },
    validate,
    validateUpdate,
    warnings,
  },
  status: statusView({ validate: statusErrors }),
  cells: (object, now) => {
    const { metadata, spec = {}, status = {} } = object;
    const bound = Boolean(spec.volumeName);
    return [
      metadata.name,
      metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
      spec.volumeName ?? '',
      bound ? capacityText(status.capacity) : '',
      bound ? accessModesText(status.accessModes) : '',
      className(object),
      spec.volumeAttributesClassName ?? '<unset>',
      ageCell(metadata.creationTimestamp, now),
      spec.volumeMode ?? '<unset>',
    ];
  },
});
