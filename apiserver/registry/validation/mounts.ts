/**
 * Volume mounts and block devices of a container. Mirrors kubernetes `core/validation` ValidateVolumeMounts and ValidateVolumeDevices.
 */
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notFoundValue,
  notSupported,
  required,
} from '../../../machinery/api/field-error.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { hasBacksteps, localDescendingPathErrors } from './paths.ts';

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];
const RECURSIVE = ['Disabled', 'Enabled', 'IfPossible'];

export function mountErrors(
  container: core.Container,
  volumes: ReadonlyMap<string, core.Volume>,
  path: string,
  errors: FieldError[],
): void {
  const mounts = container.volumeMounts ?? [];
  const devices = container.volumeDevices ?? [];
  const paths = new Set<string>();
  for (let i = 0; i < mounts.length; i++) {
    const mount = mounts[i]!;
    const at = `${path}.volumeMounts[${i}]`;
    const { name = '', mountPath = '' } = mount;
    if (name === '') errors.push(required(`${at}.name`));
    if (!volumes.has(name)) errors.push(notFoundValue(`${at}.name`, name));
    if (mountPath === '') errors.push(required(`${at}.mountPath`));
    if (paths.has(mountPath)) errors.push(invalidValue(`${at}.mountPath`, mountPath, 'must be unique'));
    paths.add(mountPath);
    if (devices.some((d) => (d.name ?? '') === name))
      errors.push(invalidValue(`${at}.name`, name, 'must not already exist in volumeDevices'));
    if (devices.some((d) => (d.devicePath ?? '') === mountPath)) {
      errors.push(invalidValue(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'));
    }
    optionErrors(mount, container, [`${path}.volumeMounts`, at], errors);
  }
  deviceErrors(container, volumes, path, errors);
}

/** Upstream names most of these fields without the mount's index. */
function optionErrors(
  mount: core.VolumeMount,
  container: core.Container,
  [path, at]: readonly [string, string],
  errors: FieldError[],
): void {
  if (mount.subPath) localDescendingPathErrors(mount.subPath, `${path}.subPath`, errors);
  if (mount.subPathExpr) {
    if (mount.subPath) errors.push(invalidValue(`${at}.subPathExpr`, mount.subPathExpr, 'subPathExpr and subPath are mutually exclusive'));
    localDescendingPathErrors(mount.subPathExpr, `${path}.subPathExpr`, errors);
  }
  const propagation = mount.mountPropagation;
  if (propagation !== undefined) {
    if (!PROPAGATIONS.includes(propagation)) errors.push(notSupported(`${path}.mountPropagation`, propagation, PROPAGATIONS));
    if (propagation === 'Bidirectional' && container.securityContext?.privileged !== true) {
      errors.push(forbiddenField(`${path}.mountPropagation`, 'Bidirectional mount propagation is available only to privileged containers'));
    }
  }
  const recursive = mount.recursiveReadOnly;
  if (recursive === undefined || recursive === 'Disabled') return;
  if (recursive !== 'Enabled' && recursive !== 'IfPossible') {
    errors.push(notSupported(`${path}.recursiveReadOnly`, recursive, RECURSIVE));
    return;
  }
  if (mount.readOnly !== true) errors.push(forbiddenField(`${path}.recursiveReadOnly`, 'may only be specified when readOnly is true'));
  if (propagation !== undefined && propagation !== 'None') {
    errors.push(forbiddenField(`${path}.recursiveReadOnly`, 'may only be specified when mountPropagation is None or not specified'));
  }
}

function deviceErrors(container: core.Container, volumes: ReadonlyMap<string, core.Volume>, path: string, errors: FieldError[]): void {
  const mounts = container.volumeMounts ?? [];
  const names = new Set<string>();
  const paths = new Set<string>();
  (container.volumeDevices ?? []).forEach((device, i) => {
    const at = `${path}.volumeDevices[${i}]`;
    const { name = '', devicePath = '' } = device;
    const volume = volumes.get(name);
    if (name === '') errors.push(required(`${at}.name`));
    if (names.has(name)) errors.push(invalidValue(`${at}.name`, name, 'must be unique'));
    if (volume && !volume.persistentVolumeClaim && !volume.ephemeral) {
      const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
      errors.push(invalidValue(`${at}.name`, name, detail));
    }
    if (!volume) errors.push(notFoundValue(`${at}.name`, name));
    if (devicePath === '') errors.push(required(`${at}.devicePath`));
    if (paths.has(devicePath)) errors.push(invalidValue(`${at}.devicePath`, devicePath, 'must be unique'));
    if (devicePath !== '' && hasBacksteps(devicePath)) {
      errors.push(invalidValue(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')"));
    } else paths.add(devicePath);
    if (mounts.some((m) => (m.name ?? '') === name))
      errors.push(invalidValue(`${at}.name`, name, 'must not already exist in volumeMounts'));
    if (mounts.some((m) => (m.mountPath ?? '') === devicePath)) {
      errors.push(invalidValue(`${at}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts'));
    }
    if (name !== '') names.add(name);
  });
}
