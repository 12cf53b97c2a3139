/**
 * Where the storage of a persistent volume comes from: exactly one source. Mirrors kubernetes `core/validation` ValidatePersistentVolumeSpec.
 */
import { type FieldError, forbiddenField, required } from '../../../machinery/api/field-error.ts';
import type { PersistentVolumeSpec } from '../../../machinery/api/types/core.v1.ts';
import { noBackstepErrors } from '../validation/paths.ts';
import { remoteSourceErrors } from '../validation/remote-volumes.ts';
import { hostPathErrors } from '../validation/volumes.ts';

const SOURCES = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'flexVolume',
  'cinder',
  'fc',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
] as const satisfies readonly (keyof PersistentVolumeSpec)[];

export const volumeSourceOf = (spec: PersistentVolumeSpec): Partial<PersistentVolumeSpec> =>
  Object.fromEntries(SOURCES.filter((source) => spec[source] !== undefined).map((source) => [source, spec[source]]));

/** Upstream's path of a GCE disk is another than its field's name. */
const pathOf = (source: string): string => (source === 'gcePersistentDisk' ? 'spec.persistentDisk' : `spec.${source}`);

export function volumeSourceErrors(spec: PersistentVolumeSpec, errors: FieldError[]): void {
  let found = 0;
  for (const source of SOURCES) {
    const value = spec[source];
    if (!value) continue;
    const path = pathOf(source);
    if (found++ > 0) errors.push(forbiddenField(path, 'may not specify more than 1 volume type'));
    else if (source === 'hostPath') hostPathErrors(spec.hostPath!, path, errors);
    else if (source === 'local') localErrors(spec, path, errors);
    else remoteSourceErrors(source, value as Record<string, unknown>, path, errors);
  }
  if (spec.csi && !spec.csi.volumeHandle) errors.push(required('spec.csi.volumeHandle'));
  if (found === 0) errors.push(required('spec', 'must specify a volume type'));
  if (spec.hostPath?.path === '/' && spec.persistentVolumeReclaimPolicy === 'Recycle') {
    errors.push(forbiddenField('spec.persistentVolumeReclaimPolicy', "may not be 'recycle' for a hostPath mount of '/'"));
  }
}

function localErrors(spec: PersistentVolumeSpec, path: string, errors: FieldError[]): void {
  if (!spec.local!.path) errors.push(required(`${path}.path`));
  else noBackstepErrors(spec.local!.path, `${path}.path`, errors);
  if (!spec.nodeAffinity) errors.push(required('spec.nodeAffinity', 'Local volume requires node affinity'));
}
