/**
 * Volumes of a pod. Mirrors kubernetes `core/validation` ValidateVolumes: one source each, and the rules of each source.
 */
import { duplicate, type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain } from '../../../machinery/api/names.ts';
import { parseQuantity, quantityMilli } from '../../../machinery/api/quantity.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { claimTemplateErrors } from './claims.ts';
import { dnsLabelErrors } from './ip.ts';
import { portalNameProblem } from './iscsi.ts';
import { noBackstepErrors } from './paths.ts';
import { downwardErrors, keyToPathErrors, modeErrors, projectedErrors } from './projected.ts';
import { isRemoteSource, remotePath, remoteSourceErrors, secondSourcePath } from './remote-volumes.ts';

const NONE: ReadonlyMap<string, core.Volume> = new Map();
const HOST_PATH_TYPES = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];

/** Checks all volumes and returns them by name, for the mounts. */
export function volumesErrors(
  volumes: readonly core.Volume[] | undefined,
  podName: string | undefined,
  path: string,
  errors: FieldError[],
): ReadonlyMap<string, core.Volume> {
  if (volumes === undefined || volumes.length === 0) return NONE;
  const byName = new Map<string, core.Volume>();
  for (let i = 0; i < volumes.length; i++) {
    const volume = volumes[i]!;
    const at = `${path}[${i}]`;
    const before = errors.length;
    const name = volume.name ?? '';
    sourceErrors(volume, podName, at, errors);
    if (name === '') errors.push(required(`${at}.name`));
    else dnsLabelErrors(name, `${at}.name`, errors);
    if (byName.has(name)) errors.push(duplicate(`${at}.name`, name));
    // What is wrong with a volume is said once; its mounts find nothing.
    if (errors.length === before) byName.set(name, volume);
    const claim = volume.persistentVolumeClaim?.claimName;
    if (claim !== undefined && isMade(claim, volumes, podName)) {
      errors.push(
        invalidValue(`${at}.persistentVolumeClaim.claimName`, claim, 'must not reference a PVC that gets created for an ephemeral volume'),
      );
    }
  }
  return byName;
}

/** Whether the claim is one that the pod's own ephemeral volumes will be given. */
const isMade = (claim: string, volumes: readonly core.Volume[], podName: string | undefined): boolean =>
  Boolean(podName) && volumes.some((volume) => volume.ephemeral && `${podName}-${volume.name}` === claim);

/** In the order in which upstream looks at them. */
const SOURCES = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
] as const;

function sourceErrors(volume: core.Volume, podName: string | undefined, path: string, errors: FieldError[]): void {
  let found = 0;
  for (const source of SOURCES) {
    if (!volume[source]) continue;
    if (found++ > 0) errors.push(forbiddenField(`${path}.${secondSourcePath(source)}`, 'may not specify more than 1 volume type'));
    else if (source === 'ephemeral') ephemeralErrors(volume, podName, path, errors);
    else oneSourceErrors(volume, source, path, errors);
    if (source !== 'iscsi') continue;
    const why = portalNameProblem(volume.iscsi!, volume.name ?? '');
    if (why !== undefined) errors.push(invalidValue(`${path}.name`, volume.name ?? '', why));
  }
  if (found === 0) errors.push(required(path, 'must specify a volume type'));
}

function oneSourceErrors(
  volume: core.Volume,
  source: Exclude<(typeof SOURCES)[number], 'ephemeral'>,
  path: string,
  errors: FieldError[],
): void {
  const at = `${path}.${remotePath(source)}`;
  if (isRemoteSource(source)) remoteSourceErrors(source, volume[source]!, at, errors);
  else if (source === 'emptyDir') emptyDirErrors(volume.emptyDir!, at, errors);
  else if (source === 'hostPath') hostPathErrors(volume.hostPath!, at, errors);
  else if (source === 'secret') filesErrors(volume.secret!, 'secretName', at, errors);
  else if (source === 'configMap') filesErrors(volume.configMap!, 'name', at, errors);
  else if (source === 'persistentVolumeClaim') {
    if (!volume.persistentVolumeClaim!.claimName) errors.push(required(`${at}.claimName`));
  } else if (source === 'downwardAPI') {
    modeErrors(volume.downwardAPI!.defaultMode, `${at}.defaultMode`, errors);
    for (const item of volume.downwardAPI!.items ?? []) downwardErrors(item, at, errors);
  } else if (source === 'projected') projectedErrors(volume.projected!, at, errors);
  else imageErrors(volume.image!, at, errors);
}

function emptyDirErrors(source: core.EmptyDirVolumeSource, path: string, errors: FieldError[]): void {
  if (source.sizeLimit !== undefined && quantityMilli(parseQuantity(source.sizeLimit)) < 0) {
    errors.push(forbiddenField(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity'));
  }
}

export function hostPathErrors(source: core.HostPathVolumeSource, path: string, errors: FieldError[]): void {
  if (!source.path) {
    errors.push(required(`${path}.path`));
    return;
  }
  noBackstepErrors(source.path, `${path}.path`, errors);
  if (!HOST_PATH_TYPES.includes(source.type ?? '')) errors.push(notSupported(`${path}.type`, source.type, HOST_PATH_TYPES));
}

interface FileSource {
  readonly defaultMode?: number;
  readonly items?: readonly core.KeyToPath[];
}

function filesErrors(source: FileSource, nameMember: string, path: string, errors: FieldError[]): void {
  if (!(source as Record<string, unknown>)[nameMember]) errors.push(required(`${path}.${nameMember}`));
  modeErrors(source.defaultMode, `${path}.defaultMode`, errors);
  source.items?.forEach((item, i) => {
    keyToPathErrors(item, `${path}.items[${i}]`, errors);
  });
}

function ephemeralErrors(volume: core.Volume, podName: string | undefined, path: string, errors: FieldError[]): void {
  const template = volume.ephemeral!.volumeClaimTemplate;
  if (!template) errors.push(required(`${path}.ephemeral.volumeClaimTemplate`));
  else claimTemplateErrors(template, `${path}.ephemeral.volumeClaimTemplate`, errors);
  if (!podName || !volume.name) return;
  const claim = `${podName}-${volume.name}`;
  for (const detail of dnsSubdomain(claim)) errors.push(invalidValue(`${path}.name`, volume.name, `PVC name "${claim}": ${detail}`));
}

function imageErrors(source: core.ImageVolumeSource, path: string, errors: FieldError[]): void {
  if (!source.reference) errors.push(required(`${path}.reference`));
  const policy = source.pullPolicy ?? '';
  if (policy === '') errors.push(required(`${path}.pullPolicy`));
  else if (!PULL_POLICIES.includes(policy)) errors.push(notSupported(`${path}.pullPolicy`, policy, PULL_POLICIES));
}
