/**
 * Volumes on iSCSI, of pods and persistent volumes. Mirrors kubernetes `core/validation` validateISCSIVolumeSource and its twin.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import type { ISCSIVolumeSource } from '../../../machinery/api/types/core.v1.ts';

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
  const { iqn = '', lun = 0, initiatorName } = iscsi;
  if (!iscsi.targetPortal) errors.push(required(`${path}.targetPortal`));
  if (iqn === '') errors.push(required(`${path}.iqn`));
  else nameErrors(iqn, `${path}.iqn`, errors);
  if (lun < 0 || lun > 255) errors.push(invalidValue(`${path}.lun`, lun, 'must be between 0 and 255, inclusive'));
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && !iscsi.secretRef) errors.push(required(`${path}.secretRef`));
  if (initiatorName !== undefined) nameErrors(initiatorName, `${path}.initiatorname`, errors);
}

const MAX_PORTAL_NAME = 64;

/** What is said when volume and portal together make a name that is too long for the initiator. */
export function portalNameProblem(iscsi: Partial<ISCSIVolumeSource>, volume: string): string | undefined {
  if (iscsi.initiatorName === undefined) return undefined;
  if (Buffer.byteLength(`${volume}:${iscsi.targetPortal ?? ''}`) <= MAX_PORTAL_NAME) return undefined;
  return 'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
}
