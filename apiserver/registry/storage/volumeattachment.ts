/**
 * VolumeAttachment: a volume that is to be at a node. Mirrors kubernetes `pkg/registry/storage/volumeattachment`.
 */
import { type FieldError, forbiddenField, invalidValue, required, tooLong } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain } from '../../../machinery/api/names.ts';
import type { VolumeAttachment, VolumeAttachmentSource, VolumeError } from '../../../machinery/api/types/storage.k8s.io.v1.ts';
import { nodeAffinityErrors, volumeSourceErrors } from '../core/persistentvolume-source.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { accessModeErrors } from '../validation/claims.ts';
import { driverNameErrors } from '../validation/driver-names.ts';
import { immutableField } from '../validation/numbers.ts';

const SOURCE = 'spec.source';
const MAX_METADATA = 256 * 1024;
const MAX_MESSAGE = 1024;
const INT32_MAX = 2 ** 31 - 1;

function sourceErrors(source: VolumeAttachmentSource, errors: FieldError[]): void {
  const path = SOURCE;
  const { persistentVolumeName: name, inlineVolumeSpec: inline } = source;
  const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (name === undefined && inline === undefined) errors.push(required(path, detail));
  else if (name !== undefined && inline !== undefined) errors.push(forbiddenField(path, detail));
  else if (name === '') errors.push(required(`${path}.persistentVolumeName`, 'must specify non empty persistentVolumeName'));
  else if (inline !== undefined) inlineErrors(inline, `${path}.inlineVolumeSpec`, errors);
}

/** A volume inside an attachment is a CSI volume without what only a volume object has. */
function inlineErrors(inline: NonNullable<VolumeAttachmentSource['inlineVolumeSpec']>, path: string, errors: FieldError[]): void {
  const forbid = (member: string, value: unknown): void => {
    if (value) errors.push(forbiddenField(`${path}.${member}`, 'may not be specified in the context of inline volumes'));
  };
  const modes = inline.accessModes ?? [];
  forbid('claimRef', inline.claimRef);
  forbid('capacity', Object.keys(inline.capacity ?? {}).length > 0);
  if (!inline.csi) errors.push(required(`${path}.csi`, 'has to be specified in the context of inline volumes'));
  if (modes.length === 0) errors.push(required(`${path}.accessModes`));
  accessModeErrors(modes, `${path}.accessModes`, errors);
  forbid('persistentVolumeReclaimPolicy', inline.persistentVolumeReclaimPolicy);
  nodeAffinityErrors(inline, path, errors);
  volumeSourceErrors(inline, path, errors);
  forbid('storageClassName', inline.storageClassName);
  forbid('volumeMode', inline.volumeMode !== undefined);
}

/** Upstream names the limit of metadata when a message is too long. */
function volumeErrorErrors(error: VolumeError | undefined, path: string, errors: FieldError[]): void {
  if (error === undefined) return;
  if (Buffer.byteLength(error.message ?? '') > MAX_MESSAGE) errors.push(tooLong(`${path}.message`, MAX_METADATA));
  if ((error.errorCode ?? 0) < 0) {
    errors.push(invalidValue(`${path}.errorCode`, error.errorCode, `must be between 0 and ${INT32_MAX}, inclusive`));
  }
}

function validate({ spec, status }: VolumeAttachment): FieldError[] {
  const errors: FieldError[] = [];
  if (!spec?.attacher) errors.push(required('spec.attacher'));
  sourceErrors(spec?.source ?? {}, errors);
  const node = spec?.nodeName ?? '';
  for (const detail of dnsSubdomain(node)) errors.push(invalidValue('spec.nodeName', node, detail));
  const metadata = Object.entries(status?.attachmentMetadata ?? {});
  const size = metadata.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (size > MAX_METADATA) errors.push(tooLong('status.attachmentMetadata', MAX_METADATA));
  volumeErrorErrors(status?.attachError, 'status.attachError', errors);
  volumeErrorErrors(status?.detachError, 'status.detachError', errors);
  return errors;
}

/** What is asked of new ones only: names that a driver and a volume can have. */
function validateNew(object: VolumeAttachment): FieldError[] {
  const errors = validate(object);
  const { attacher, source } = object.spec ?? {};
  driverNameErrors(attacher, 'spec.attacher', errors);
  const name = source?.persistentVolumeName;
  if (name !== undefined)
    for (const detail of dnsSubdomain(name)) errors.push(invalidValue(`${SOURCE}.persistentVolumeName`, name, detail));
  return errors;
}

function validateUpdate(object: VolumeAttachment, old: VolumeAttachment): FieldError[] {
  const errors = validate(object);
  immutableField(object.spec, old.spec, 'spec', errors);
  return errors;
}

export const volumeattachment = defineKind<VolumeAttachment>({
  group: 'storage.k8s.io',
  resource: 'volumeattachments',
  kind: 'VolumeAttachment',
  unconditionalUpdate: false,
  deleteAnswer: 'object',
  strategy: {
    prepareForCreate: dropStatus,
    prepareForUpdate: keepStatus,
    validate: validateNew,
    validateUpdate,
  },
  status: statusView({ keepMetadata: true, validate: validateUpdate }),
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    spec?.attacher ?? '',
    spec?.source?.persistentVolumeName ?? '',
    spec?.nodeName ?? '',
    status?.attached === true,
    ageCell(metadata.creationTimestamp, now),
  ],
});
