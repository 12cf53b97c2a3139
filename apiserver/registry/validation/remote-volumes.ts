/**
 * Volumes on remote storage. Mirrors the small validators of kubernetes `core/validation`, one per source, for pods and persistent volumes alike;
 * what only one of the two asks for is said where it is used.
 */
import { type FieldError, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain } from '../../../machinery/api/names.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { driverNameErrors } from './driver-names.ts';
import { dnsLabelErrors } from './ip.ts';
import { iscsiErrors } from './iscsi.ts';
import { localDescendingPathErrors } from './paths.ts';

/** The sources as pods have them; those of persistent volumes have the members that are looked at, and more. */
type Sources = Required<Omit<core.Volume, 'name'>>;
type SourceRule<K extends keyof Sources> = (source: Partial<Sources[K]>, path: string, errors: FieldError[]) => void;

/** Adds `Required value` for each member that is missing or empty. */
function need(source: object, members: readonly string[], path: string, errors: FieldError[]): void {
  for (const member of members) {
    const given = (source as Record<string, unknown>)[member];
    if (given === undefined || given === null || given === '' || (Array.isArray(given) && given.length === 0))
      errors.push(required(`${path}.${member}`));
  }
}

const RULES: { readonly [K in keyof Sources]?: SourceRule<K> } = {
  gcePersistentDisk: (disk, path, errors) => {
    need(disk, ['pdName'], path, errors);
    partitionErrors(disk.partition, path, errors);
  },
  awsElasticBlockStore: (disk, path, errors) => {
    need(disk, ['volumeID'], path, errors);
    partitionErrors(disk.partition, path, errors);
  },
  gitRepo: (repository, path, errors) => {
    need(repository, ['repository'], path, errors);
    localDescendingPathErrors(repository.directory ?? '', `${path}.directory`, errors);
  },
  nfs: (nfs, path, errors) => {
    need(nfs, ['server', 'path'], path, errors);
    if (!nfs.path?.startsWith('/')) errors.push(invalidValue(`${path}.path`, nfs.path ?? '', 'must be an absolute path'));
  },
  iscsi: iscsiErrors,
  glusterfs: (volume, path, errors) => need(volume, ['endpoints', 'path'], path, errors),
  flocker: flockerErrors,
  rbd: (volume, path, errors) => need(volume, ['monitors', 'image'], path, errors),
  flexVolume: flexErrors,
  cinder: (volume, path, errors) => {
    need(volume, ['volumeID'], path, errors);
    secretNameErrors(volume.secretRef, path, errors);
  },
  cephfs: (volume, path, errors) => need(volume, ['monitors'], path, errors),
  quobyte: quobyteErrors,
  fc: fibreChannelErrors,
  azureFile: (file, path, errors) => need(file, ['secretName', 'shareName'], path, errors),
  vsphereVolume: (volume, path, errors) => need(volume, ['volumePath'], path, errors),
  photonPersistentDisk: (disk, path, errors) => need(disk, ['pdID'], path, errors),
  portworxVolume: (volume, path, errors) => need(volume, ['volumeID'], path, errors),
  azureDisk: azureDiskErrors,
  storageos: (volume, path, errors) => {
    if (!volume.volumeName) errors.push(required(`${path}.volumeName`));
    else dnsLabelErrors(volume.volumeName, `${path}.volumeName`, errors);
    if (volume.volumeNamespace) dnsLabelErrors(volume.volumeNamespace, `${path}.volumeNamespace`, errors);
    secretNameErrors(volume.secretRef, path, errors);
  },
  scaleIO: (volume, path, errors) => need(volume, ['gateway', 'system', 'volumeName'], path, errors),
  csi: csiErrors,
};

export const isRemoteSource = (source: string): boolean => Object.hasOwn(RULES, source);

/** Upstream's path of a disk of Google's cloud is another than its field's name. */
export const remotePath = (source: string): string => (source === 'gcePersistentDisk' ? 'persistentDisk' : source);

/** How the name is spelled where a second source is refused. */
export function secondSourcePath(source: string): string {
  if (source === 'cephfs') return 'cephFS';
  return source === 'downwardAPI' ? 'downwarAPI' : source;
}

export function remoteSourceErrors(source: string, value: object, path: string, errors: FieldError[]): void {
  const rule = RULES[source as keyof Sources] as SourceRule<keyof Sources> | undefined;
  rule?.(value as Partial<Sources[keyof Sources]>, path, errors);
}

