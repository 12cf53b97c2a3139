/**
 * Volumes on iSCSI, of pods and persistent volumes. Mirrors kubernetes `core/validation` validateISCSIVolumeSource and its twin.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import type { ISCSIPersistentVolumeSource, ISCSIVolumeSource } from '../../../machinery/api/types/core.v1.ts';

/** Forms of names by what they begin with. */
const FORMS: readonly (readonly [string, RegExp])[] = [
  ['iqn', /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/],
  ['eui', /^eui.[A-Za-z0-9]{16}$/],
  ['naa', /^naa.[A-Za-z0-9]{32}$/],
];

function nameErrors(name: string, path: string, errors: FieldError[]): void {
  const form = FORMS.find(([prefix]) => name.startsWith(prefix));
  if (form === undefined) errors.push(invalidValue(path, name, 'must be valid format starting with iqn, eui, or naa'));
  else if (!form[1].test(name)) errors.push(invalidValue(path, name, 'must be valid format'));
}

export function iscsiErrors(iscsi: Partial<ISCSIVolumeSource>, path: string, errors: FieldError[]): void {
  if (!iscsi.targetPortal) errors.push(required(`${path}.targetPortal`));
  targetErrors(iscsi, path, errors);
  if (iscsi.initiatorName !== undefined) nameErrors(iscsi.initiatorName, `${path}.initiatorname`, errors);
}

/** The same of a persistent volume, whose name counts and whose secret may be of another namespace. */
export function iscsiVolumeErrors(iscsi: Partial<ISCSIPersistentVolumeSource>, volume: string, path: string, errors: FieldError[]): void {
  if (!iscsi.targetPortal) errors.push(required(`${path}.targetPortal`));
  const why = portalNameProblem(iscsi, volume);
  if (why !== undefined) errors.push(invalidValue(`${path}.targetportal`, iscsi.targetPortal ?? '', why));
  targetErrors(iscsi, path, errors);
  if (iscsi.secretRef && !iscsi.secretRef.name) errors.push(required(`${path}.secretRef.name`));
  if (iscsi.initiatorName !== undefined) nameErrors(iscsi.initiatorName, `${path}.initiatorname`, errors);
}

type Target = Pick<ISCSIPersistentVolumeSource, 'chapAuthDiscovery' | 'chapAuthSession' | 'secretRef'> & { iqn?: string; lun?: number };

function targetErrors({ iqn = '', lun = 0, ...auth }: Target, path: string, errors: FieldError[]): void {
  if (iqn === '') errors.push(required(`${path}.iqn`));
  else nameErrors(iqn, `${path}.iqn`, errors);
  if (lun < 0 || lun > 255) errors.push(invalidValue(`${path}.lun`, lun, 'must be between 0 and 255, inclusive'));
  if ((auth.chapAuthDiscovery || auth.chapAuthSession) && !auth.secretRef) errors.push(required(`${path}.secretRef`));
}

const MAX_PORTAL_NAME = 64;

/** What is said when volume and portal together make a name that is too long for the initiator. */
export function portalNameProblem(
  iscsi: { readonly initiatorName?: string; readonly targetPortal?: string },
  volume: string,
): string | undefined {
  if (iscsi.initiatorName === undefined) return undefined;
  if (Buffer.byteLength(`${volume}:${iscsi.targetPortal ?? ''}`) <= MAX_PORTAL_NAME) return undefined;
  return 'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
}
