/**
 * VolumeAttachment: a volume that is to be at a node. Mirrors kubernetes `pkg/registry/storage/volumeattachment`.
 */
import { type FieldError, required } from '../../../machinery/api/field-error.ts';
import type { VolumeAttachment } from '../../../machinery/api/types/storage.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { immutableField } from '../validation/numbers.ts';

function validate({ spec }: VolumeAttachment): FieldError[] {
  const errors: FieldError[] = [];
  if (!spec?.attacher) errors.push(required('spec.attacher'));
  if (!spec?.source?.persistentVolumeName && !spec?.source?.inlineVolumeSpec) {
    errors.push(required('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'));
  }
  if (!spec?.nodeName) errors.push(required('spec.nodeName'));
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
    validate,
    validateUpdate: (object, old) => {
      const errors: FieldError[] = [];
      immutableField(object.spec, old.spec, 'spec', errors);
      return errors;
    },
  },
  status: statusView({ keepMetadata: true }),
  cells: ({ metadata, spec, status }, now) => [
    metadata.name,
    spec?.attacher ?? '',
    spec?.source?.persistentVolumeName ?? '',
    spec?.nodeName ?? '',
    status?.attached === true,
    ageCell(metadata.creationTimestamp, now),
  ],
});
