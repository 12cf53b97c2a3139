/**
 * PersistentVolumeClaim: a request for storage. Mirrors kubernetes `pkg/registry/core/persistentvolumeclaim`.
 */

import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, forbiddenField } from '../../../machinery/api/field-error.ts';
import { compareQuantities, parseQuantity } from '../../../machinery/api/quantity.ts';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../../../machinery/api/types/core.v1.ts';
import { STORAGE_CLASS } from '../../../machinery/api/well-known-labels.ts';
import { defineKind } from '../define.ts';
import type { StrategyContext } from '../resource.ts';
import { keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { accessModesText, capacityText } from '../tables/volumes.ts';
import { claimSpecErrors } from '../validation/claims.ts';
import { fractionWarning } from '../validation/pod-warnings.ts';
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
  const errors = validate(object);
  const next = { ...object.spec };
  const before = old.spec ?? {};
  if (!before.volumeName && next.volumeName) delete next.volumeName;
  const bound = old.status?.phase === 'Bound';
  const asked = next.resources?.requests?.['storage'];
  const had = before.resources?.requests?.['storage'];
  if (bound && asked !== undefined && had !== undefined) {
    const order = compareQuantities(parseQuantity(asked), parseQuantity(had));
    const granted = old.status?.capacity?.['storage'];
    if (order < 0 && (granted === undefined || compareQuantities(parseQuantity(asked), parseQuantity(granted)) <= 0)) {
      errors.push(forbiddenField('spec.resources.requests.storage', 'field can not be less than status.capacity'));
    }
    next.resources = before.resources!;
  }
  if (next.volumeAttributesClassName !== before.volumeAttributesClassName) {
    if (before.volumeAttributesClassName === undefined) delete next.volumeAttributesClassName;
    else next.volumeAttributesClassName = before.volumeAttributesClassName;
  }
  if (
    !deepEqual(next, before) &&
    !deepEqual({ ...next, dataSource: undefined, dataSourceRef: undefined }, { ...before, dataSource: undefined, dataSourceRef: undefined })
  ) {
    const detail = 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    errors.push(forbiddenField('spec', `${detail}\n@@ - changed @@`));
  }
  return errors;
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
      pairDataSources(object.spec!);
    },
    validate,
    validateUpdate,
    warnings,
  },
  status: statusView(),
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
