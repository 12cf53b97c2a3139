/**
 * Names of storage and device drivers: DNS subdomains in any case, at most 63 bytes. Mirrors kubernetes `core/validation` ValidateCSIDriverName.
 */
import { type FieldError, invalidValue, required, tooLong } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain, qualifiedName } from '../../../machinery/api/names.ts';

const MAX_DRIVER_NAME = 63;

export function driverNameErrors(name: string | undefined, path: string, errors: FieldError[]): void {
  if (!name) {
    errors.push(required(path));
    return;
  }
  if (Buffer.byteLength(name) > MAX_DRIVER_NAME) errors.push(tooLong(path, MAX_DRIVER_NAME));
  for (const detail of dnsSubdomain(name.toLowerCase())) errors.push(invalidValue(path, name, detail));
}

/** Provisioners and drivers of classes are qualified names, compared without case. */
export function qualifiedDriverErrors(name: string | undefined, path: string, errors: FieldError[]): void {
  if (!name) errors.push(required(path));
  else for (const detail of qualifiedName(name.toLowerCase())) errors.push(invalidValue(path, name, detail));
}
