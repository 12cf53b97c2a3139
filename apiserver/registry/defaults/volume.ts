/**
 * Defaults of volumes, shared by pods, templates and persistent volumes. Mirrors kubernetes `core/v1/defaults.go` SetDefaults_Volume and what it calls.
 */
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { defaultPullPolicy } from './image.ts';

const MODE_0644 = 420;

export function defaultVolumes(volumes: core.Volume[] | undefined): void {
  if (volumes === undefined) return;
  for (const volume of volumes) defaultVolume(volume);
}

function defaultVolume(volume: core.Volume): void {
  if (!hasSource(volume)) volume.emptyDir = {};
  if (volume.secret) volume.secret.defaultMode ??= MODE_0644;
  if (volume.configMap) volume.configMap.defaultMode ??= MODE_0644;
  if (volume.downwardAPI) {
    volume.downwardAPI.defaultMode ??= MODE_0644;
    defaultDownwardItems(volume.downwardAPI.items);
  }
  if (volume.projected) defaultProjected(volume.projected);
  if (volume.hostPath) volume.hostPath.type ??= '';
  if (volume.image && !volume.image.pullPolicy) volume.image.pullPolicy = defaultPullPolicy(volume.image.reference);
  const claim = volume.ephemeral?.volumeClaimTemplate?.spec;
  if (claim) claim.volumeMode ??= 'Filesystem';
  defaultRemoteSources(volume);
}

function hasSource(volume: core.Volume): boolean {
  for (const key in volume)
    if (key !== 'name' && volume[key as keyof core.Volume] !== undefined && volume[key as keyof core.Volume] !== null) return true;
  return false;
}

function defaultProjected(projected: core.ProjectedVolumeSource): void {
  projected.defaultMode ??= MODE_0644;
  for (const source of projected.sources ?? []) {
    if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600;
    defaultDownwardItems(source.downwardAPI?.items);
  }
}

function defaultDownwardItems(items: core.DownwardAPIVolumeFile[] | undefined): void {
  for (const item of items ?? []) if (item.fieldRef && !item.fieldRef.apiVersion) item.fieldRef.apiVersion = 'v1';
}

/** Sources that persistent volumes have too. */
export interface RemoteSources {
  iscsi?: { iscsiInterface?: string };
  rbd?: { pool?: string; user?: string; keyring?: string };
  azureDisk?: { cachingMode?: string; fsType?: string; readOnly?: boolean; kind?: string };
  scaleIO?: { storageMode?: string; fsType?: string };
}

export function defaultRemoteSources({ iscsi, rbd, azureDisk, scaleIO }: RemoteSources): void {
  if (iscsi && !iscsi.iscsiInterface) iscsi.iscsiInterface = 'default';
  if (rbd) {
    if (!rbd.pool) rbd.pool = 'rbd';
    if (!rbd.user) rbd.user = 'admin';
    if (!rbd.keyring) rbd.keyring = '/etc/ceph/keyring';
  }
  if (azureDisk) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.fsType ??= 'ext4';
    azureDisk.readOnly ??= false;
    azureDisk.kind ??= 'Shared';
  }
  if (scaleIO) {
    if (!scaleIO.storageMode) scaleIO.storageMode = 'ThinProvisioned';
    if (!scaleIO.fsType) scaleIO.fsType = 'xfs';
  }
}
