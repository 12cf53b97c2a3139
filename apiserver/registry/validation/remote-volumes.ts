/**
 * Volumes on remote storage, as far as members are required. Mirrors the small validators of kubernetes `core/validation`, as a table.
 */
import { type FieldError, required } from '../../../machinery/api/field-error.ts';

/** Required members by source. `field` is the name upstream prints where it differs from the member's. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  gcePersistentDisk: ['pdName'],
  awsElasticBlockStore: ['volumeID'],
  nfs: ['server', 'path'],
  iscsi: ['targetPortal', 'iqn'],
  glusterfs: ['endpoints', 'path'],
  flocker: [],
  rbd: ['monitors', 'image'],
  flexVolume: ['driver'],
  cinder: ['volumeID'],
  cephfs: ['monitors'],
  quobyte: ['registry', 'volume'],
  fc: [],
  azureFile: ['secretName', 'shareName'],
  vsphereVolume: ['volumePath'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  azureDisk: ['diskName', 'diskURI'],
  storageos: ['volumeName'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  csi: ['driver'],
};

export const REMOTE_SOURCES: ReadonlySet<string> = new Set(Object.keys(REQUIRED));

export function remoteSourceErrors(source: string, value: Record<string, unknown>, path: string, errors: FieldError[]): void {
  for (const member of REQUIRED[source] ?? []) {
    const given = value[member];
    if (given === undefined || given === '' || (Array.isArray(given) && given.length === 0)) errors.push(required(`${path}.${member}`));
  }
}
