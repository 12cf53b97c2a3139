/**
 * PersistentVolume: a piece of storage. Mirrors kubernetes `pkg/registry/core/persistentvolume`.
 */

import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { formatQuantity, parseQuantity, quantityMilli } from '../../../machinery/api/quantity.ts';
import { formatTime } from '../../../machinery/api/time.ts';
import type { PersistentVolume, PersistentVolumeSpec } from '../../../machinery/api/types/core.v1.ts';
import { STORAGE_CLASS } from '../../../machinery/api/well-known-labels.ts';
import { defaultRemoteSources, type RemoteSources } from '../defaults/volume.ts';
import { defineKind } from '../define.ts';
import { keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { accessModesText, capacityText } from '../tables/volumes.ts';
import { accessModeErrors, classNameErrors } from '../validation/claims.ts';
import { immutableField } from '../validation/numbers.ts';
import { nodeAffinityErrors, volumeSourceErrors, volumeSourceOf } from './persistentvolume-source.ts';

const PROTECTION = 'kubernetes.io/pv-protection';
const POLICIES = ['Delete', 'Recycle', 'Retain'];
const MODES = ['Block', 'Filesystem'];

function applyDefaults(object: PersistentVolume): void {
  object.spec ??= {};
  const { spec } = object;
  if (!spec.persistentVolumeReclaimPolicy) spec.persistentVolumeReclaimPolicy = 'Retain';
  spec.volumeMode ??= 'Filesystem';
  if (spec.hostPath) spec.hostPath.type ??= '';
  defaultRemoteSources(spec as RemoteSources);
  object.status ??= {};
  if (!object.status.phase) object.status.phase = 'Pending';
}

function specErrors(spec: PersistentVolumeSpec, errors: FieldError[]): void {
  const modes = spec.accessModes ?? [];
  if (modes.length === 0) errors.push(required('spec.accessModes'));
  accessModeErrors(modes, 'spec.accessModes', errors);
  const capacity: Record<string, string> = spec.capacity ?? {};
  if (Object.keys(capacity).length === 0) errors.push(required('spec.capacity'));
  if (capacity['storage'] === undefined || Object.keys(capacity).length > 1)
    errors.push(notSupported('spec.capacity', spec.capacity, ['storage']));
  for (const name of Object.keys(capacity).sort()) {
    const quantity = parseQuantity(capacity[name]!);
    if (quantityMilli(quantity) <= 0)
      errors.push(invalidValue(`spec.capacity[${name}]`, formatQuantity(quantity), 'must be greater than zero'));
  }
  const policy: string = spec.persistentVolumeReclaimPolicy ?? '';
  if (policy !== '' && !POLICIES.includes(policy)) errors.push(notSupported('spec.persistentVolumeReclaimPolicy', policy, POLICIES));
  nodeAffinityErrors(spec, 'spec', errors);
  volumeSourceErrors(spec, 'spec', errors);
  classNameErrors(spec.storageClassName, 'spec.storageClassName', errors);
  const mode: string | undefined = spec.volumeMode;
  if (mode !== undefined && !MODES.includes(mode)) errors.push(notSupported('spec.volumeMode', mode, MODES));
  attributesClassErrors(spec, errors);
}

function attributesClassErrors({ volumeAttributesClassName: name, csi }: PersistentVolumeSpec, errors: FieldError[]): void {
  if (name === undefined) return;
  const path = 'spec.volumeAttributesClassName';
  if (name === '') errors.push(required(path, 'an empty string is disallowed'));
  classNameErrors(name, path, errors);
  if (!csi) errors.push(required('spec.csi', 'has to be specified when using volumeAttributesClassName'));
}

function validate(object: PersistentVolume): FieldError[] {
  const errors: FieldError[] = [];
  specErrors(object.spec ?? {}, errors);
  return errors;
}

function validateUpdate(object: PersistentVolume, old: PersistentVolume): FieldError[] {
  const errors = validate(object);
  if (!deepEqual(volumeSourceOf(object.spec ?? {}), volumeSourceOf(old.spec ?? {}))) {
    errors.push(forbiddenField('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation\n@@ - changed @@'));
  }
  immutableField(object.spec?.volumeMode, old.spec?.volumeMode, 'spec.volumeMode', errors);
  if (old.spec?.nodeAffinity) immutableField(object.spec?.nodeAffinity, old.spec.nodeAffinity, 'spec.nodeAffinity', errors);
  return errors;
}

function warnings(object: PersistentVolume): string[] {
  const texts: string[] = [];
  if (object.metadata.annotations?.[STORAGE_CLASS] !== undefined) {
    texts.push(`metadata.annotations[${STORAGE_CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead`);
  }
  if (object.spec?.persistentVolumeReclaimPolicy === 'Recycle') {
    texts.push(
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
    );
  }
  return texts;
}

export const persistentvolume = defineKind<PersistentVolume>({
  resource: 'persistentvolumes',
  kind: 'PersistentVolume',
  deleteAnswer: 'object',
  strategy: {
    default: applyDefaults,
    admit: (object) => {
      const finalizers = object.metadata.finalizers ?? [];
      if (!finalizers.includes(PROTECTION)) object.metadata.finalizers = [...finalizers, PROTECTION];
    },
    prepareForCreate: (object, context) => {
      object.status = { phase: 'Pending', lastPhaseTransitionTime: formatTime(context.now) };
    },
    prepareForUpdate: keepStatus,
    validate,
    validateUpdate,
    warnings,
  },
  status: statusView({
    prepare: (object, old, context) => {
      if (
        object.status &&
        object.status.phase !== old.status?.phase &&
        object.status.lastPhaseTransitionTime === old.status?.lastPhaseTransitionTime
      ) {
        object.status.lastPhaseTransitionTime = formatTime(context.now);
      }
    },
  }),
  cells: ({ metadata, spec = {}, status = {} }, now) => [
    metadata.name,
    capacityText(spec.capacity),
    accessModesText(spec.accessModes),
    spec.persistentVolumeReclaimPolicy ?? '',
    metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
    spec.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : '',
    metadata.annotations?.[STORAGE_CLASS] ?? spec.storageClassName ?? '',
    spec.volumeAttributesClassName ?? '<unset>',
    status.reason ?? '',
    ageCell(metadata.creationTimestamp, now),
    spec.volumeMode ?? '<unset>',
  ],
});
