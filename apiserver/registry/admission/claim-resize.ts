/**
 * PersistentVolumeClaimResize: a bound claim may grow where its storage class says so. Mirrors kubernetes
 * `plugin/pkg/admission/storage/persistentvolume/resize`.
 */

import type { PersistentVolumeClaim } from '../../../machinery/api/types/core.v1.ts';
import type { StorageClass } from '../../../machinery/api/types/storage.k8s.io.v1.ts';
import { STORAGE_CLASS } from '../../../machinery/api/well-known-labels.ts';
import { type AdmissionPlugin, type AdmissionRequest, refuse } from './plugin.ts';
import { compareTexts } from './pod-usage.ts';

const NOT_RESIZABLE = 'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

export const claimResize: AdmissionPlugin = {
  name: 'PersistentVolumeClaimResize',
  handles: (group, resource) => group === '' && resource === 'persistentvolumeclaims',
  validate: (request) => {
    if (request.old === undefined || request.subresource !== '') return;
    const claim = request.object as unknown as PersistentVolumeClaim;
    const old = request.old as unknown as PersistentVolumeClaim;
    if (compareTexts(storageOf(claim), storageOf(old)) <= 0) return;
    if (old.status?.phase !== 'Bound') throw refuse(request, 'only bound persistent volume claims can be expanded');
    if (!mayGrow(request, claim, old)) throw refuse(request, NOT_RESIZABLE);
  },
};

const storageOf = ({ spec }: PersistentVolumeClaim): string => spec?.resources?.requests?.['storage'] ?? '0';

const classOf = ({ metadata, spec }: PersistentVolumeClaim): string =>
  metadata.annotations?.[STORAGE_CLASS] ?? spec?.storageClassName ?? '';

function mayGrow({ context }: AdmissionRequest, claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const name = classOf(claim);
  if (name === '' || classOf(old) !== name) return false;
  return context.reader.get<StorageClass>('storage.k8s.io', 'storageclasses', '', name)?.allowVolumeExpansion === true;
}
