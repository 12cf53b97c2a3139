/**
 * Where the storage of a persistent volume comes from: exactly one source. Mirrors kubernetes `core/validation` ValidatePersistentVolumeSpec.
 */
import { posix } from 'node:path';
import { type FieldError, forbiddenField, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain } from '../../../machinery/api/names.ts';
import type { CSIPersistentVolumeSource, PersistentVolumeSpec } from '../../../machinery/api/types/core.v1.ts';
import { nodeSelectorErrors } from '../validation/affinity.ts';
import { driverNameErrors } from '../validation/driver-names.ts';
import { dnsLabelErrors } from '../validation/ip.ts';
import { iscsiVolumeErrors } from '../validation/iscsi.ts';
import { noBackstepErrors } from '../validation/paths.ts';
import { remotePath, remoteSourceErrors, secondSourcePath } from '../validation/remote-volumes.ts';
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
  'cinder',
  'fc',
  'flexVolume',
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

/** `at` is where the spec is: in a persistent volume, which has a name, or inside an attachment. */
export function volumeSourceErrors(spec: PersistentVolumeSpec, at: string, errors: FieldError[], name = ''): void {
  let found = 0;
  for (const source of SOURCES) {
    if (!spec[source]) continue;
    // upstream forgets to refuse a flex volume beside another
    if (found++ > 0 && source !== 'flexVolume')
      errors.push(forbiddenField(`${at}.${secondSourcePath(source)}`, 'may not specify more than 1 volume type'));
    else oneSourceErrors(spec, source, [at, name], errors);
  }
  if (found === 0) errors.push(required(at, 'must specify a volume type'));
  if (spec.hostPath?.path && posix.normalize(spec.hostPath.path) === '/' && spec.persistentVolumeReclaimPolicy === 'Recycle') {
    errors.push(forbiddenField(`${at}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'"));
  }
}

function oneSourceErrors(
  spec: PersistentVolumeSpec,
  source: (typeof SOURCES)[number],
  [at, name]: readonly [string, string],
  errors: FieldError[],
): void {
  const path = `${at}.${remotePath(source)}`;
  if (source === 'hostPath') hostPathErrors(spec.hostPath!, path, errors);
  else if (source === 'local') localErrors(spec, at, errors);
  else if (source === 'csi') csiErrors(spec.csi!, path, errors);
  else if (source === 'iscsi') iscsiVolumeErrors(spec.iscsi!, name, path, errors);
  else {
    remoteSourceErrors(source, spec[source]!, path, errors);
    namespaceErrors(spec, source, path, errors);
  }
}

/** The secrets whose references upstream looks at; that of the node stage is not among them. */
const CSI_SECRETS = ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef'] as const;

/** A volume that is tied to nodes says to which. */
export function nodeAffinityErrors({ nodeAffinity }: PersistentVolumeSpec, at: string, errors: FieldError[]): void {
  if (!nodeAffinity) return;
  const path = `${at}.nodeAffinity.required`;
  if (nodeAffinity.required) nodeSelectorErrors(nodeAffinity.required, path, errors);
  else errors.push(required(path, 'must specify required node constraints'));
}

function csiErrors(csi: CSIPersistentVolumeSource, path: string, errors: FieldError[]): void {
  driverNameErrors(csi.driver, `${path}.driver`, errors);
  if (!csi.volumeHandle) errors.push(required(`${path}.volumeHandle`));
  for (const member of CSI_SECRETS) {
    const reference = csi[member];
    if (!reference) continue;
    const { name = '', namespace = '' } = reference;
    if (name === '') errors.push(required(`${path}.${member}.name`));
    else for (const detail of dnsSubdomain(name)) errors.push(invalidValue(`${path}.${member}.name`, name, detail));
    if (namespace === '') errors.push(required(`${path}.${member}.namespace`));
    else dnsLabelErrors(namespace, `${path}.${member}.namespace`, errors);
  }
}

/** Volumes belong to no namespace, so that some sources name one. */
function namespaceErrors(spec: PersistentVolumeSpec, source: string, path: string, errors: FieldError[]): void {
  if (source === 'azureFile' && spec.azureFile?.secretNamespace === '') errors.push(required(`${path}.secretNamespace`));
  if (source === 'cinder' || source === 'storageos') {
    const reference = spec[source]?.secretRef;
    if (reference && !reference.namespace) errors.push(required(`${path}.secretRef.namespace`));
  }
  const endpoints = spec.glusterfs?.endpointsNamespace;
  if (source !== 'glusterfs' || endpoints === undefined) return;
  const at = `${path}.endpointsNamespace`;
  if (endpoints === '') errors.push(invalidValue(at, endpoints, 'if the endpointnamespace is set, it must be a valid namespace name'));
  else dnsLabelErrors(endpoints, at, errors);
}

function localErrors(spec: PersistentVolumeSpec, at: string, errors: FieldError[]): void {
  const path = `${at}.local`;
  if (!spec.local!.path) errors.push(required(`${path}.path`));
  else noBackstepErrors(spec.local!.path, `${path}.path`, errors);
  if (!spec.nodeAffinity) errors.push(required(`${at}.nodeAffinity`, 'Local volume requires node affinity'));
}
