/**
 * PersistentVolume: a piece of storage. Mirrors kubernetes `pkg/registry/core/persistentvolume`.
 */

import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { formatQuantity, parseQuantity, quantityMilli } from '../../../machinery/api/quantity.ts';
import { typeSchema } from '../../../machinery/api/schema/schema.ts';
import { formatTime } from '../../../machinery/api/time.ts';
import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PersistentVolume,
  PersistentVolumeSpec,
  VolumeNodeAffinity,
} from '../../../machinery/api/types/core.v1.ts';
import { OLD_ARCH, OLD_OS, STORAGE_CLASS } from '../../../machinery/api/well-known-labels.ts';
import { defaultRemoteSources, type RemoteSources } from '../defaults/volume.ts';
import { defineKind } from '../define.ts';
import { keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { accessModesText, capacityText } from '../tables/volumes.ts';
import { accessModeErrors, classNameErrors } from '../validation/claims.ts';
import { IMMUTABLE } from '../validation/metadata.ts';
import { immutableField } from '../validation/numbers.ts';
import { termWarnings } from '../validation/pod-warnings.ts';
import { basicQuantityErrors } from '../validation/resources.ts';
import { nodeAffinityErrors, volumeSourceErrors, volumeSourceOf } from './persistentvolume-source.ts';
import { goTerm } from './pod-gated.ts';

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

function specErrors(spec: PersistentVolumeSpec, name: string, errors: FieldError[]): void {
  const modes = spec.accessModes ?? [];
  if (modes.length === 0) errors.push(required('spec.accessModes'));
  accessModeErrors(modes, 'spec.accessModes', errors);
  const capacity: Record<string, string> = spec.capacity ?? {};
  if (Object.keys(capacity).length === 0) errors.push(required('spec.capacity'));
  if (capacity['storage'] === undefined || Object.keys(capacity).length > 1)
    errors.push(notSupported('spec.capacity', spec.capacity, ['storage']));
  for (const resource of Object.keys(capacity).sort()) {
    const quantity = parseQuantity(capacity[resource]!);
    basicQuantityErrors(capacity[resource]!, `spec.capacity[${resource}]`, errors);
    if (quantityMilli(quantity) <= 0)
      errors.push(invalidValue(`spec.capacity[${resource}]`, formatQuantity(quantity), 'must be greater than zero'));
  }
  const policy: string = spec.persistentVolumeReclaimPolicy ?? '';
  if (policy !== '' && !POLICIES.includes(policy)) errors.push(notSupported('spec.persistentVolumeReclaimPolicy', policy, POLICIES));
  nodeAffinityErrors(spec, 'spec', errors);
  volumeSourceErrors(spec, 'spec', errors, name);
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

const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options';
/** The sources that are mounted with options. */
const MOUNTABLE: readonly (keyof PersistentVolumeSpec)[] = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
];

function validate(object: PersistentVolume): FieldError[] {
  const errors: FieldError[] = [];
  const spec = object.spec ?? {};
  specErrors(spec, object.metadata.name ?? '', errors);
  if (object.metadata.annotations?.[MOUNT_OPTIONS] !== undefined && !MOUNTABLE.some((source) => spec[source]))
    errors.push(forbiddenField(`metadata.annotations.${MOUNT_OPTIONS}`, 'may not specify mount options for this volume type'));
  return errors;
}

function validateUpdate(object: PersistentVolume, old: PersistentVolume): FieldError[] {
  // upstream checks the new volume as one, and then again as the later state of the old
  const errors = validate(object);
  const [spec, before] = [object.spec ?? {}, old.spec ?? {}];
  specErrors(spec, object.metadata.name ?? '', errors);
  if (!deepEqual(sourceOf(spec, before), volumeSourceOf(before), typeSchema('core.v1.PersistentVolumeSpec'))) {
    errors.push(forbiddenField('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation\n@@ - changed @@'));
  }
  immutableField(spec.volumeMode, before.volumeMode, 'volumeMode', errors);
  if (before.nodeAffinity && !deepEqual(withNewNames(spec.nodeAffinity, before.nodeAffinity), before.nodeAffinity)) {
    errors.push(invalidValue('nodeAffinity', goAffinity(spec.nodeAffinity), `${IMMUTABLE}, except for updating from beta label to GA`));
  }
  if (before.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined)
    errors.push(forbiddenField('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden'));
  return errors;
}

/** The secret by which a volume is expanded may be added later. */
function sourceOf(spec: PersistentVolumeSpec, before: PersistentVolumeSpec): Partial<PersistentVolumeSpec> {
  const source = volumeSourceOf(spec);
  if (!source.csi?.controllerExpandSecretRef || !before.csi || before.csi.controllerExpandSecretRef) return source;
  const { controllerExpandSecretRef: _, ...csi } = source.csi;
  return { ...source, csi };
}

/** Labels of nodes that have got newer names. */
const NEW_NAMES: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
  [OLD_OS]: 'kubernetes.io/os',
  [OLD_ARCH]: 'kubernetes.io/arch',
};

/** The new affinity with the old names where only those were brought up to date. */
function withNewNames(next: VolumeNodeAffinity | undefined, old: VolumeNodeAffinity): VolumeNodeAffinity | undefined {
  if (!next?.required) return next;
  const before = termsOf(old);
  const terms = termsOf(next).map((term, i) => {
    const renamed = (list: 'matchExpressions' | 'matchFields'): NodeSelectorRequirement[] | undefined =>
      term[list]?.map((requirement, j) => {
        const key = before[i]?.[list]?.[j]?.key;
        return key !== undefined && Object.hasOwn(NEW_NAMES, key) && NEW_NAMES[key] === requirement.key
          ? { ...requirement, key }
          : requirement;
      });
    const [matchExpressions, matchFields] = [renamed('matchExpressions'), renamed('matchFields')];
    return { ...(matchExpressions && { matchExpressions }), ...(matchFields && { matchFields }) };
  });
  return { required: { nodeSelectorTerms: terms } };
}

/** A selector without terms is refused elsewhere, with everything else that is wrong. */
const termsOf = ({ required }: VolumeNodeAffinity): readonly NodeSelectorTerm[] => required?.nodeSelectorTerms ?? [];

/** As Go prints the struct. */
const goAffinity = (affinity: VolumeNodeAffinity | undefined): object | undefined =>
  affinity && { Required: affinity.required ? { NodeSelectorTerms: affinity.required.nodeSelectorTerms?.map(goTerm) ?? null } : null };

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
  object.spec?.nodeAffinity?.required?.nodeSelectorTerms?.forEach((term, i) => {
    termWarnings(term, `spec.nodeAffinity.required.nodeSelectorTerms[${i}]`, texts);
  });
  for (const [source, name, text] of GONE) if (object.spec?.[source]) texts.push(`spec.${name}: ${text}`);
  return texts;
}

/** Storage whose plugins are gone. */
const GONE: readonly (readonly [keyof PersistentVolumeSpec, string, string])[] = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

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