function partitionErrors(partition: number | undefined, path: string, errors: FieldError[]): void {
  if (partition !== undefined && (partition < 0 || partition > 255))
    errors.push(invalidValue(`${path}.partition`, partition, 'must be between 1 and 255, inclusive'));
}

function secretNameErrors(reference: { name?: string } | undefined, path: string, errors: FieldError[]): void {
  if (reference && !reference.name) errors.push(required(`${path}.secretRef.name`));
}

function flockerErrors({ datasetName = '', datasetUUID = '' }: core.FlockerVolumeSource, path: string, errors: FieldError[]): void {
  if (datasetName === '' && datasetUUID === '') errors.push(required(path, 'one of datasetName and datasetUUID is required'));
  if (datasetName !== '' && datasetUUID !== '')
    errors.push(invalidValue(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'));
  if (datasetName.includes('/')) errors.push(invalidValue(`${path}.datasetName`, datasetName, "must not contain '/'"));
}

const RESERVED = /\.(kubernetes|k8s)\.io$/;

function flexErrors(volume: Partial<core.FlexVolumeSource>, path: string, errors: FieldError[]): void {
  need(volume, ['driver'], path, errors);
  for (const key of Object.keys(volume.options ?? {}).sort()) {
    const namespace = key.includes('/') ? key.slice(0, key.indexOf('/')) : key;
    if (RESERVED.test(`.${namespace.toLowerCase()}`))
      errors.push(invalidValue(`${path}.options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved'));
  }
}

const HOST_PORTS = 'must be a host:port pair or multiple pairs separated by commas';
/** As Go's SplitHostPort: one colon, unless the host stands in brackets. */
const HOST_PORT = /^(\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/;

function quobyteErrors(volume: Partial<core.QuobyteVolumeSource>, path: string, errors: FieldError[]): void {
  const { registry = '', tenant = '' } = volume;
  if (registry === '') errors.push(required(`${path}.registry`, HOST_PORTS));
  else if (Buffer.byteLength(tenant) >= 65) {
    errors.push(required(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters'));
  } else {
    for (const pair of registry.split(',')) if (!HOST_PORT.test(pair)) errors.push(invalidValue(`${path}.registry`, registry, HOST_PORTS));
  }
  need(volume, ['volume'], path, errors);
}

function fibreChannelErrors({ targetWWNs = [], wwids = [], lun }: core.FCVolumeSource, path: string, errors: FieldError[]): void {
  const at = `${path}.targetWWNs`;
  if (targetWWNs.length === 0 && wwids.length === 0) errors.push(required(at, 'must specify either targetWWNs or wwids, but not both'));
  if (targetWWNs.length === 0) return;
  if (wwids.length > 0) errors.push(invalidValue(at, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously'));
  if (lun === undefined) errors.push(required(`${path}.lun`, 'lun is required if targetWWNs is specified'));
  else if (lun < 0 || lun > 255) errors.push(invalidValue(`${path}.lun`, lun, 'must be between 0 and 255, inclusive'));
}

const CACHING_MODES = ['None', 'ReadOnly', 'ReadWrite'];
const DISK_KINDS = ['Dedicated', 'Managed', 'Shared'];
const MANAGED_URI = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB_URI = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

function azureDiskErrors(disk: Partial<core.AzureDiskVolumeSource>, path: string, errors: FieldError[]): void {
  need(disk, ['diskName', 'diskURI'], path, errors);
  const { cachingMode, kind, diskURI = '' } = disk;
  if (cachingMode !== undefined && !CACHING_MODES.includes(cachingMode))
    errors.push(notSupported(`${path}.cachingMode`, cachingMode, CACHING_MODES));
  if (kind === undefined) return;
  if (!DISK_KINDS.includes(kind)) errors.push(notSupported(`${path}.kind`, kind, DISK_KINDS));
  if (kind === 'Managed') {
    if (!diskURI.startsWith('/subscriptions/')) errors.push(notSupported(`${path}.diskURI`, diskURI, [MANAGED_URI]));
  } else if (!diskURI.startsWith('https://')) errors.push(notSupported(`${path}.diskURI`, diskURI, [BLOB_URI]));
}

function csiErrors(csi: Partial<core.CSIVolumeSource>, path: string, errors: FieldError[]): void {
  driverNameErrors(csi.driver, `${path}.driver`, errors);
  const reference = csi.nodePublishSecretRef;
  if (!reference) return;
  if (!reference.name) errors.push(required(`${path}.nodePublishSecretRef.name`));
  else for (const detail of dnsSubdomain(reference.name)) errors.push(invalidValue(`${path}.name`, reference.name, detail));
}
